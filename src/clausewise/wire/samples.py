"""Make up arguments that fit a tool's input schema, where that is plain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

_DEPTH = 4

IMPOSSIBLE: Final = object()
"""No value can be made up."""


def sample_arguments(schema: Any) -> Mapping[str, Any] | None:
    """The required members that `schema` (an object schema) asks for, or None.

    None means that no value can be made up with certainty: references, patterns,
    conditions.
    """
    if not isinstance(schema, dict):
        return None
    value = _object(schema, _DEPTH)
    return value if isinstance(value, dict) else None


def sample_value(schema: Any) -> Any:
    """A value that fits `schema`, or `IMPOSSIBLE` when none can be made up with certainty."""
    return _sample(schema, _DEPTH)


def _sample(schema: Any, depth: int) -> Any:
    if schema is True or schema == {}:
        return ""
    if not isinstance(schema, dict) or depth == 0:
        return IMPOSSIBLE
    given = _given(schema)
    if given is not IMPOSSIBLE:
        return given
    if any(key in schema for key in ("$ref", "allOf", "not", "if", "$dynamicRef")):
        return IMPOSSIBLE
    for key in ("anyOf", "oneOf"):
        choices = schema.get(key)
        if isinstance(choices, list) and choices:
            return _sample(choices[0], depth - 1)
    kinds = schema.get("type")
    kind = kinds[0] if isinstance(kinds, list) and kinds else kinds
    maker = _MAKERS.get(kind) if isinstance(kind, str) else None
    return maker(schema, depth) if maker is not None else IMPOSSIBLE


def _given(schema: Mapping[str, Any]) -> Any:
    """A value that the schema itself offers."""
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("examples", "enum"):
        values = schema.get(key)
        if isinstance(values, list) and values:
            return values[0]
    return IMPOSSIBLE


def _object(schema: Mapping[str, Any], depth: int) -> Any:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return IMPOSSIBLE
    if any(key in schema for key in ("allOf", "anyOf", "oneOf", "if", "$ref", "minProperties")):
        return IMPOSSIBLE
    made = {
        name: _sample(properties.get(name), depth - 1) for name in required if name in properties
    }
    complete = len(made) == len(required) and IMPOSSIBLE not in made.values()
    return made if complete else IMPOSSIBLE


def _string(schema: Mapping[str, Any], _: int) -> Any:
    if "pattern" in schema or "format" in schema:
        return IMPOSSIBLE
    least = schema.get("minLength", 0)
    return "a" * max(1, least) if type(least) is int and least <= 1000 else IMPOSSIBLE


def _number(schema: Mapping[str, Any], _: int) -> Any:
    if "multipleOf" in schema or "exclusiveMaximum" in schema:
        return IMPOSSIBLE
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0))
    high = schema.get("maximum")
    if type(low) not in (int, float) or (high is not None and type(high) not in (int, float)):
        return IMPOSSIBLE
    value = int(low) + 1 if "exclusiveMinimum" in schema else -int(-low // 1)
    if high is not None and "minimum" not in schema:
        value = min(value, int(high // 1))
    return value if high is None or value <= high else IMPOSSIBLE


def _array(schema: Mapping[str, Any], depth: int) -> Any:
    least = schema.get("minItems", 0)
    if type(least) is not int or least > 10:
        return IMPOSSIBLE
    items = [_sample(schema.get("items", True), depth - 1) for _ in range(least)]
    return IMPOSSIBLE if IMPOSSIBLE in items else items


_MAKERS: Mapping[str, Callable[[Mapping[str, Any], int], Any]] = {
    "object": _object,
    "string": _string,
    "number": _number,
    "integer": _number,
    "array": _array,
    "boolean": lambda _schema, _depth: False,
    "null": lambda _schema, _depth: None,
}
