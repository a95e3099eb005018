"""Judge the fake server with probes, as a run does, and say what came of each rule."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Era, Outcome, TransportKind
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.conversation.link import Links
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.gates import Situation, gate
from clausewise.probe.observation import Observation
from clausewise.probe.registration import Passive, Probe, probes
from clausewise.probe.verdicts import Judging
from clausewise.registry import rules
from clausewise.trace.tape import Tape
from clausewise.transport.http import HttpTarget
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioTarget
from tests.probe.fake_server import serve_http, stdio_command
from tests.probe.faults import FAULTS

ROOT = Path(__file__).resolve().parents[2]
GROUPS = ("MCP-RES-", "MCP-ERR-", "MCP-CAC-")
LIMITS = Limits(answer_s=3.0, quiet_s=0.1)
HTTP, STDIO = TransportKind.HTTP, TransportKind.STDIO

Observed = Mapping[str, Observation]


def observe(
    fault: str | None,
    transport: TransportKind = HTTP,
    *,
    era: Era = Era.MODERN,
    token: str | None = None,
) -> Observed:
    """What every rule of the three groups makes of the fake server with one fault."""

    async def run() -> Observed:
        with anyio.fail_after(60):
            async with _links(fault, transport, token) as links:
                return await _judge(links, Acquaintance(transport, era))

    return anyio.run(run)


@asynccontextmanager
async def _links(
    fault: str | None, transport: TransportKind, token: str | None
) -> AsyncIterator[Links]:
    async with AsyncExitStack() as stack:
        target: HttpTarget | StdioTarget
        if transport is HTTP:
            url = await stack.enter_async_context(serve_http(FAULTS[fault] if fault else None))
            headers = () if token is None else (("Authorization", f"Bearer {token}"),)
            target = HttpTarget(url, headers)
        else:
            target = StdioTarget(stdio_command(fault), cwd=str(ROOT))
        yield await stack.enter_async_context(Links(target, Tape(), LIMITS))


async def _judge(links: Links, known: Acquaintance) -> Observed:
    rules = {rule: entry for rule, entry in probes().items() if rule.startswith(GROUPS)}
    observed: dict[str, Observation] = {}
    await Peer(links, known).discover()
    situation = Situation(links.transport, known.era, known.declared)
    for rule, entry in rules.items():
        barred = gate(entry, situation)
        if barred is not None:
            observed[rule] = barred
        elif isinstance(entry, Probe):
            peer = Peer(links, known)
            observed[rule] = await entry.run(peer)
            await peer.close()
    for rule, entry in rules.items():
        if isinstance(entry, Passive) and rule not in observed:
            observed[rule] = entry.judge(known.traffic)
    return observed


def outcomes(observed: Observed) -> dict[str, Outcome]:
    """The outcome of each rule's verdict."""
    return {rule: verdict(observed, rule).outcome for rule in observed}


def verdict(observed: Observed, rule: str) -> Verdict:
    """The verdict of one rule, with its findings."""
    return Judging("test").verdict(rules()[rule], observed[rule], probes()[rule])


CONFORMING = {
    rule: Outcome.NOT_APPLICABLE if rule == "MCP-CAC-005" else Outcome.PASS
    for rule in probes()
    if rule.startswith(GROUPS)
}
"""What comes of a server that keeps the specification, over HTTP."""

CONFORMING_ON_STDIO = CONFORMING | {
    "MCP-RES-005": Outcome.NOT_APPLICABLE,
    "MCP-RES-006": Outcome.NOT_APPLICABLE,
}

Differences = Mapping[str, Outcome]


def changed(fault: str, transport: TransportKind = HTTP) -> Differences:
    """The outcomes that differ from those of a conforming server."""
    usual = CONFORMING if transport is HTTP else CONFORMING_ON_STDIO
    seen = outcomes(observe(fault, transport))
    return {rule: outcome for rule, outcome in seen.items() if outcome is not usual[rule]}
