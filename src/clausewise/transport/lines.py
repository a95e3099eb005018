"""Cut a byte stream into lines, within a bound."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A line without its newline; `too_long` when only its beginning was kept."""

    data: bytes
    too_long: bool = False


class LineFramer:
    """Takes bytes as they come and gives lines; how they are cut into chunks is no matter.

    A line beyond `max_line_bytes` is given once, as its first `max_line_bytes`; what
    follows up to its newline is skipped.
    """

    def __init__(self, max_line_bytes: int) -> None:
        self._max_line_bytes = max_line_bytes
        self._partial = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[Line]:
        """The lines that `chunk` completes, or makes too long."""
        lines: list[Line] = []
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._extend(piece, lines)
            if not self._skipping:
                lines.append(Line(bytes(self._partial)))
            self._partial.clear()
            self._skipping = False
        self._extend(rest, lines)
        return lines

    def close(self) -> bytes:
        """The stream has ended: the bytes after its last newline."""
        rest = bytes(self._partial)
        self._partial.clear()
        return rest

    def _extend(self, piece: bytes, lines: list[Line]) -> None:
        if self._skipping:
            return
        self._partial += piece
        if len(self._partial) > self._max_line_bytes:
            lines.append(Line(bytes(self._partial[: self._max_line_bytes]), too_long=True))
            self._partial.clear()
            self._skipping = True
