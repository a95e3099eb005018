"""Run the probes against one target: era, probes, passive rules, legacy walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from clausewise.core.errors import BarredError, CertificateError, TargetError
from clausewise.core.results import Implementation, Verdict
from clausewise.core.vocabulary import Era, Revision
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.clause_experiments import ClauseExperiments, ClauseVerdict, probed_clauses
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import LegacyAcquaintance
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.era import UNKNOWN_ERA, detect
from clausewise.probe.experiments import Experiments
from clausewise.probe.gates import Situation, gate, unseen_rule
from clausewise.probe.observation import Observation
from clausewise.probe.options import ProbeOptions, Progress
from clausewise.probe.registration import Passive, Probe, Turn, probes
from clausewise.probe.verdicts import Judging
from clausewise.probe.walk import walk
from clausewise.registry import Rule, rules
from clausewise.trace.tape import Tape
from clausewise.transport.pace import Pace

__all__ = ["ProbeOptions", "ProbeRun", "Progress", "run_probes", "selected"]

_REFUSED_CREDENTIALS = (
    "It refuses the credentials that were given: get fresh ones, or leave them out to judge "
    "the refusal alone."
)


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """What the probes found: one verdict for each selected rule, in catalogue order.

    `barred` says why the server let nobody in; its era is then unknown. `clauses` are what
    probes say of clauses of 2025-11-25, beside what the recording shows. `commands` has, by
    the `seq` of legacy events, a command that lets them come again.
    """

    era: Era | None
    revisions: tuple[Revision, ...]
    server: Implementation | None
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    barred: str | None = None
    clauses: tuple[ClauseVerdict, ...] = ()
    commands: Mapping[int, str] = field(default_factory=dict)


async def run_probes(
    target: Target,
    options: ProbeOptions,
    tape: Tape,
    progress: Callable[[Progress], None] = lambda _: None,
) -> ProbeRun:
    """Probe a live server in the eras it speaks, recording everything on `tape`.

    Raises:
        TargetError: the target cannot be reached or speaks no MCP.
    """
    pace = Pace(options.rate, options.limits.backoff_s)
    async with Links(target, tape, options.limits, pace) as links:
        return await _Run(links, options, progress).run()


class _Run:
    """One run against one server."""

    def __init__(
        self, links: Links, options: ProbeOptions, progress: Callable[[Progress], None]
    ) -> None:
        self._links = links
        self._options = options
        self._progress = progress
        self._known = Acquaintance(
            links.transport, Era.MODERN, options.call_tools, options.supplied
        )
        self._legacy = LegacyAcquaintance(named=options.call_tools)
        self._rules = selected(rules(), options)
        self._entries = _entries_needed(probes(), self._rules)
        self._seen: Mapping[str, Observation] = {}
        self._clauses: tuple[ClauseVerdict, ...] = ()
        self._clause_probes = 0
        self._done = 0
        self._deadline = 0.0

    async def run(self) -> ProbeRun:
        self._step("era")
        self._deadline = anyio.current_time() + self._options.total_s
        try:
            detection = await detect(self._links, self._known, self._options.revision)
        except BarredError as barred:
            return await self._stay_outside(barred)
        self._known.era = detection.era
        notes = detection.remarks
        session = detection.session
        situation = self._situation(self._known.declared)
        if detection.era.has_modern and self._wants_a_second_link(situation):
            await self._links.open_ahead()
        if session is not None:
            notes += await self._hold(session)
        if detection.era.has_modern:
            await self._decide_rules(situation)
        return ProbeRun(
            detection.era,
            detection.revisions(self._options.revision),
            self._known.server,
            self._verdicts(),
            notes + self._remarks(),
            clauses=self._clauses,
            commands=self._links.commands,
        )

    async def _stay_outside(self, barred: BarredError) -> ProbeRun:
        """Decide what can be decided about a server that lets nobody in.

        Raises:
            BarredError: the user's credentials were refused, or nothing can be decided.
        """
        if Peer(self._links, self._known).authorized and not isinstance(barred, CertificateError):
            raise BarredError(barred.message, _REFUSED_CREDENTIALS)
        if self._options.revision is Revision.LEGACY:
            raise barred
        reason = f"{barred.message}. {barred.hint}"
        await self._decide_rules(self._situation(None, reason))
        verdicts = self._verdicts()
        if not any(verdict.outcome.is_judgement for verdict in verdicts):
            raise barred
        notes = (UNKNOWN_ERA, *self._remarks())
        return ProbeRun(None, (), None, verdicts, notes, barred=reason)

    async def _hold(self, session: LegacySession) -> tuple[str, ...]:
        """Judge the legacy era unless only the modern revision is wanted; gives remarks."""
        left = self._deadline - anyio.current_time()
        deadline = self._deadline - (left / 2 if self._known.era.has_modern else 0)
        self._legacy.idle.append(session)
        try:
            if self._options.revision is Revision.MODERN:
                return ()
            self._step("legacy session")
            notes = await self._walk(session, deadline)
            if session.version == Revision.LEGACY.value:
                notes += await self._decide_clauses(deadline)
            return notes
        finally:
            await self._legacy.end()

    async def _walk(self, session: LegacySession, deadline: float) -> tuple[str, ...]:
        try:
            with anyio.move_on_after(max(deadline - anyio.current_time(), 0)):
                await walk(session, self._links, self._legacy)
                return ()
            return ("the legacy session was cut off: its share of the run's time was used up",)
        except TargetError as error:
            return (f"the legacy session could not be held: {error.message}",)

    async def _decide_clauses(self, deadline: float) -> tuple[str, ...]:
        """Decide clauses by their probes; gives remarks."""
        experiments = ClauseExperiments(
            self._links, self._legacy, self._options, deadline, self._decided
        )
        self._clause_probes = len(probed_clauses(self._options))
        rules = self._rules if self._known.era.has_modern else ()
        self._clauses = await experiments.decide(rules)
        return experiments.remarks

    def _wants_a_second_link(self, situation: Situation) -> bool:
        probes_beside = (e for e in self._entries.values() if isinstance(e, Probe) and e.beside)
        return any(gate(probe, situation) is None for probe in probes_beside)

    def _situation(
        self, capabilities: Mapping[str, Any] | None, barred: str | None = None
    ) -> Situation:
        supplied = self._options.supplied
        return Situation(self._links.transport, self._known.era, capabilities, barred, supplied)

    async def _decide_rules(self, situation: Situation) -> None:
        experiments = Experiments(
            self._links, self._known, self._options, self._deadline, self._decided
        )
        self._seen = await experiments.decide(self._entries.values(), situation)

    def _decided(self, name: str) -> None:
        self._done += 1
        self._step(name)

    def _verdicts(self) -> tuple[Verdict, ...]:
        judging = Judging(self._options.trace, self._options.as_listed)
        unseen = unseen_rule(self._known.era, self._options.revision)
        return tuple(
            judging.verdict(rule, self._seen.get(name, unseen), self._entries.get(name))
            for name, rule in self._rules.items()
        )

    def _remarks(self) -> tuple[str, ...]:
        """The probes' remarks about selected rules."""
        return tuple(
            f"{name}: {note}"
            for name in self._rules
            if name in self._seen
            for note in self._seen[name].notes
        )

    def _step(self, text: str) -> None:
        rules = len(self._entries) if self._known.era.has_modern else 0
        self._progress(Progress(self._done, rules + self._clause_probes, text))


def selected(known: Mapping[str, Rule], options: ProbeOptions) -> dict[str, Rule]:
    """The rules that `options` takes, by id."""
    return {name: rule for name, rule in known.items() if options.takes(name)}


def _entries_needed(
    known: Mapping[str, Probe | Passive], wanted: Mapping[str, Rule]
) -> dict[str, Probe | Passive]:
    """The entries of the wanted rules; all probes when one of them lives on their traffic."""
    chosen = {rule: entry for rule, entry in known.items() if rule in wanted}
    if not any(isinstance(e, Passive) or e.turn is Turn.END for e in chosen.values()):
        return chosen
    return {
        rule: entry for rule, entry in known.items() if rule in wanted or isinstance(entry, Probe)
    }
