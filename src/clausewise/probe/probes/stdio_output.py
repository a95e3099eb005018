"""Our rules about what a server writes to stdout (CW-STD-001 and CW-STD-002)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import anyio

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import Observation, broke, held, inconclusive
from clausewise.probe.registration import STDIO_ONLY, Turn, probe
from clausewise.probe.subjects.grouping import Sighting, once_each
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.trace.raw import CUT_SHORT
from clausewise.wire.jsontext import JsonTextError, decode

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class _Output:
    """What modern processes wrote, and the commands that show it again."""

    events: tuple[Event, ...]
    command_at: Callable[[int], str | None]
    reproduce: str

    def sighting(self, event: Event) -> Sighting:
        """The event as evidence; one that came with no answer comes at the start or the end."""
        return Sighting(event.seq, self.command_at(event.seq) or self.reproduce)


@probe("CW-STD-001", transports=STDIO_ONLY, turn=Turn.END)
async def message_stands_on_one_line(peer: Peer) -> Observation:
    """A message is written over several lines.

    Why: clients read a line at a time; none of the lines is a message by itself.

    Fix: write JSON without line breaks between its parts, then one newline; flush it.
    """
    output = await _whole_output(peer)
    judged: list[tuple[str, Observation]] = []
    for lines in _runs_of_raw(output.events):
        if _is_message(lines):
            seen = f"{len(lines)} lines that make one JSON object: {_shown(lines[0])} …"
            judged.append(("lines", _broken(output, lines[0], "over several lines", seen)))
    if not judged:
        return _kept(output.events, "no message was seen")
    return once_each(judged)


@probe("CW-STD-002", transports=STDIO_ONLY, turn=Turn.END)
async def stdout_holds_messages_only(peer: Peer) -> Observation:
    """Something that is no message is written to stdout.

    Why: a banner, a log line or a blank line ends up where the client expects JSON; many
    clients give up at the first such line.

    Fix: log to stderr; let no library print to stdout, at the start and the end included.
    """
    output = await _whole_output(peer)
    judged: list[tuple[str, Observation]] = []
    for lines in _runs_of_raw(output.events):
        if not _is_message(lines):
            judged += [("no JSON", _stray(output, line)) for line in lines if _is_stray(line)]
    for event in output.events:
        if event.kind is EventKind.MESSAGE and not _is_meant(event.payload):
            judged.append(("no message", _stray(output, event)))
    if not judged:
        return _kept(output.events, "nothing was written to stdout")
    return once_each(judged)


async def _whole_output(peer: Peer) -> _Output:
    """What modern processes wrote, from their start to the end of at least one."""

    async def end() -> _Output:
        modern = {event.session for event in peer.recording} - {
            event.session for event in peer.recording if _is_initialize(event)
        }
        if not any(_is_exit(event) and event.session in modern for event in peer.recording):
            link = await peer.own_link()
            await peer.request("server/discover", link=link)
            await link.close()
            with anyio.move_on_after(peer.limits.exit_s):
                await link.ended.wait()
        events = tuple(
            event
            for event in peer.recording
            if event.transport is TransportKind.STDIO
            and event.direction is Direction.SERVER_TO_CLIENT
            and event.session in modern
        )
        return _Output(events, peer.command_at, (await peer.discover()).reproduce)

    return await peer.once("whole output", end)


def _is_exit(event: Event) -> bool:
    return event.fields.get("event") == Lifecycle.EXIT


def _is_initialize(event: Event) -> bool:
    is_ours = event.direction is Direction.CLIENT_TO_SERVER
    return (
        is_ours
        and isinstance(event.payload, dict)
        and event.payload.get("method") == ("initialize")
    )


def _runs_of_raw(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The lines of one process that are no JSON and follow each other."""
    by_process: dict[str | None, list[Event]] = {}
    for event in events:
        by_process.setdefault(event.session, []).append(event)
    for written in by_process.values():
        for is_raw, run in groupby(written, key=lambda event: event.kind is EventKind.RAW):
            if is_raw:
                yield list(run)


def _is_message(lines: Sequence[Event]) -> bool:
    """Whether the lines together are one JSON object that looks like a message."""
    try:
        value = decode("\n".join(str(line.fields.get("text", "")) for line in lines).encode())
    except JsonTextError:
        return False
    return len(lines) > 1 and _is_meant(value)


def _is_meant(value: Any) -> bool:
    """Whether a JSON value is meant as a JSON-RPC message, well made or not."""
    return isinstance(value, Mapping) and any(
        member in value for member in ("jsonrpc", "method", "result", "error")
    )


def _is_stray(line: Event) -> bool:
    """Whether a raw line is the server's doing: text, and whole."""
    return "text" in line.fields and not str(line.fields.get("why", "")).startswith(CUT_SHORT)


def _stray(output: _Output, event: Event) -> Observation:
    return _broken(output, event, "that is no message", _shown(event))


def _broken(output: _Output, event: Event, what: str, seen: str) -> Observation:
    return broke(
        f"the server writes something to stdout {what}",
        seen=seen,
        expected="one JSON-RPC message a line, and nothing else",
        evidence=output.sighting(event),
    )


def _kept(events: Sequence[Event], nothing: str) -> Observation:
    messages = sum(event.kind is EventKind.MESSAGE for event in events)
    return held(messages) if messages else inconclusive(nothing)


def _shown(event: Event) -> str:
    """A line in a few characters."""
    if event.kind is EventKind.MESSAGE:
        text = (event.text or b"").decode("utf-8", "replace")
    else:
        text = str(event.fields.get("text", "bytes that are no UTF-8"))
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
