"""Run single probes of clauses against a server, after the walk, and see what each says."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import anyio

from clausewise.core.vocabulary import Era
from clausewise.probe.allowance import Allowance
from clausewise.probe.clause_experiments import ClauseExperiments
from clausewise.probe.clause_registration import clause_probes
from clausewise.probe.conversation.legacy import legacy_session
from clausewise.probe.conversation.legacy_peer import LegacyAcquaintance, LegacyPeer
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.observation import Observation
from clausewise.probe.options import ProbeOptions
from clausewise.probe.walk import walk
from clausewise.reference.options import ServerLimits, ServerOptions
from clausewise.reference.server import serve_http as serve_reference
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.probe.fake_server import Fault, serve_http

LIMITS = Limits(answer_s=10.0, quiet_s=0.05)
BOUND_S = 60.0

Observed = Mapping[str, Observation]


async def observe(
    target: Target, *names: str, call_tools: frozenset[str] = frozenset()
) -> Observed:
    """What the named probes see, one after the other; those whose condition is absent too."""
    with anyio.fail_after(BOUND_S):
        async with Links(target, Tape(), LIMITS) as links:
            known = LegacyAcquaintance(named=call_tools)
            async with legacy_session(links, "legacy") as session:
                await walk(session, links, known)
            found = {name: await _see(links, known, name) for name in names}
            await known.end()
            return found


async def _see(links: Links, known: LegacyAcquaintance, name: str) -> Observation:
    return await clause_probes()[name].run(LegacyPeer(links, known))


def on_fake(
    fault: Fault,
    *names: str,
    call_tools: frozenset[str] = frozenset(),
    headers: tuple[tuple[str, str], ...] = (),
) -> Observed:
    """On the fake server with a fault, over HTTP."""

    async def run() -> Observed:
        async with serve_http(fault) as url:
            return await observe(HttpTarget(url, headers), *names, call_tools=call_tools)

    return anyio.run(run)


def on_reference(
    *names: str,
    defects: tuple[str, ...] = (),
    call_tools: frozenset[str] = frozenset(),
    limits: ServerLimits | None = None,
) -> Observed:
    """On the reference server, over HTTP."""

    async def run() -> Observed:
        options = ServerOptions(era=Era.LEGACY, defects=defects, limits=limits or ServerLimits())
        async with serve_reference(options) as url:
            return await observe(HttpTarget(url), *names, call_tools=call_tools)

    return anyio.run(run)


def on_stdio(*names: str, call_tools: frozenset[str] = frozenset()) -> Observed:
    """On the reference server, on stdio."""

    async def run() -> Observed:
        command = (sys.executable, "-m", "clausewise", "reference", "server", "--stdio")
        return await observe(StdioTarget(command), *names, call_tools=call_tools)

    return anyio.run(run)


def verdicts(
    target_options: ServerOptions, options: ProbeOptions, rules: frozenset[str]
) -> Observed:
    """What the engine makes of all wanted probes beside these rules, by probe."""

    async def run() -> Observed:
        async with (
            serve_reference(target_options) as url,
            Links(HttpTarget(url), Tape(), LIMITS) as links,
        ):
            known = LegacyAcquaintance(named=options.call_tools)
            async with legacy_session(links, "legacy") as session:
                await walk(session, links, known)
            allowance = Allowance(options, links.pace, anyio.current_time() + BOUND_S)
            experiments = ClauseExperiments(links, known, allowance, rules, lambda _: None)
            await experiments.together(anyio.CapacityLimiter(2))
            await experiments.alone()
            await known.end()
            return {
                one.probe: Observation(
                    one.verdict.outcome, one.verdict.occasions, one.verdict.reason
                )
                for one in experiments.verdicts
            }

    return anyio.run(run)
