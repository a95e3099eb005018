"""Make a target's text safe to show: nothing it says may act on a terminal or hide."""

from __future__ import annotations

import re

_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
_ASCII = {ord("…"): "...", ord("·"): "-"}
_LINKABLE = re.compile(r"https?://[!#-;=?-\[\]_a-z~]+")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """`text` on one line with every control, format and surrogate character escaped.

    Escape sequences, bidirectional overrides and zero-width characters become `\\x1b`,
    `\\u202e` and the like, so what is shown is what is there.
    """
    return _HIDDEN.sub(_escape, text)


def storable(text: str) -> str:
    """`text` with lone surrogates escaped, so that it can be encoded as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def in_ascii(text: str) -> str:
    """`text` for a terminal that has only ASCII: the reports' own signs are spelled out."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def shortened(text: str, limit: int) -> str:
    """`text`, cut to `limit` characters with the number of those left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit].rstrip()} … ({len(text) - limit} more characters)"


def linkable(url: str) -> bool:
    """Whether `url` may be a link: an http URL of visible ASCII characters."""
    return _LINKABLE.fullmatch(url) is not None


def count(number: int, singular: str, plural: str | None = None) -> str:
    """`1 finding`, `2 findings`."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
