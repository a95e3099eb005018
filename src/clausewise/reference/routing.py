"""Which era a message belongs to.

Source: 2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions.
"""

from __future__ import annotations

from clausewise.core.vocabulary import LEGACY_REVISIONS, Era
from clausewise.reference.http_layer import HttpRequest
from clausewise.reference.messages import JsonObject
from clausewise.wire.meta import META_CAPABILITIES, META_CLIENT_INFO, META_VERSION

_MODERN_KEYS = frozenset({META_VERSION, META_CAPABILITIES, META_CLIENT_INFO})


def has_modern_metadata(message: JsonObject) -> bool:
    """Whether `params._meta` carries a per-request protocol field of the modern era."""
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and not _MODERN_KEYS.isdisjoint(meta)


def era_over_http(message: JsonObject, request: HttpRequest, served: Era) -> Era:
    """MODERN or LEGACY for a message that came by POST.

    On a dual-era server modern metadata decides. Without it, a version header that names no
    legacy revision asks for the modern era, unless the message belongs to a session.
    """
    if served is not Era.DUAL:
        return served
    if has_modern_metadata(message):
        return Era.MODERN
    version = request.value("mcp-protocol-version")
    in_session = request.value("mcp-session-id") is not None
    if version is None or version in LEGACY_REVISIONS or in_session:
        return Era.LEGACY
    return Era.MODERN


def era_over_stdio(message: JsonObject, served: Era, *, in_session: bool) -> Era:
    """MODERN or LEGACY for a line on stdin; `in_session` tells whether `initialize` came."""
    if served is not Era.DUAL:
        return served
    if has_modern_metadata(message):
        return Era.MODERN
    opens_session = message.get("method") in ("initialize", "ping")
    return Era.LEGACY if in_session or opens_session else Era.MODERN
