"""The `x-mcp-header` annotations of a tool, and the headers that they ask a client for.

Source: 2026-07-28, basic/transports/streamable-http, sections Schema Extension and Value
Encoding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clausewise.judge.subjects.schema_documents import Place, subschemas
from clausewise.wire import sentinel

KEYWORD = "x-mcp-header"
HEADER_PREFIX = "Mcp-Param-"
MAX_SUBSCHEMAS = 50_000
"""How many schemas one input schema may hold to be searched for annotations."""

PRIMITIVES = frozenset({"string", "integer", "boolean"})
"""The types of parameters that may be annotated."""

SAFE_INTEGER = 2**53 - 1
"""The largest integer that JavaScript keeps exact."""

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Annotation:
    """One `x-mcp-header`: its value, the place of the schema that has it, and that schema."""

    value: Any
    place: Place
    schema: Mapping[str, Any]

    @property
    def parameter(self) -> tuple[str, ...] | None:
        """The names that lead to the parameter in `arguments`, outermost first.

        None when `properties` alone do not lead there, so that no header can be made of it.
        """
        if not self.place or any(keyword != "properties" for keyword, _ in self.place):
            return None
        return tuple(str(name) for _, name in self.place)

    @property
    def where(self) -> str:
        """The place as a JSON Pointer."""
        steps = (step for pair in self.place for step in pair if step is not None)
        return "".join(f"/{str(s).replace('~', '~0').replace('/', '~1')}" for s in steps) or "/"

    @property
    def has_control_character(self) -> bool:
        return isinstance(self.value, str) and _CONTROL.search(self.value) is not None

    @property
    def is_token(self) -> bool:
        """Whether the value is a token (RFC 9110, section 5.6.2)."""
        return isinstance(self.value, str) and _TOKEN.fullmatch(self.value) is not None

    @property
    def types(self) -> tuple[Any, ...]:
        """The types that the parameter declares; none when it declares no `type`."""
        declared = self.schema.get("type", ())
        return tuple(declared) if isinstance(declared, list | tuple) else (declared,)

    @property
    def has_primitive_type(self) -> bool:
        """Whether the declared types are among those that may be annotated, or null beside one."""
        kinds = {str(kind) for kind in self.types if kind != "null"}
        return kinds <= PRIMITIVES and (bool(kinds) or not self.types)

    @property
    def header(self) -> str:
        """The name of the header."""
        return f"{HEADER_PREFIX}{self.value}"

    def value_in(self, arguments: Any) -> Any:
        """The argument that the header mirrors, or None where there is none."""
        for name in self.parameter or ():
            arguments = arguments.get(name) if isinstance(arguments, dict) else None
        return arguments if self.parameter else None


def annotations_of(tool: Mapping[str, Any]) -> tuple[Annotation, ...] | None:
    """Every annotation in a tool's input schema, wherever it stands.

    None when the schema is too large to search.
    """
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        return ()
    found: list[Annotation] = []
    for count, (place, part) in enumerate(subschemas(schema)):
        if count >= MAX_SUBSCHEMAS:
            return None
        if KEYWORD in part:
            found.append(Annotation(part[KEYWORD], place, part))
    return tuple(sorted(found, key=lambda one: one.where))


def collisions(annotations: Sequence[Annotation]) -> tuple[str, ...]:
    """The header names, in lower case, that several annotations give; ASCII case is no difference.

    What is no token gives no header name.
    """
    names = (one.value.lower() for one in annotations if one.is_token)
    return tuple(sorted(name for name, times in Counter(names).items() if times > 1))


def is_sound(tool: Mapping[str, Any]) -> bool:
    """Whether a client may offer the tool: all of its annotations keep the constraints."""
    annotations = annotations_of(tool)
    if annotations is None or collisions(annotations):
        return False
    return all(
        one.is_token and one.parameter is not None and one.types and one.has_primitive_type
        for one in annotations
    )


def header_value(value: Any) -> str | None:
    """The header value that mirrors an argument, or None for one that no header carries."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return sentinel.encode(value) if isinstance(value, str) else None


def parameter_headers(tool: Mapping[str, Any], arguments: Any) -> dict[str, str]:
    """The `Mcp-Param-*` headers that a call of `tool` carries, by name."""
    headers: dict[str, str] = {}
    for annotation in annotations_of(tool) or ():
        value = header_value(annotation.value_in(arguments))
        if annotation.is_token and value is not None:
            headers[annotation.header] = value
    return headers
