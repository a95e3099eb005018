"""Tests of TypeScript and JavaScript: calls of `it` and `test`, in calls of `describe`."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from clausewise.matrix.evidence.code.blocks import ANY, Block, Naming
from clausewise.matrix.evidence.code.masking import SCRIPT, Masked, Nesting

_CALL = re.compile(
    r"(?<![\w.$])(?P<what>describe|suite|context|it|test|specify)(?P<more>(?:\.\w+)*)\s*(?=[(`])"
)
_GROUPS = frozenset({"describe", "suite", "context"})
_REPEATED = frozenset({"each", "for"})
_FILLED = re.compile(r"\$\{[^}]*\}|\$[\w.]+|%[sdifjoOp#$%]")


def blocks_in(path: PurePosixPath, text: str) -> list[Block]:  # noqa: ARG001
    """The tests of a file with the titles of their groups; a computed title is no test."""
    source = Masked(text, SCRIPT)
    found: list[Block] = []
    around = Nesting[str]()
    for match in _CALL.finditer(source.mask):
        opening = _arguments(source, match)
        title = source.string_at(source.after_blank(opening + 1)) if opening is not None else None
        if opening is None or title is None:
            continue
        end = source.end_of(opening)
        titles = (*around.at(match.start()), _FILLED.sub(ANY, _unescaped(title)))
        line = source.line_of(match.start())
        area = (source.lead_of(line), source.line_of(end))
        is_group = match["what"] in _GROUPS
        if is_group:
            around.enter(end, titles[-1])
        found.append(Block(Naming.TITLES, titles, area, not is_group, area if is_group else (0, 0)))
    return found


def _arguments(source: Masked, match: re.Match[str]) -> int | None:
    """Where the parenthesis opens that holds the title: after the table of `it.each(…)`."""
    opening = match.end()
    if not _REPEATED & set(match["more"].split(".")):
        return opening if source.mask[opening] == "(" else None
    if source.mask[opening] == "(":
        end = source.end_of(opening)
    else:
        end = source.mask.find("`", opening + 1)
    following = source.after_blank(end + 1) if end >= 0 else len(source.mask)
    return following if source.mask[following : following + 1] == "(" else None


def _unescaped(title: str) -> str:
    return re.sub(r"\\(.)", r"\1", title)
