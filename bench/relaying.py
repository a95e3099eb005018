"""What the recorder adds to the time of a message: round trips directly and through it."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import anyio

from clausewise.core.vocabulary import Era
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.conversation.peer import Peer
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget, StdioTarget

ROUND_TRIPS = 300
_WARMING = 30
_CLAUSEWISE = (sys.executable, "-m", "clausewise")
_REFERENCE = (*_CLAUSEWISE, "reference", "server")
_STDIO = (*_REFERENCE, "--stdio")


@dataclass(frozen=True, slots=True)
class Overhead:
    """The median round trip of a request and its answer, in milliseconds."""

    direct: float
    recorded: float

    @property
    def a_message(self) -> float:
        """What the recorder adds to one message: a round trip has two."""
        return (self.recorded - self.direct) / 2


def over_stdio(round_trips: int = ROUND_TRIPS) -> Overhead:
    """Between a client and a server process."""
    with TemporaryDirectory(prefix="clausewise-bench-") as folder:
        recorder = (*_CLAUSEWISE, "record", "-o", str(Path(folder, "s.jsonl")), "--")
        return Overhead(
            _round_trip(StdioTarget(_STDIO), round_trips),
            _round_trip(StdioTarget((*recorder, *_STDIO)), round_trips),
        )


def over_http(round_trips: int = ROUND_TRIPS) -> Overhead:
    """Between a client and an endpoint, each in a process of its own."""
    with (
        TemporaryDirectory(prefix="clausewise-bench-") as folder,
        _announced((*_REFERENCE, "--http", "127.0.0.1:0")) as server,
        _announced(
            (*_CLAUSEWISE, "record", "-o", str(Path(folder, "s.jsonl")), "--upstream", server)
        ) as recorder,
    ):
        return Overhead(
            _round_trip(HttpTarget(server), round_trips),
            _round_trip(HttpTarget(recorder), round_trips),
        )


@contextmanager
def _announced(command: tuple[str, ...]) -> Iterator[str]:
    """A process that prints its URL and serves until it is ended; gives the URL."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            yield line[line.index("http") :].strip()
        finally:
            process.terminate()


def _round_trip(target: Target, round_trips: int) -> float:
    return anyio.run(_median_ms, target, round_trips)


async def _median_ms(target: Target, round_trips: int) -> float:
    times = []
    async with Links(target, Tape(keep=False), Limits()) as links:
        peer = Peer(links, Acquaintance(links.transport, Era.MODERN))
        for _ in range(_WARMING + round_trips):
            began = time.perf_counter()
            reply = await peer.request("prompts/list")
            times.append(time.perf_counter() - began)
            assert reply.succeeded, reply.shown
        await peer.close()
    return median(times[_WARMING:]) * 1000
