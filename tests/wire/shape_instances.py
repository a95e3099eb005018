"""Values made from a JSON Schema, and faulty variants of them: what the oracle tests feed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

REPLACEMENTS: tuple[Any, ...] = (
    None,
    True,
    0,
    1.0,
    1.5,
    -1,
    2**70,
    "",
    "text",
    "http://example.com/a",
    "no uri {",
    [],
    [None],
    ["a"] * 101,
    {},
    {"type": "object", "_meta": None},
)
"""What each part of a value is replaced with, one at a time."""

ADDITIONS: tuple[Any, ...] = (None, {}, "x")
"""What members that were not there are added as."""


@dataclass(frozen=True, slots=True)
class Maker:
    """Makes instances of the schemas in `definitions`.

    `optional` is the chance that an optional member is there: 0, 1 or between. Alternatives
    and enum values are taken in turn, the first of each on `turn` 0.
    """

    definitions: Mapping[str, Any]
    random: Random
    optional: float
    turn: int

    def make(self, schema: Mapping[str, Any], depth: int = 0) -> Any:
        """An instance of `schema`; values of no particular shape are small objects."""
        if "$ref" in schema:
            return self.make(self.definitions[schema["$ref"].removeprefix("#/$defs/")], depth + 1)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][self.turn % len(schema["enum"])]
        if "anyOf" in schema:
            return self.make(schema["anyOf"][self.turn % len(schema["anyOf"])], depth + 1)
        if "allOf" in schema:
            parts = [self.make(part, depth + 1) for part in schema["allOf"]]
            return {key: value for part in parts for key, value in part.items()}
        return self._typed(schema, depth)

    def _typed(self, schema: Mapping[str, Any], depth: int) -> Any:
        kinds = schema.get("type", "object")
        kind = kinds if isinstance(kinds, str) else self.random.choice(kinds)
        if kind == "object":
            return self._object(schema, depth)
        if kind == "array":
            count = 0 if depth > 12 else self.random.randint(1, 2)
            return [self.make(schema.get("items", {}), depth + 1) for _ in range(count)]
        if kind == "string":
            formats = {"uri": "file:///a%20b?c=d", "uri-template": "file:///{path}"}
            return formats.get(schema.get("format", ""), self.random.choice(("", "a", "ü\n")))
        if kind == "number":
            return self.random.choice((0, 1, 0.5, 1.0))
        if kind == "integer":
            return self.random.choice((0, 1, 1.0, 2**53 + 1))
        return self.random.choice((True, False)) if kind == "boolean" else None

    def _object(self, schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        made = {
            name: self.make(part, depth + 1)
            for name, part in schema.get("properties", {}).items()
            if name in required or (depth < 8 and self.random.random() < self.optional)
        }
        others = schema.get("additionalProperties")
        if isinstance(others, Mapping) and others and depth < 8:
            made["other"] = self.make(others, depth + 1)
        return made


def variants(value: Any) -> Iterator[Any]:
    """`value` with one change at a time, in place: each is undone when the next is drawn.

    Every part is replaced, dropped, renamed and doubled, and members are added.
    """
    for container in list(_containers(value)):
        places = list(container) if isinstance(container, dict) else range(len(container))
        for place in places:
            yield from _replaced(value, container, place)
        if isinstance(container, dict):
            yield from _reshaped(value, container)
        elif container:
            container.append(container[0])
            yield value
            container.pop()


def _replaced(value: Any, container: Any, place: Any) -> Iterator[Any]:
    kept = container[place]
    for replacement in (*REPLACEMENTS, [kept], {"type": kept}):
        container[place] = replacement
        yield value
    container[place] = kept


def _reshaped(value: Any, container: dict[str, Any]) -> Iterator[Any]:
    for name in list(container):
        kept = container.pop(name)
        yield value
        container[f"{name}_"] = kept
        yield value
        del container[f"{name}_"]
        container[name] = kept
    for name in ("other", "_meta", "type", "mode", "task"):
        if name not in container:
            for added in ADDITIONS:
                container[name] = added
                yield value
            del container[name]


def _containers(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield value
        for part in value.values():
            yield from _containers(part)
    elif isinstance(value, list):
        yield value
        for part in value:
            yield from _containers(part)
