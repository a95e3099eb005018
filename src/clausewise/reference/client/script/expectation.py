"""Compare the outcome of a step with what was expected of it."""

from __future__ import annotations

import json
from typing import Any

from clausewise.reference.client.script.step import Expectation
from clausewise.reference.messages import JsonObject

_MISSING = object()
_TROUBLES = ("error", "fault")
_SHOWN = 200


def complaints(expected: Expectation, outcome: JsonObject) -> tuple[str, ...]:
    """Each difference in words; an error or fault that nothing was expected of is one, too."""
    found: list[str] = []
    for trouble in _TROUBLES:
        named = (trouble == "error" and expected.any_error) or any(
            _first(place) == trouble for place in expected.places
        )
        if trouble in outcome and not named:
            found.append(f"{trouble}: {shown(outcome[trouble])}")
    for place, value in expected.equal.items():
        actual = value_at(outcome, place)
        if actual is _MISSING:
            found.append(f"{place} is missing; expected {shown(value)}")
        elif not same(actual, value):
            found.append(f"{place} is {shown(actual)}; expected {shown(value)}")
    found += [
        f"{place} is missing" for place in expected.present if value_at(outcome, place) is _MISSING
    ]
    for place in expected.absent:
        actual = value_at(outcome, place)
        if actual is not _MISSING:
            found.append(f"{place} is {shown(actual)}; expected nothing there")
    return tuple(found)


def value_at(document: Any, pointer: str) -> Any:
    """The value at a JSON Pointer, or a private marker where there is none (RFC 6901)."""
    value = document
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return _MISSING
    return value


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; true and 1 are not, 1 and 1.0 are."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def shown(value: Any) -> str:
    """A value as JSON text, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _first(pointer: str) -> str:
    return pointer.split("/")[1] if pointer.startswith("/") else ""
