"""Header value encoding: `=?base64?…?=` around what a header cannot carry.

Source: 2026-07-28, basic/transports/streamable-http, Value Encoding. It applies to
`Mcp-Name` and `Mcp-Param-*` only.
"""

from __future__ import annotations

import base64
import binascii
import re

_PREFIX = "=?base64?"
_SUFFIX = "?="
_HEADER_SAFE = re.compile(r"[\x20-\x7e\t]*", re.ASCII)


class SentinelError(ValueError):
    """A header value between the markers is no Base64 of UTF-8 text."""


def needs_encoding(value: str) -> bool:
    """Whether `value` must not stand in a header as it is.

    That holds for characters other than visible ASCII, space and tab, for whitespace at
    either end, and for a value that begins and ends with the markers (they may overlap).
    """
    return (
        _HEADER_SAFE.fullmatch(value) is None
        or value != value.strip(" \t")
        or _looks_encoded(value)
    )


def encode(value: str) -> str:
    """The header value for `value`: itself where a header can carry it, else encoded.

    Raises:
        UnicodeEncodeError: `value` holds a lone surrogate, which UTF-8 cannot express.
    """
    if not needs_encoding(value):
        return value
    return wrap(value)


def wrap(value: str) -> str:
    """`value` encoded, whether or not it needs to be; receivers decode either.

    Raises:
        UnicodeEncodeError: `value` holds a lone surrogate, which UTF-8 cannot express.
    """
    return _PREFIX + base64.b64encode(value.encode("utf-8")).decode("ascii") + _SUFFIX


def decode(header: str) -> str:
    """The value that a header value stands for.

    A header value without the exact markers (lower case, both, not overlapping) stands
    for itself.

    Raises:
        SentinelError: what the markers enclose is not Base64 (RFC 4648, section 4: its
            alphabet and its padding) or not UTF-8.
    """
    if not _looks_encoded(header) or len(header) < len(_PREFIX) + len(_SUFFIX):
        return header
    text = header[len(_PREFIX) : -len(_SUFFIX)]
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise SentinelError(f"no Base64: {error}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SentinelError(f"no UTF-8 at byte {error.start}") from None


def _looks_encoded(value: str) -> bool:
    return value.startswith(_PREFIX) and value.endswith(_SUFFIX)
