"""Get acquainted with a server and say which probes would run, without running one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clausewise.core.errors import BarredError
from clausewise.core.plan import Tools
from clausewise.core.vocabulary import Era, Revision
from clausewise.probe.acquaintance import Acquaintance, ask_pages
from clausewise.probe.clause_experiments import clause_gate, probed_clauses
from clausewise.probe.clause_registration import clause_probes
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.era import UNKNOWN_ERA, Detection, detect
from clausewise.probe.gates import Situation, gate, unseen_rule
from clausewise.probe.observation import Observation
from clausewise.probe.offered import Items, harmless_calls
from clausewise.probe.options import ProbeOptions
from clausewise.probe.registration import probes
from clausewise.probe.run import ProbeRun, selected
from clausewise.registry import rules
from clausewise.trace.tape import Tape
from clausewise.transport.pace import Pace


@dataclass(frozen=True, slots=True)
class ProbePlan:
    """Whom a run would meet, and what stands in the way of each selected rule.

    Attributes:
        met: a run without verdicts.
        obstacles: by rule, what would come of it unseen; None for a rule that would be
            decided.
        clause_obstacles: the same by the clauses that probes decide, if a legacy session
            would be judged; None where one of its probes would run.
        tools: the listed tools, as far as the lists were served.
    """

    met: ProbeRun
    obstacles: Mapping[str, Observation | None]
    clause_obstacles: Mapping[str, Observation | None]
    tools: Tools


async def plan_probes(target: Target, options: ProbeOptions, tape: Tape) -> ProbePlan:
    """Ask who the server is and what it offers, no more, recording it on `tape`.

    `server/discover`, `initialize` and `tools/list` are sent; no request has a fault.

    Raises:
        TargetError: the target cannot be reached or speaks no MCP.
    """
    pace = Pace(options.rate, options.limits.backoff_s)
    async with Links(target, tape, options.limits, pace) as links:
        known = Acquaintance(links.transport, Era.MODERN, options.call_tools, options.supplied)
        try:
            detection = await detect(links, known, options.revision)
        except BarredError as barred:
            if options.revision is Revision.LEGACY:
                raise
            reason = f"{barred.message}. {barred.hint}"
            obstacles = _obstacles(links, known, options, reason)
            met = ProbeRun(None, (), None, (), (UNKNOWN_ERA,), barred=reason)
            return ProbePlan(met, obstacles, {}, Tools())
        known.era = detection.era
        try:
            revisions = detection.revisions(options.revision)
            met = ProbeRun(detection.era, revisions, known.server, (), detection.remarks)
            obstacles = _obstacles(links, known, options)
            clauses = _clause_obstacles(links, detection, options)
            tools = await _tools(links, known, detection, options)
            return ProbePlan(met, obstacles, clauses, tools)
        finally:
            if detection.session is not None:
                await detection.session.end()


def _obstacles(
    links: Links, known: Acquaintance, options: ProbeOptions, barred: str | None = None
) -> dict[str, Observation | None]:
    capabilities = known.declared if barred is None else None
    situation = Situation(links.transport, known.era, capabilities, barred, options.supplied)
    entries = probes()
    unseen = unseen_rule(known.era, options.revision)
    met = known.era.has_modern and options.revision is not Revision.LEGACY
    return {
        rule: gate(entries[rule], situation) if met and rule in entries else unseen
        for rule in selected(rules(), options)
    }


def _clause_obstacles(
    links: Links, detection: Detection, options: ProbeOptions
) -> dict[str, Observation | None]:
    session = detection.session
    if session is None or Revision.LEGACY not in detection.revisions(options.revision):
        return {}
    decided = selected(rules(), options) if detection.era.has_modern else {}
    found: dict[str, Observation | None] = {}
    for name, clauses in probed_clauses(options).items():
        probe = clause_probes()[name]
        obstacle = clause_gate(probe, links.transport, session.capabilities, decided)
        for clause in clauses:
            found[clause.id] = obstacle and found.get(clause.id, obstacle)
    return found


async def _tools(
    links: Links, known: Acquaintance, detection: Detection, options: ProbeOptions
) -> Tools:
    """The tools that the server lists, in the modern era where it speaks that."""
    peer = Peer(links, known)
    try:
        if detection.era.has_modern:
            items: Items = (await peer.pages("tools/list")).items if peer.offers("tools") else ()
        else:
            items = await _legacy_tools(detection.session)
    finally:
        await peer.close()
    names = [tool["name"] for tool in items if isinstance(tool.get("name"), str)]
    called = {call.name for call in harmless_calls(items, options.call_tools)}
    return Tools(
        tuple(name for name in names if name in called),
        tuple(name for name in names if name not in called),
    )


async def _legacy_tools(session: LegacySession | None) -> Items:
    if session is None or "tools" not in session.capabilities:
        return ()
    return (await ask_pages("tools/list", session.request)).items
