"""Quirks of servers on stdio: how they write, when they start and end."""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

import anyio
import anyio.lowlevel
from anyio.abc import ByteSendStream

from clausewise.core.vocabulary import Era
from clausewise.reference.options import ServerOptions
from clausewise.reference.process import StdinStream, StdoutStream
from clausewise.reference.server import build
from clausewise.reference.stdio_layer import serve_streams
from tests.probe.quirks import features, messages
from tests.probe.quirks.serving import Quirk

_STARTING_S = 0.7


@dataclass
class Rewriting(ByteSendStream):
    """Standard output, each line changed on the way."""

    change: Callable[[bytes], bytes]
    out: StdoutStream

    async def send(self, item: bytes) -> None:
        await self.out.send(self.change(item))

    async def aclose(self) -> None:
        await self.out.aclose()


class Shuffling(Rewriting):
    """Keeps each line back for a moment of its own, so that answers overtake each other."""

    async def send(self, item: bytes) -> None:
        if b'"result"' in item:
            await anyio.sleep(random.random() / 50)
        await super().send(item)


class Dripping(Rewriting):
    """Writes a few bytes at a time."""

    async def send(self, item: bytes) -> None:
        middle = len(item) // 2
        for piece in (item[:1], item[1:middle], item[middle:-1], item[-1:]):
            await self.out.send(piece)
            await anyio.lowlevel.checkpoint()


def _with_cr(line: bytes) -> bytes:
    return line[:-1] + b"\r\n"


def _spaced(line: bytes) -> bytes:
    members = reversed(json.loads(line).items())
    return b" \t" + json.dumps(dict(members), separators=(" , ", " : ")).encode() + b" \n"


def _noisy(line: bytes) -> bytes:
    os.write(2, b'{"jsonrpc":"2.0","id":1}\nERROR \xff\xfe\x00 panic? ' + b"x" * 5000 + b"\n")
    return line


MODES: dict[str, Callable[[StdoutStream], ByteSendStream]] = {
    "carriage-returns": lambda out: Rewriting(_with_cr, out),
    "spaces": lambda out: Rewriting(_spaced, out),
    "noise": lambda out: Rewriting(_noisy, out),
    "shuffle": lambda out: Shuffling(bytes, out),
    "drip": lambda out: Dripping(bytes, out),
}

_OTHERS = {quirk.name: quirk for quirk in (*features.QUIRKS, *messages.QUIRKS)}


async def _main(mode: str, era: Era) -> None:
    if mode == "late":
        await anyio.sleep(_STARTING_S)
    quirk = _OTHERS.get(mode)
    runtime = build(replace(quirk.options if quirk else ServerOptions(), era=era))
    if quirk is not None:
        runtime = replace(runtime, wiring=quirk.rewire(runtime.wiring))
    out: ByteSendStream = StdoutStream()
    if mode in MODES:
        out = MODES[mode](StdoutStream())
    if mode == "quits-at-once":
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve_streams, runtime, _LastWords(), out)
    else:
        await serve_streams(runtime, StdinStream(), out)
    if mode == "odd-exit":
        os._exit(3)


class _LastWords(StdinStream):
    """Ends the process when the input ends, whatever is in progress."""

    async def receive(self, max_bytes: int = 65_536) -> bytes:
        try:
            return await super().receive(max_bytes)
        except anyio.EndOfStream:
            os._exit(0)


QUIRKS = (
    Quirk("ends its lines with CR LF", stdio="carriage-returns"),
    Quirk("writes spaces between the tokens of JSON", stdio="spaces"),
    Quirk("writes much to stderr", stdio="noise"),
    Quirk("answers out of order", stdio="shuffle"),
    Quirk("writes lines in pieces", stdio="drip"),
    Quirk("starts late", stdio="late"),
    Quirk("exits at once when its input ends", stdio="quits-at-once"),
    Quirk("exits with a status of its own", stdio="odd-exit"),
    *(
        Quirk(name, stdio=name)
        for name in (
            "has nothing at all",
            "has prompts alone",
            "has one tool, which may not be called",
            "has no subscriptions",
            "ends subscriptions at once",
            "adds members of its own to everything",
            "tells progress wherever it is asked to",
        )
    ),
)

if __name__ == "__main__":
    anyio.run(_main, sys.argv[1], Era(sys.argv[2]))
