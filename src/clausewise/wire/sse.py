"""Parse server-sent events from bytes, as they arrive (WHATWG HTML, section 9.2.6).

Unlike a client's parser it reports what a client would silently skip.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 15


@dataclass(frozen=True, slots=True)
class SseEvent:
    """A block of fields, ended by an empty line.

    Attributes:
        data: the data lines joined with a newline, undecoded; None when there were none,
            in which case a client dispatches nothing.
        type: the event type; empty for the default, `message`.
        id: the event id set in this block, or None.
        retry: the reconnection time set in this block, in milliseconds, or None.
    """

    data: bytes | None
    type: str = ""
    id: str | None = None
    retry: int | None = None

    @property
    def is_message(self) -> bool:
        """Whether a client's default handler receives it and there is something to read."""
        return bool(self.data) and self.type in ("", "message")


@dataclass(frozen=True, slots=True)
class SseComment:
    """A line that begins with a colon."""

    text: str


@dataclass(frozen=True, slots=True)
class SseIgnoredLine:
    """A line that a client ignores: an unknown field, or a value the field may not have."""

    line: bytes
    why: str


SseItem = SseEvent | SseComment | SseIgnoredLine


@dataclass(slots=True)
class _Block:
    """The fields since the last empty line; `size` counts the bytes of their lines."""

    size: int = 0
    empty: bool = True
    data: list[bytes] = field(default_factory=list)
    type: str = ""
    id: str | None = None
    retry: int | None = None


class SseParser:
    """An incremental parser: the items do not depend on how the bytes are cut into chunks.

    Args:
        max_event_bytes: bound on one block and on one line; beyond it the parser stops
            for good and `overflowed` is true.
    """

    def __init__(self, max_event_bytes: int) -> None:
        self._max_event_bytes = max_event_bytes
        self._start: bytes | None = b""
        self._partial = bytearray()
        self._skip_lf = False
        self._block = _Block()
        self._overflowed = False

    @property
    def overflowed(self) -> bool:
        """Whether a block was longer than the bound; nothing is parsed from then on."""
        return self._overflowed

    def feed(self, chunk: bytes) -> list[SseItem]:
        """The items that `chunk` completes, in order."""
        if self._overflowed:
            return []
        if self._start is not None:
            chunk = self._start + chunk
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._start = chunk
                return []
            self._start = None
            chunk = chunk.removeprefix(_BOM)
        return self._lines(chunk)

    def close(self) -> bytes:
        """The stream has ended: what was not ended by an empty line (or was too long).

        A client discards these bytes. Fields are given back in a normal form.
        """
        rest = bytes(self._partial)
        if self._start is not None:
            rest, self._start = self._start, None
        block = self._block
        lines = [b"data: " + line for line in block.data]
        if block.type:
            lines.append(b"event: " + block.type.encode())
        if block.id is not None:
            lines.append(b"id: " + block.id.encode())
        if block.retry is not None:
            lines.append(b"retry: " + str(block.retry).encode())
        self._partial.clear()
        self._block = _Block()
        return b"\n".join([*lines, rest] if rest else lines)

    def _lines(self, chunk: bytes) -> list[SseItem]:
        items: list[SseItem] = []
        if self._skip_lf and chunk:
            self._skip_lf = False
            chunk = chunk.removeprefix(b"\n")
        begin = 0
        for newline in _NEWLINE.finditer(chunk):
            self._partial += chunk[begin : newline.start()]
            begin = newline.end()
            self._end_line(items)
            if self._overflowed:
                return items
        self._skip_lf = chunk.endswith(b"\r") or (self._skip_lf and not chunk)
        self._partial += chunk[begin:]
        self._check_size()
        return items

    def _end_line(self, items: list[SseItem]) -> None:
        self._check_size()
        if self._overflowed:
            return
        line = bytes(self._partial)
        self._partial.clear()
        item = self._line(line) if line else self._dispatch()
        if item is not None:
            items.append(item)

    def _check_size(self) -> None:
        room = self._max_event_bytes - self._block.size
        if len(self._partial) > room:
            self._overflowed = True
            del self._partial[max(room, 0) :]

    def _dispatch(self) -> SseEvent | None:
        block, self._block = self._block, _Block()
        if block.empty:
            return None
        data = b"\n".join(block.data) if block.data else None
        return SseEvent(data, block.type, block.id, block.retry)

    def _line(self, line: bytes) -> SseItem | None:
        if line.startswith(b":"):
            return SseComment(line[1:].removeprefix(b" ").decode("utf-8", "replace"))
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        why = self._set_field(name, value)
        if why is not None:
            return SseIgnoredLine(line, why)
        self._block.size += len(line)
        self._block.empty = False
        return None

    def _set_field(self, name: bytes, value: bytes) -> str | None:
        """Set a field of the block, or say why a client ignores the line."""
        block = self._block
        if name == b"data":
            block.data.append(value)
        elif name == b"event":
            block.type = value.decode("utf-8", "replace")
        elif name == b"id":
            if b"\0" in value:
                return "an SSE id with a NUL character"
            block.id = value.decode("utf-8", "replace")
        elif name == b"retry":
            if not value.isdigit():
                return "an SSE retry that is no number"
            if len(value) > _MAX_RETRY_DIGITS:
                return "an SSE retry that is out of range"
            block.retry = int(value)
        else:
            return "an SSE line that names no known field"
        return None
