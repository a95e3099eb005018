"""URLs by their strict grammar: parsers repair what this refuses."""

from __future__ import annotations

import re
from functools import cache
from urllib.parse import quote

import jsonschema_rs

_ASCII = "".join(map(chr, range(0x80)))
_NO_URL_CODE_POINT = re.compile("[\x80-\x9f\ud800-\udfff]")
_WEB_SCHEME = re.compile(r"https?:", re.IGNORECASE)
_WITH_HOST = re.compile(r"https?://(?:[^/?#]*@)?+[^/?#:]", re.IGNORECASE)


@cache
def _uri() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(
        {"format": "uri"}, validate_formats=True, offline=True
    )


def is_url(text: str) -> bool:
    """Whether `text` is an absolute URL, and one with a host if it is a web address.

    That is a URI (RFC 3986, section 3), or a URI but for characters beyond ASCII, which a valid
    URL string of the WHATWG URL standard may have.
    """
    if _NO_URL_CODE_POINT.search(text) is not None:
        return False
    if not _uri().is_valid(quote(text, safe=_ASCII)):
        return False
    return not is_web_address(text) or _WITH_HOST.match(text) is not None


def is_web_address(text: str) -> bool:
    """Whether the scheme of a URL is http or https."""
    return _WEB_SCHEME.match(text) is not None
