"""Drive a server with a script, within a bound."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import anyio

from clausewise.core.errors import ClausewiseError
from clausewise.core.vocabulary import Era
from clausewise.reference.client.run import Audience, ClientOptions, run_client
from clausewise.reference.client.script.reading import parse_script
from clausewise.reference.client.script.step import StepResult
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.reference_client.scripted import Scripted, serving

STDIO_PEER = Path(__file__).with_name("stdio_peer.py")
LEGACY = ClientOptions(Era.LEGACY, seconds=5.0)
MODERN = ClientOptions(Era.MODERN, seconds=5.0)
AUTO = ClientOptions(Era.DUAL, seconds=5.0)


async def drive(
    target: HttpTarget | StdioTarget, script: str, options: ClientOptions, tape: Tape | None = None
) -> list[StepResult]:
    """What came of each step."""
    results: list[StepResult] = []
    chosen = replace(options, script=parse_script(script))
    with anyio.fail_after(30):
        await run_client(target, chosen, tape or Tape(), Audience(results.append))
    return results


def drive_scripted(scripted: Scripted, script: str, options: ClientOptions) -> list[StepResult]:
    """The same with a scripted HTTP server."""

    async def run() -> list[StepResult]:
        # The server's task group would wrap what the client raises.
        async with serving(scripted) as url:
            try:
                return await drive(HttpTarget(url), script, options)
            except ClausewiseError as error:
                failure = error
        raise failure

    return anyio.run(run)


def drive_peer(
    mode: str, script: str, options: ClientOptions, log: Path, tape: Tape | None = None
) -> list[StepResult]:
    """The same with a scripted process, which writes what it gets to `log`."""
    target = StdioTarget((sys.executable, str(STDIO_PEER), mode, str(log)))
    return anyio.run(drive, target, script, options, tape)


def complaints(results: list[StepResult]) -> list[str]:
    return [text for result in results for text in result.complaints]
