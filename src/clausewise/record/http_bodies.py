"""Record the body of a request or response while it passes by, within a bound of memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from clausewise.core.vocabulary import Direction
from clausewise.trace.raw import CUT_SHORT
from clausewise.trace.tape import Track
from clausewise.transport.answers import media_type_of
from clausewise.transport.http_body import Body, EventStream, WholeBody
from clausewise.transport.limits import Limits
from clausewise.transport.recording import Recording

_DECODED = frozenset({"gzip", "x-gzip", "deflate"})
_ANY_HEADER = 47  # zlib's word for: a gzip or a zlib header, whichever is there
_PIECE_BYTES = 64 * 1024


class BodyLog:
    """Records what one body holds: its messages, or what it is instead.

    What cannot be recorded whole is told as cut short: the body itself passes unharmed.

    Args:
        recording: takes the events.
        direction: whose body it is.
        headers: of its head, names in lower case.
        limits: how much of a body, or of one SSE event, is kept in memory.
        stream: the track to follow when the body is an event stream; None for a request.
    """

    def __init__(
        self,
        recording: Recording,
        direction: Direction,
        headers: Iterable[tuple[bytes, bytes]],
        limits: Limits,
        stream: Track | None,
    ) -> None:
        fields = {name: value.decode("latin-1") for name, value in headers}
        kind = media_type_of(fields.get(b"content-type"))
        coding = fields.get(b"content-encoding", "").strip().lower()
        self._recording = recording
        self._direction = direction
        self._inflater = zlib.decompressobj(_ANY_HEADER) if coding in _DECODED else None
        self._left: int | None = limits.max_body_bytes
        self._given_up: str | None = None
        if coding not in ("", "identity") and self._inflater is None:
            self._given_up = f"a body in the coding {coding[:80]!r}, which is not decoded"
        self._body: Body
        if stream is not None and kind == "text/event-stream":
            recording.follow(stream)
            self._left = None
            self._body = EventStream(recording, limits.max_line_bytes)
        else:
            self._body = WholeBody(recording, kind, "", direction)
        self._limit = limits.max_body_bytes
        self._seen = 0

    def feed(self, data: bytes) -> None:
        """Take in a piece, still in its content coding."""
        self._seen += len(data)
        if self._given_up is not None:
            return
        try:
            for piece in self._decoded(data):
                if not self._take(piece):
                    return
        except zlib.error as error:
            self._given_up = f"a body that cannot be decoded: {error}"

    def finish(self, whole: bool) -> None:
        """The body has ended, or broken off; record what is left."""
        if self._given_up is None:
            self._body.finish(whole)
        elif self._seen:
            self._recording.raw(self._direction, b"", CUT_SHORT + self._given_up)

    def _take(self, piece: bytes) -> bool:
        """Record a piece; false when the body has become too much."""
        if self._left is not None:
            self._left -= len(piece)
            if self._left < 0:
                self._give_up(f"a body of more than {self._limit} bytes")
                return False
        self._body.feed(piece)
        overflow = self._body.overflow
        if overflow is not None:
            self._give_up(overflow)
        return overflow is None

    def _give_up(self, why: str) -> None:
        self._given_up = f"{why}, which is not recorded"
        # What it has gathered is of no use any more.
        self._body = WholeBody(self._recording, None, "", self._direction)

    def _decoded(self, data: bytes) -> Iterator[bytes]:
        """The data without its content coding, in pieces of a bounded size."""
        inflater = self._inflater
        if inflater is None:
            yield data
            return
        while data:
            piece = inflater.decompress(data, _PIECE_BYTES)
            if piece:
                yield piece
            if not piece and data == inflater.unconsumed_tail:
                return
            data = inflater.unconsumed_tail
