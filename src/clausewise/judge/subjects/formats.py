"""Formats of strings that messages carry: base64, media types, URIs."""

from __future__ import annotations

import binascii
import re
from dataclasses import dataclass
from functools import lru_cache

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z", re.ASCII)
_FORBIDDEN = re.compile(r"[^A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=%]", re.ASCII)
_PLACED = re.compile(r"[^:]*:(?://[^/?#]*)?[^\[\]#]*(?:#[^\[\]#]*)?\Z")
_BAD_TRIPLET = re.compile(r"%(?![0-9A-Fa-f]{2})", re.ASCII)
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER = rf'{_TOKEN}=(?:{_TOKEN}|"(?:[^"\\\x00-\x08\x0a-\x1f\x7f]|\\[\t -~])*")'
_MEDIA_TYPE = re.compile(rf"({_TOKEN})/{_TOKEN}(?:[ \t]*;[ \t]*(?:{_PARAMETER})?)*", re.ASCII)
_LAST_QUANTUM = 4

MAX_KNOWN = 256
"""Characters of a URI whose fault is remembered."""


@dataclass(frozen=True, slots=True)
class Base64Fault:
    """What is wrong with a text that should be base64; `grave` unless decoders agree on it."""

    seen: str
    grave: bool = True


def base64_fault(text: str) -> Base64Fault | None:
    """Why `text` is no base64 with its padding (RFC 4648, section 4), or None.

    Bits that the padding leaves over and that are not zero are no grave fault.
    """
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except ValueError:
        return Base64Fault(_base64_trouble(text))
    end = text[-_LAST_QUANTUM:]
    if end.endswith("=") and binascii.b2a_base64(binascii.a2b_base64(end), newline=False) != (
        end.encode("ascii")
    ):
        return Base64Fault("bits beyond the data that are not zero", grave=False)
    return None


def _base64_trouble(text: str) -> str:
    if text[:5].lower() == "data:":
        return "a data: URI"
    if any(char.isspace() for char in text):
        return "line breaks or spaces"
    if "-" in text or "_" in text:
        return "the URL-safe alphabet"
    if len(text) % _LAST_QUANTUM:
        return f"{len(text)} characters, no multiple of 4"
    return "characters outside the alphabet, or misplaced padding"


def media_type_class(text: str) -> str | None:
    """The type of a media type (`image` of `image/png`), lower case; None if it is none.

    Parameters are allowed (RFC 9110, section 8.3.1).
    """
    found = _MEDIA_TYPE.fullmatch(text)
    return found[1].lower() if found is not None else None


def uri_fault(text: str) -> str | None:
    """Why `text` is no URI with a scheme (RFC 3986, sections 2 and 3.1), or None."""
    return (_known_uri_fault if len(text) <= MAX_KNOWN else _uri_fault)(text)


def _uri_fault(text: str) -> str | None:
    return _scheme_fault(text) or _character_fault(text)


_known_uri_fault = lru_cache(maxsize=1024)(_uri_fault)
"""A session names the same resources again and again."""


def uri_template_fault(text: str) -> str | None:
    """Why the part of a URI template before its first expression begins no URI, or None.

    Templates that begin with an expression (RFC 6570) may yield any scheme.
    """
    literal, brace, _ = text.partition("{")
    if not brace:
        return uri_fault(text)
    if ":" not in literal and (not literal or _SCHEME.match(literal)):
        return None
    return uri_fault(literal)


def scheme_of(text: str) -> str | None:
    """The scheme of a URI, lower case; None if it has none."""
    scheme, colon, _ = text.partition(":")
    return scheme.lower() if colon and _SCHEME.match(scheme) else None


def _scheme_fault(text: str) -> str | None:
    scheme, colon, _ = text.partition(":")
    if not colon or "/" in scheme or "?" in scheme or "#" in scheme:
        return "no scheme"
    return None if _SCHEME.match(scheme) else "a malformed scheme"


def _character_fault(text: str) -> str | None:
    found = _FORBIDDEN.search(text)
    if found is not None:
        return f"the character {found[0]!a}"
    if _BAD_TRIPLET.search(text):
        return "a % without two hexadecimal digits"
    return None if _PLACED.match(text) else "brackets outside the host, or a second #"
