"""Results that may be used again while they are fresh.

Source: 2026-07-28, server/utilities/caching.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import anyio

from clausewise.reference.messages import JsonObject

CACHEABLE = frozenset(
    {
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/templates/list",
        "server/discover",
        "tools/list",
    }
)
_CHANGES = {
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
    "notifications/resources/updated": ("resources/read",),
    "notifications/tools/list_changed": ("tools/list",),
}
_MAX_RESULTS = 1000


class ResultCache:
    """Responses by method and parameters, each with the time until which it is fresh.

    There is one authorization context, so that private results may be kept, too; `clear` it
    when that context changes. `clock` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = anyio.current_time) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str], tuple[float, JsonObject]] = {}

    def find(self, method: str, params: JsonObject | None) -> JsonObject | None:
        """The response kept for exactly this request, if it is still fresh."""
        until, response = self._kept.get(_key(method, params), (0.0, None))
        return response if response is not None and self._clock() < until else None

    def keep(self, method: str, params: JsonObject | None, response: JsonObject) -> None:
        """Keep a complete result for as long as it says, which may be not at all."""
        result = response.get("result")
        lifetime = result.get("ttlMs") if isinstance(result, dict) else None
        if method not in CACHEABLE or isinstance(lifetime, bool):
            return
        if isinstance(lifetime, int | float) and lifetime > 0 and len(self._kept) < _MAX_RESULTS:
            until = self._clock() + lifetime / 1000
            self._kept[_key(method, params)] = (until, response)

    def heed(self, notification: JsonObject) -> None:
        """Forget what a notification says has changed."""
        for method in _CHANGES.get(str(notification.get("method")), ()):
            self.forget(method)

    def forget(self, method: str) -> None:
        """Forget all results of one method."""
        self._kept = {key: kept for key, kept in self._kept.items() if key[0] != method}

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()


def _key(method: str, params: JsonObject | None) -> tuple[str, str]:
    members = {name: value for name, value in (params or {}).items() if name != "_meta"}
    return method, json.dumps(members, sort_keys=True)
