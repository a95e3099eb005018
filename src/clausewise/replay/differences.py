"""How an answer differs from the recorded one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from clausewise.replay.bindings import TIMES, is_coined

_MOST = 20
_SHOWN_CHARACTERS = 120
_DEEPEST = 100


def differences(recorded: Any, live: Any) -> tuple[str, ...]:
    """What differs between two responses, as `path: recorded → live`; at most 20 of them.

    Values that each server coins (ids, cursors, moments) are no differences; their absence is.
    """
    found: list[str] = []
    for difference in _walk("", recorded, live, 0):
        if len(found) == _MOST:
            found.append("and more")
            break
        found.append(difference)
    return tuple(found)


def _walk(path: str, old: Any, new: Any, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        yield f"{path}: nested too deeply to compare"
    elif isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys((*old, *new)):
            if not _is_free(name, old, new):
                place = f"{path}/{name}"
                if name in old and name in new:
                    yield from _walk(place, old[name], new[name], depth + 1)
                else:
                    yield f"{place}: {_shown(old, name)} → {_shown(new, name)}"
    elif isinstance(old, list) and isinstance(new, list):
        for index, (before, after) in enumerate(zip(old, new, strict=False)):
            yield from _walk(f"{path}/{index}", before, after, depth + 1)
        if len(old) != len(new):
            yield f"{path or '/'}: {len(old)} items → {len(new)} items"
    elif type(old) is not type(new) or old != new:
        yield f"{path or '/'}: {_shorter(old)} → {_shorter(new)}"


def _is_free(name: str, old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether the servers need not agree on the member, since each coins its value."""
    return name in old and name in new and (is_coined(name) or name in TIMES)


def _shown(members: dict[str, Any], name: str) -> str:
    return _shorter(members[name]) if name in members else "absent"


def _shorter(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "a deeply nested value"
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
