"""What a source file holds: tests, and groups of tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

ANY = "*"
"""A segment or a part of a title that only a run can tell."""


class Naming(Enum):
    """How reports name the tests of a language."""

    IDENTIFIERS = "class and function names"
    PATHS = "package path and names with slashes"
    TITLES = "titles in words"


@dataclass(frozen=True, slots=True)
class Block:
    """A test, or a group of tests, in a source file.

    Attributes:
        naming: how reports name it.
        segments: its qualified name: package, module or file, classes, then its own name; of
            a titled test the titles of its groups and its own.
        area: first and last line, with the comments and annotations directly above: a tag
            there is a tag of this block.
        is_test: whether it is a test and no group.
        span: of a group, the lines whose tests belong to it.
        names: other names that reports may use in place of the last segment.
    """

    naming: Naming
    segments: tuple[str, ...]
    area: tuple[int, int]
    is_test: bool = True
    span: tuple[int, int] = (0, 0)
    names: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name as people say it."""
        if self.naming is Naming.TITLES:
            return " > ".join(self.segments)
        return self.segments[-1]


def tests_at(blocks: Sequence[Block], line: int) -> tuple[Block, ...]:
    """The tests that a tag on `line` is about: the innermost, or all of the innermost group."""
    around = [block for block in blocks if block.area[0] <= line <= block.area[1]]
    if not around:
        return ()
    inner = min(around, key=lambda block: (block.area[1] - block.area[0], not block.is_test))
    if inner.is_test:
        return (inner,)
    first, last = inner.span
    return tuple(b for b in blocks if b.is_test and first <= b.area[0] and b.area[1] <= last)
