"""Record the three streams of a stdio server: message lines both ways, text on stderr."""

from __future__ import annotations

import codecs
from typing import Protocol

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import EventKind
from clausewise.trace.raw import CUT_SHORT
from clausewise.trace.tape import Tape, Track
from clausewise.transport.lines import Line, LineFramer
from clausewise.transport.recording import record_message, record_raw

_STDERR_PIECE = 16 * 1024


class StreamLog(Protocol):
    """Records a byte stream piece by piece."""

    def feed(self, chunk: bytes) -> None: ...

    def close(self) -> None:
        """The stream has ended: record what is left."""


class MessageLog:
    """A message a line; what is none is recorded as raw.

    Args:
        max_line_bytes: of a longer line only the beginning is recorded.
    """

    def __init__(self, tape: Tape, track: Track, direction: Direction, max_line_bytes: int) -> None:
        self._tape = tape
        self._track = track
        self._direction = direction
        self._max_line_bytes = max_line_bytes
        self._framer = LineFramer(max_line_bytes)

    def feed(self, chunk: bytes) -> None:
        """Record the lines that `chunk` completes."""
        for line in self._framer.feed(chunk):
            self._record(line)

    def close(self) -> None:
        rest = self._framer.close()
        if rest:
            self._raw(rest, f"{CUT_SHORT}the stream ended within this line")

    def _record(self, line: Line) -> None:
        if line.too_long:
            self._raw(line.data, f"{CUT_SHORT}a line of more than {self._max_line_bytes} bytes")
        elif not line.data.strip():
            self._raw(line.data, "a blank line")
        else:
            record_message(self._tape, self._track, self._direction, line.data)

    def _raw(self, data: bytes, why: str) -> None:
        record_raw(self._tape, self._track, self._direction, data, why)


class StderrLog:
    """Text, a line an event; very long lines in pieces."""

    def __init__(self, tape: Tape, track: Track) -> None:
        self._tape = tape
        self._track = track
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._partial = ""

    def feed(self, chunk: bytes) -> None:
        """Record the lines that `chunk` completes."""
        *lines, self._partial = (self._partial + self._decoder.decode(chunk)).split("\n")
        for line in lines:
            self._record(line)
        if len(self._partial) > _STDERR_PIECE:
            self._record(self._partial)
            self._partial = ""

    def close(self) -> None:
        rest = self._partial + self._decoder.decode(b"", final=True)
        if rest:
            self._record(rest)

    def _record(self, text: str) -> None:
        direction = Direction.SERVER_TO_CLIENT
        self._tape.add(self._track, direction, EventKind.STDERR, {"text": text})
