"""Run the probe engine against a server of the test's choosing."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Era
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.run import ProbeOptions, ProbeRun, Progress, run_probes
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http as serve_reference
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.conftest import ROOT
from tests.probe.fake_server import Fault, serve_http

LIMITS = Limits(answer_s=5.0, quiet_s=0.05)
BOUND_S = 60.0


@dataclass(frozen=True)
class Recorded:
    """A finished run, its verdicts by rule, and its recording."""

    run: ProbeRun
    tape: Tape

    def __getitem__(self, rule: str) -> Verdict:
        return next(verdict for verdict in self.run.verdicts if verdict.id == rule)


def process(mode: str) -> StdioTarget:
    """A mode of `scripted_process`."""
    command = (sys.executable, "-m", "tests.probe.scripted_process", mode)
    return StdioTarget(command, cwd=str(ROOT))


async def probe_target(
    target: Target,
    options: ProbeOptions,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Recorded:
    tape = Tape()
    with anyio.fail_after(BOUND_S):
        return Recorded(await run_probes(target, options, tape, progress), tape)


def probe_fake(fault: Fault | None, *select: str) -> Recorded:
    """The rules in `select` on the fake server with one fault."""

    async def run() -> Recorded:
        async with serve_http(fault) as url:
            options = ProbeOptions(select=select, limits=LIMITS)
            return await probe_target(HttpTarget(url), options)

    return anyio.run(run)


def probe_reference(era: Era, *select: str, defects: tuple[str, ...] = ()) -> Recorded:
    """The rules in `select` on the reference server with its defects."""

    async def run() -> Recorded:
        async with serve_reference(ServerOptions(era=era, defects=defects)) as url:
            options = ProbeOptions(select=select, limits=LIMITS)
            return await probe_target(HttpTarget(url), options)

    return anyio.run(run)


@asynccontextmanager
async def meeting(
    target: Target, era: Era = Era.MODERN, limits: Limits = LIMITS
) -> AsyncIterator[Peer]:
    """A peer of its own, without the engine."""
    async with Links(target, Tape(), limits) as links:
        yield Peer(links, Acquaintance(links.transport, era))
