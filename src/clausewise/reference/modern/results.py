"""What every modern result carries beside its own members."""

from __future__ import annotations

from clausewise.reference.identity import SERVER_INFO
from clausewise.reference.messages import JsonObject
from clausewise.reference.modern.parts import Incoming
from clausewise.wire.meta import META_SERVER_INFO

_FIVE_MINUTES_MS = 300_000

CACHE_SCOPES = {
    "server/discover": "public",
    "tools/list": "public",
    "prompts/list": "public",
    "resources/list": "public",
    "resources/templates/list": "public",
    "resources/read": "private",
}
"""The operations whose complete results carry caching hints, with the scope of each."""


def dress(incoming: Incoming, result: JsonObject) -> JsonObject:
    """`result` with resultType, serverInfo and, where due, caching hints.

    Source: basic#responses, basic#_meta, server/utilities/caching#cacheable-results.
    """
    dressed: JsonObject = {"resultType": "complete", **result}
    dressed["_meta"] = {**result.get("_meta", {}), META_SERVER_INFO: SERVER_INFO}
    scope = CACHE_SCOPES.get(incoming.method)
    if scope is not None and dressed["resultType"] == "complete":
        dressed |= {"ttlMs": _FIVE_MINUTES_MS, "cacheScope": scope}
    return dressed
