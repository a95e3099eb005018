"""Record what a server process writes: lines on stdout, text on stderr, each within a bound."""

from __future__ import annotations

import codecs

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import Event, EventKind
from clausewise.trace.raw import CUT_SHORT
from clausewise.trace.tape import Tape, Track
from clausewise.transport.limits import MEBIBYTE, Limits
from clausewise.transport.lines import Line, LineFramer
from clausewise.transport.recording import record_message, record_raw

_SERVER = Direction.SERVER_TO_CLIENT

_TAIL_BYTES = 4 * 1024
_STDERR_BYTES = MEBIBYTE
_STDERR_EVENTS = 5_000
_STDERR_PIECE = 8 * 1024


class OutputLog:
    """Turns stdout into events: a message a line, raw where a line is none.

    The bounds on bytes and events hold between two calls of `allow_more`; what comes
    beyond them is dropped and counted, so that a flood can neither block the process nor
    fill the memory.
    """

    def __init__(self, tape: Tape, track: Track, limits: Limits) -> None:
        self._tape = tape
        self._track = track
        self._limits = limits
        self._framer = LineFramer(limits.max_line_bytes)
        self._lines = 0
        self._bytes = 0
        self._too_long = False
        self._dropped_lines = 0
        self._dropped_bytes = 0

    @property
    def dropping(self) -> bool:
        """Whether lines are dropped at the moment."""
        return self._dropped_lines > 0

    @property
    def overflow(self) -> str | None:
        """Which bound was exceeded since `allow_more`, in words, or None."""
        if not self._dropped_lines:
            long = f"a line of more than {self._limits.max_line_bytes} bytes"
            return long if self._too_long else None
        return (
            f"more than {self._limits.max_events} lines or {self._limits.max_body_bytes} bytes "
            "of output between two sends"
        )

    def allow_more(self) -> None:
        """Begin a new measure of what is too much."""
        self._note_dropped()
        self._lines = self._bytes = 0
        self._too_long = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Record the lines that `chunk` completes."""
        events = (self._record(line) for line in self._framer.feed(chunk))
        return [event for event in events if event is not None]

    def close(self) -> list[Event]:
        """Stdout has ended: record a last line that has no newline."""
        rest = self._framer.close()
        self._note_dropped()
        if not rest:
            return []
        why = f"{CUT_SHORT}the output ended within this line"
        return [record_raw(self._tape, self._track, _SERVER, rest, why)]

    def _record(self, line: Line) -> Event | None:
        self._lines += 1
        self._bytes += len(line.data)
        if self._lines > self._limits.max_events or self._bytes > self._limits.max_body_bytes:
            self._dropped_lines += 1
            self._dropped_bytes += len(line.data)
            return None
        if line.too_long:
            self._too_long = True
            why = f"{CUT_SHORT}a line of more than {self._limits.max_line_bytes} bytes"
            return record_raw(self._tape, self._track, _SERVER, line.data, why)
        if not line.data.strip():
            return record_raw(self._tape, self._track, _SERVER, line.data, "a blank line")
        return record_message(self._tape, self._track, _SERVER, line.data)

    def _note_dropped(self) -> None:
        if self._dropped_lines:
            why = (
                f"{CUT_SHORT}{self._dropped_lines} lines ({self._dropped_bytes} bytes) "
                "of output were dropped"
            )
            record_raw(self._tape, self._track, _SERVER, b"", why)
            self._dropped_lines = self._dropped_bytes = 0


class StderrLog:
    """Turns stderr into events, a line each, and keeps its last 4 KiB."""

    def __init__(self, tape: Tape, track: Track) -> None:
        self._tape = tape
        self._track = track
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._partial = ""
        self._tail = bytearray()
        self._bytes = 0
        self._events = 0
        self._dropped = 0

    @property
    def tail(self) -> str:
        """The last 4 KiB as text."""
        return self._tail.decode("utf-8", "replace").strip()

    def feed(self, chunk: bytes) -> list[Event]:
        """Record the lines that `chunk` completes."""
        self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
        if self._bytes > _STDERR_BYTES or self._events > _STDERR_EVENTS:
            self._dropped += len(chunk)
            return []
        self._bytes += len(chunk)
        *lines, self._partial = (self._partial + self._decoder.decode(chunk)).split("\n")
        if len(self._partial) > _STDERR_PIECE:
            lines.append(self._partial)
            self._partial = ""
        return [self._record(line) for line in lines]

    def close(self) -> list[Event]:
        """Stderr has ended: record what is left, and how much was dropped."""
        rest = self._partial + self._decoder.decode(b"", final=True)
        events = [self._record(rest)] if rest else []
        if self._dropped:
            why = f"{CUT_SHORT}{self._dropped} bytes of stderr were dropped"
            events.append(record_raw(self._tape, self._track, _SERVER, b"", why))
        return events

    def _record(self, text: str) -> Event:
        self._events += 1
        return self._tape.add(self._track, _SERVER, EventKind.STDERR, {"text": text})
