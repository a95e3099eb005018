"""Values that the server coined: what stood in the recording, and what stands there now.

A client sends some of them back: cursors, task ids, request states, progress tokens of the
server's requests, keys of input requests. Where it did so in the recording, the new value goes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

_COINED: Mapping[str, str] = {
    "nextCursor": "cursor",
    "cursor": "cursor",
    "taskId": "taskId",
    "requestState": "requestState",
    "progressToken": "progressToken",
    "elicitationId": "elicitationId",
}
"""Members whose value its maker chooses, each with the kind of value it holds."""

TIMES = frozenset({"createdAt", "lastUpdatedAt", "lastModified", "timestamp"})
"""Members that hold a moment, which is another each time."""

_INPUT_REQUESTS = "inputRequests"
_INPUT_RESPONSES = "inputResponses"
_MOST_STEPS = 100_000
_DEEPEST = 100


def is_coined(name: str) -> bool:
    """Whether the member `name` holds a value that only its maker can give."""
    return name in _COINED


class Bindings:
    """Recorded values with the live ones that stand for them."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str | int | float], Any] = {}

    def learn(self, recorded: Any, live: Any) -> None:
        """Take the values that the server coined out of a message and its counterpart."""
        for kind, old, new in _pairs(recorded, live):
            if _may_be_coined(old):
                self._values[kind, old] = new

    def rebound(self, payload: Any) -> Any:
        """`payload` with live values for recorded ones; the same object when there are none."""
        if not self._values:
            return payload
        return self._rebound(payload, 0)

    def _rebound(self, value: Any, depth: int) -> Any:
        if depth > _DEEPEST:
            return value
        if isinstance(value, list):
            items = [self._rebound(item, depth + 1) for item in value]
            return items if _differ(items, value) else value
        if isinstance(value, dict):
            made = {name: self._member(name, value[name], depth) for name in value}
            return made if _differ(made.values(), value.values()) else value
        return value

    def _member(self, name: str, value: Any, depth: int) -> Any:
        kind = _COINED.get(name)
        if kind is not None and _may_be_coined(value):
            return self._values.get((kind, value), value)
        if name == _INPUT_RESPONSES and isinstance(value, dict):
            return {
                self._values.get((_INPUT_REQUESTS, key), key): self._rebound(member, depth + 1)
                for key, member in value.items()
            }
        return self._rebound(value, depth + 1)


def _may_be_coined(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _differ(made: Iterable[Any], given: Iterable[Any]) -> bool:
    """Whether any value was replaced."""
    return any(new is not old for new, old in zip(made, given, strict=True))


def _pairs(recorded: Any, live: Any) -> Iterator[tuple[str, Any, Any]]:
    """Coined values that stand at the same place in both, with their kind."""
    waiting = [(recorded, live)]
    for _ in range(_MOST_STEPS):
        if not waiting:
            return
        old, new = waiting.pop()
        if isinstance(old, dict) and isinstance(new, dict):
            for name in old.keys() & new.keys():
                if name in _COINED:
                    yield _COINED[name], old[name], new[name]
                elif name == _INPUT_REQUESTS:
                    yield from _input_request_keys(old[name], new[name])
            waiting += [(old[name], new[name]) for name in old.keys() & new.keys()]
        elif isinstance(old, list) and isinstance(new, list):
            waiting += zip(old, new, strict=False)


def _input_request_keys(old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Keys of input requests, matched by method and order where the names differ."""
    if not isinstance(old, dict) or not isinstance(new, dict):
        return
    free = [key for key in new if key not in old]
    for key, request in old.items():
        if key in new:
            continue
        match = next((k for k in free if _method(new[k]) == _method(request)), None)
        if match is not None:
            free.remove(match)
            yield _INPUT_REQUESTS, key, match


def _method(request: Any) -> Any:
    return request.get("method") if isinstance(request, dict) else None
