"""Tests of Rust: functions with a test attribute, in modules."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from clausewise.matrix.evidence.code.blocks import Block, Naming
from clausewise.matrix.evidence.code.masking import RUST, Masked, Nesting

_ITEM = re.compile(r"\b(?:fn\s+(?P<function>\w+)|mod\s+(?P<module>\w+)\s*(?=\{))")
_TEST = re.compile(r"#\s*\[\s*(?:\w+\s*::\s*)*(?:test|rstest|test_case|quickcheck|\w+_test)\b")
_NO_MODULE = frozenset({"lib", "main", "mod"})


def blocks_in(path: PurePosixPath, text: str) -> list[Block]:
    """The tests of a file with their modules, the file's own among them."""
    source = Masked(text, RUST)
    found: list[Block] = []
    around = Nesting[str]()
    for match in _ITEM.finditer(source.mask):
        start, name = match.start(), match["function"] or match["module"]
        names = (*_modules(path), *around.at(start), name)
        end = source.end_of(source.mask.find("{", match.end()))
        area = (source.lead_of(source.line_of(start)), source.line_of(end))
        if match["module"]:
            around.enter(end, name)
            found.append(Block(Naming.IDENTIFIERS, names, area, False, area))
        elif _TEST.search(source.mask, _boundary(source.mask, start), start):
            found.append(Block(Naming.IDENTIFIERS, names, area))
    return found


def _boundary(mask: str, position: int) -> int:
    """Where the item before `position` ends: its attributes stand after that."""
    return max(mask.rfind(end, 0, position) for end in ";{}") + 1


def _modules(path: PurePosixPath) -> tuple[str, ...]:
    """The module of a file below `src`; an integration test's file is a crate of its own."""
    parts = path.with_suffix("").parts
    if "src" in parts:
        below = parts[len(parts) - parts[::-1].index("src") :]
        return tuple(part for part in below if part not in _NO_MODULE)
    return (parts[-1],)
