"""Tests of Java: methods with a test annotation, in classes."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from clausewise.matrix.evidence.code.blocks import Block, Naming
from clausewise.matrix.evidence.code.masking import JAVA, Masked, Nesting

_PACKAGE = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_START = re.compile(
    r"\b(?:class|record|interface)\s+(?P<type>\w+)[^{;()]{0,400}(?:\([^)]{0,400}\)[^{;]{0,400})?(?=\{)"
    r"|@(?:[\w.]+\.)?(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate)\b"
)
_ANNOTATION = re.compile(r"@[\w.]+\s*")
_METHOD = re.compile(r"[^;{}()=]{0,400}?\b(\w+)\s*(?=\()")
_DISPLAY_NAME = re.compile(r"@DisplayName\s*\(\s*(?=\")")


def blocks_in(path: PurePosixPath, text: str) -> list[Block]:  # noqa: ARG001
    """The tests of a file with package and classes; a display name is another name."""
    source = Masked(text, JAVA)
    declared = _PACKAGE.search(source.mask)
    package = tuple(declared[1].split(".")) if declared else ()
    found: list[Block] = []
    around = Nesting[str]()
    seen = 0
    for match in _START.finditer(source.mask):
        owner = (*package, *around.at(match.start()))
        if match["type"]:
            end = source.end_of(match.end())
            around.enter(end, match["type"])
            area = (source.lead_of(source.line_of(match.start())), source.line_of(end))
            found.append(Block(Naming.IDENTIFIERS, (*owner, match["type"]), area, False, area))
        elif match.start() >= seen:
            seen = _after_annotations(source, match.start())
            test = _test(source, (match.start(), seen), owner)
            found += [test] if test is not None else []
    return found


def _after_annotations(source: Masked, position: int) -> int:
    """Where the declaration begins that the annotations from `position` on belong to."""
    while annotation := _ANNOTATION.match(source.mask, position):
        position = annotation.end()
        if source.mask[position : position + 1] == "(":
            position = source.end_of(position) + 1
        position = source.after_blank(position)
    return position


def _test(source: Masked, annotations: tuple[int, int], owner: tuple[str, ...]) -> Block | None:
    """The method whose annotations stand between two positions; None where none follows them."""
    first, position = source.line_of(annotations[0]), annotations[1]
    method = _METHOD.match(source.mask, position)
    if method is None:
        return None
    end = source.end_of(source.mask.find("{", source.end_of(method.end())))
    first = source.lead_of(first)
    displayed = _DISPLAY_NAME.search(source.mask, *_bounds(source, first, position))
    title = source.string_at(displayed.end()) if displayed else None
    return Block(
        Naming.IDENTIFIERS,
        (*owner, method[1]),
        (first, source.line_of(end)),
        names=(title,) if title else (),
    )


def _bounds(source: Masked, line: int, end: int) -> tuple[int, int]:
    """The text from the beginning of `line` to `end`."""
    begin = end
    while begin > 0 and source.line_of(begin - 1) >= line:
        begin = source.text.rfind("\n", 0, begin - 1) + 1
    return begin, end
