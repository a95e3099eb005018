"""Source text with comments and strings blanked, so that code can be searched and matched."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_DEPTH = 32

_OPENING = {"(": ")", "[": "]", "{": "}"}
_CLOSING = {close: open_ for open_, close in _OPENING.items()}

_COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
_DOUBLE = r'"(?:\\.|[^"\\\n])*(?:"|$)'

SCRIPT = re.compile(
    rf"{_COMMENT}|{_DOUBLE}|'(?:\\.|[^'\\\n])*(?:'|$)|`(?:\\.|[^`\\])*(?:`|\Z)"
    r"|(?<=[(,=:\[!&|?{};\n])[ \t]*/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/",
    re.DOTALL | re.MULTILINE,
)
"""Comments, strings, templates and regular expressions of JavaScript and TypeScript."""

GO = re.compile(
    rf"{_COMMENT}|{_DOUBLE}|`[^`]*(?:`|\Z)|'(?:\\.[^'\n]*|[^'\\\n])'", re.DOTALL | re.MULTILINE
)
"""Comments, strings and runes of Go."""

RUST = re.compile(
    rf"{_COMMENT}|\bb?r(?P<hashes>#*)\".*?(?:\"(?P=hashes)|\Z)|\"(?:\\.|[^\"\\])*(?:\"|\Z)"
    r"|'(?:\\[^'\n]*|[^'\\\n])'",
    re.DOTALL | re.MULTILINE,
)
"""Comments, strings and characters of Rust."""

JAVA = re.compile(
    rf'{_COMMENT}|"""(?:\\.|[^\\])*?(?:"""|\Z)|{_DOUBLE}|' r"'(?:\\.[^'\n]*|[^'\\\n])'",
    re.DOTALL | re.MULTILINE,
)
"""Comments, strings, text blocks and characters of Java."""


class Masked:
    """A source text and its mask, in which what `hidden` matches is blank but for its ends.

    Positions are the same in both. Comments are blank wholly.
    """

    def __init__(self, text: str, hidden: re.Pattern[str]) -> None:
        self.text = text
        self.mask = hidden.sub(_blank, text)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def partners(self) -> dict[int, int]:
        """Where the bracket ends that opens at a position, for those that end."""
        found: dict[int, int] = {}
        waiting: list[tuple[str, int]] = []
        for match in re.finditer(r"[()\[\]{}]", self.mask):
            bracket, position = match.group(), match.start()
            if bracket in _OPENING:
                waiting.append((bracket, position))
            elif waiting and waiting[-1][0] == _CLOSING[bracket]:
                found[waiting.pop()[1]] = position
        return found

    def line_of(self, position: int) -> int:
        """The number of the line, from 1, that holds a position."""
        return bisect_right(self._starts, position)

    def end_of(self, opening: int) -> int:
        """Where the bracket at `opening` ends; the end of the text where it does not."""
        return self.partners.get(opening, len(self.text))

    def string_at(self, position: int) -> str | None:
        """The content of the string that begins at `position`, as written; None for none."""
        quote = self.mask[position : position + 1]
        if quote not in ('"', "'", "`"):
            return None
        end = self.mask.find(quote, position + 1)
        return self.text[position + 1 : end] if end >= 0 else None

    def after_blank(self, position: int) -> int:
        """The first position from `position` on that is no blank in the mask."""
        match = re.compile(r"\s*").match(self.mask, position)
        return match.end() if match else position

    def lead_of(self, line: int) -> int:
        """The first of the lines directly above `line` that are comments or annotations."""
        while line > 1 and self._is_lead(line - 1):
            line -= 1
        return line

    def _is_lead(self, line: int) -> bool:
        begin = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        shown = self.mask[begin:end].strip()
        return shown.startswith(("@", "#[")) or (not shown and bool(self.text[begin:end].strip()))


class Nesting(Generic[T]):
    """The blocks around a position, in a text that is gone through from front to back."""

    def __init__(self) -> None:
        self._around: list[tuple[int, T]] = []

    def enter(self, end: int, what: T) -> None:
        """Take in a block that ends at `end`."""
        self._around.append((end, what))

    def at(self, position: int) -> tuple[T, ...]:
        """The blocks that have not ended before `position`, the inner MAX_DEPTH, inner last."""
        while self._around and self._around[-1][0] <= position:
            self._around.pop()
        return tuple(what for _, what in self._around[-MAX_DEPTH:])


def _blank(match: re.Match[str]) -> str:
    token = match.group()
    inner = re.sub(r"[^\n]", " ", token)
    if token.startswith(("//", "/*")) or len(token) < 2:
        return inner
    if token[0] in "\"'`" and token[-1] == token[0]:
        return token[0] + inner[1:-1] + token[-1]
    return inner
