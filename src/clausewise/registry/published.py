"""The text of a specification page as the published site shows it, made from its MDX source."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_COMMENT = re.compile(r"\{/\*.*?\*/\}|<!--.*?-->", re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\w*)")
_HEADING = re.compile(r"^\s*(#{1,6})\s+(.*?)\s*#*$")
_BULLET = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_QUOTE_MARK = re.compile(r"^\s*(?:>\s?)+")
_TABLE_RULE = re.compile(r"^\s*\|?[\s:|-]+\|[\s:|-]*$")
_IMPORT = re.compile(r"^(?:import|export)\s")
_INLINE_CODE = re.compile(r"(`+)(.+?)\1")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?:[^()]|\([^)]*\))*\)")
_REFERENCE = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])+)\]\[[^\[\]]*\]")
_DEFINITION = re.compile(r"^\s*\[[^\]]+\]:\s+\S+\s*$")
_MEMBER = re.compile(r"(?=<section\b)")
_MEMBER_ID = re.compile(r'^\s*<section\b[^>]*>\s*<div [^>]*\bid="([^"]+)"')
_MEMBER_LEVEL = 7
_INLINE_TAG = re.compile(r"</?(?:a|b|code|em|i|kbd|span|strong|sub|sup)(?:\s[^<>]*)?>")
_TAG = re.compile(r"</?[A-Za-z][^<>]*?/?>")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)(.+?)(?<=\S)\1(?![\w*])")
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])")
_SPACE = re.compile(r"\s+")
_NOT_IN_ANCHOR = re.compile(r"[^\w\s$&+/-]")
_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "\u00a0": " "})
_KEPT = "\ue000{}\ue001"
_KEPT_PLACE = re.compile("\ue000(\\d+)\ue001")


@dataclass(frozen=True, slots=True)
class PublishedPage:
    """The running text of a page and where each of its headings begins.

    `text` has single spaces, straight quotes and no markup. `anchors` gives each heading's
    id with the offset of its section in `text`, in the order of the page; `ends` gives the
    offset at which the section ends (the next heading of the same or a higher level).
    """

    text: str
    anchors: Mapping[str, int]
    ends: Mapping[str, int]

    def section(self, anchor: str) -> tuple[int, int]:
        """Start and end offset of the section of `anchor`; the whole page for an empty one.

        Raises:
            KeyError: the page has no such heading.
        """
        if not anchor:
            return 0, len(self.text)
        return self.anchors[anchor], self.ends[anchor]


def plain(text: str) -> str:
    """`text` with single spaces and straight quotes, as `PublishedPage.text` has it."""
    return _SPACE.sub(" ", text.translate(_PLAIN)).strip()


def published(source: str) -> PublishedPage:
    """The published form of one MDX page."""
    parts: list[str] = []
    length = 0
    headings: list[tuple[str, int, int]] = []
    seen: dict[str, int] = {}
    for level, line in _lines(_COMMENT.sub("", _FRONT_MATTER.sub("", source))):
        member = _MEMBER_ID.match(line) if level == _MEMBER_LEVEL else None
        shown = plain(line if member is None else _inline(line))
        if level:
            name = _unused(_anchor(shown), seen) if member is None else html.unescape(member[1])
            headings.append((name, level, length))
        if shown:
            parts.append(shown)
            length += len(shown) + 1
    text = " ".join(parts)
    return PublishedPage(
        text,
        {name: start for name, _, start in headings},
        dict(_section_ends(headings, len(text))),
    )


def _section_ends(headings: list[tuple[str, int, int]], total: int) -> Iterable[tuple[str, int]]:
    for index, (name, level, _) in enumerate(headings):
        following = (start for _, other, start in headings[index + 1 :] if other <= level)
        yield name, next(following, total)


def _lines(source: str) -> Iterable[tuple[int, str]]:
    """Each paragraph, heading or code line with its heading level (0: no heading).

    A member of a type on the schema page is a heading below all others, its text included.
    """
    fence = ""
    drawn = False
    for paragraph in _paragraphs(source):
        opening = _FENCE.match(paragraph)
        if opening and (not fence or paragraph.strip().startswith(fence)):
            drawn = not fence and opening[2] == "mermaid"
            fence = "" if fence else opening[1]
        elif fence:
            yield 0, "" if drawn else paragraph
        else:
            heading = _HEADING.match(paragraph)
            if heading:
                yield len(heading[1]), _inline(heading[2])
            elif _MEMBER_ID.match(paragraph):
                yield _MEMBER_LEVEL, paragraph
            else:
                yield 0, _inline(paragraph)


def _paragraphs(source: str) -> Iterable[str]:
    """Logical lines: wrapped prose joined, so that markup across a line break is whole."""
    pending: list[str] = []
    fenced = False
    for line in _MEMBER.sub("\n", source).splitlines():
        is_fence = bool(_FENCE.match(line))
        alone = fenced or is_fence or not line.strip() or bool(_HEADING.match(line))
        if alone or _starts_block(line):
            if pending:
                yield " ".join(pending)
            pending = []
        if is_fence:
            fenced = not fenced
        if alone:
            yield line
        elif not (_IMPORT.match(line) or _TABLE_RULE.match(line) or _DEFINITION.match(line)):
            pending.append(_block_text(line))
    if pending:
        yield " ".join(pending)


def _starts_block(line: str) -> bool:
    starts_with = line.lstrip().startswith(("|", "<section"))
    return bool(_BULLET.match(line) or _QUOTE_MARK.match(line) or starts_with)


def _block_text(line: str) -> str:
    bare = _BULLET.sub("", _QUOTE_MARK.sub("", line))
    if bare.lstrip().startswith("|"):
        return re.sub(r"(?<!\\)\|", " ", bare)
    return bare.strip()


def _inline(text: str) -> str:
    """`text` without inline markup; code spans and escaped characters are kept to the letter."""
    kept: list[str] = []

    def set_aside(literal: str) -> str:
        kept.append(literal)
        return _KEPT.format(len(kept) - 1)

    text = _INLINE_CODE.sub(lambda code: set_aside(code[2].strip().replace(r"\|", "|")), text)
    text = _ESCAPE.sub(lambda escaped: set_aside(escaped[1]), text)
    text = _REFERENCE.sub(r"\1", _LINK.sub(r"\1", _IMAGE.sub("", text)))
    text = _TAG.sub(" ", _INLINE_TAG.sub("", text))
    text = _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text))
    return _KEPT_PLACE.sub(lambda place: kept[int(place[1])], html.unescape(text))


def _anchor(heading: str) -> str:
    return _NOT_IN_ANCHOR.sub("", heading.lower()).strip().replace(" ", "-")


def _unused(anchor: str, seen: dict[str, int]) -> str:
    seen[anchor] = seen.get(anchor, 0) + 1
    return anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor]}"
