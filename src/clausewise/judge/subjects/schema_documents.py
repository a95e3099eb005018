"""JSON Schema documents that messages carry: their dialect, their faults, without any network."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
import orjson

from clausewise.judge.wording import ABSENT, shown

_GAVE_UP = "Error executing regex"
"""How the engine's message begins when a pattern takes too long to match."""


def gave_up(error: jsonschema_rs.ValidationError) -> bool:
    """Whether the engine only says that it did not come to an end with a pattern."""
    return error.message.startswith(_GAVE_UP)


class Dialect(StrEnum):
    """The dialects whose metaschema is at hand, by the URI of that metaschema."""

    DRAFT_4 = "http://json-schema.org/draft-04/schema"
    DRAFT_6 = "http://json-schema.org/draft-06/schema"
    DRAFT_7 = "http://json-schema.org/draft-07/schema"
    DRAFT_2019_09 = "https://json-schema.org/draft/2019-09/schema"
    DRAFT_2020_12 = "https://json-schema.org/draft/2020-12/schema"


DEFAULT_DIALECT = Dialect.DRAFT_2020_12

_BY_URI = {str(dialect).partition("://")[2]: dialect for dialect in Dialect}
_ONE_SCHEMA = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_SCHEMA_LIST = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_SCHEMA_MAP = frozenset(
    {
        "$defs",
        "definitions",
        "dependencies",
        "dependentSchemas",
        "patternProperties",
        "properties",
    }
)


Place = tuple[tuple[str, str | int | None], ...]
"""Where a schema is in another, from the root: at each step the keyword and, in it, the key."""


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """What is wrong with a schema document; `grave` if its metaschema refuses it.

    `undecidable` holds the reason where this tool cannot tell.
    """

    seen: str
    grave: bool = True
    undecidable: str | None = None


def dialect_of(schema: dict[str, Any]) -> Dialect | None:
    """The dialect that a schema declares or, without `$schema`, 2020-12; None if unknown.

    A trailing `#` and http or https make no difference.
    """
    declared = schema.get("$schema", ABSENT)
    if declared is ABSENT:
        return DEFAULT_DIALECT
    if not isinstance(declared, str):
        return DEFAULT_DIALECT
    scheme, _, rest = declared.removesuffix("#").partition("://")
    return _BY_URI.get(rest) if scheme in ("http", "https") else None


def digest(schema: Any) -> bytes:
    """A digest that is equal for equal documents."""
    try:
        text = orjson.dumps(schema, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        try:
            text = repr(schema).encode("utf-8", "backslashreplace")
        except (RecursionError, ValueError):
            text = b"nested too deeply"
    return hashlib.blake2b(text, digest_size=16).digest()


def fault_of(schema: dict[str, Any], dialect: Dialect) -> SchemaFault | None:
    """The first fault of a schema by the metaschema of `dialect`, or a reference into nothing."""
    try:
        error = next(iter(_metaschema(dialect).iter_errors(schema)), None)
    except (ValueError, TypeError, RecursionError) as refusal:
        return SchemaFault("", undecidable=f"the schema cannot be read: {type(refusal).__name__}")
    if error is not None:
        place = "/".join(str(part) for part in error.instance_path) or "the root"
        return SchemaFault(f"at {place}: {shown(error.instance)}")
    return _dangling_reference(schema)


@cache
def _metaschema(dialect: Dialect) -> jsonschema_rs.Validator:
    """A validator of schema documents; references to metaschemas resolve inside the library."""
    classes = {
        Dialect.DRAFT_4: jsonschema_rs.Draft4Validator,
        Dialect.DRAFT_6: jsonschema_rs.Draft6Validator,
        Dialect.DRAFT_7: jsonschema_rs.Draft7Validator,
        Dialect.DRAFT_2019_09: jsonschema_rs.Draft201909Validator,
        Dialect.DRAFT_2020_12: jsonschema_rs.Draft202012Validator,
    }
    fragment = "#" if dialect in (Dialect.DRAFT_4, Dialect.DRAFT_6, Dialect.DRAFT_7) else ""
    reference = {"$ref": f"{dialect}{fragment}"}
    return classes[dialect](reference, offline=True, validate_formats=False)


def _dangling_reference(schema: dict[str, Any]) -> SchemaFault | None:
    """A local `$ref` that resolves to nothing from the root of this schema."""
    references: list[str] = []
    anchors: set[str] = set()
    for place, part in subschemas(schema):
        if place and isinstance(part.get("$id", part.get("id")), str):
            # A base of its own: what `#/…` below it means depends on where it stands.
            return None if not _has_local_reference(schema) else _NESTED_ID
        reference = part.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            references.append(reference)
        anchors.update(
            value
            for name in ("$anchor", "$dynamicAnchor", "$id")
            if isinstance(value := part.get(name), str)
        )
    for reference in references:
        if not _resolves(schema, reference[1:], anchors):
            return SchemaFault(f"$ref {shown(reference)}", grave=False)
    return None


_NESTED_ID = SchemaFault("", undecidable="a nested $id changes what local references mean")


def _has_local_reference(schema: dict[str, Any]) -> bool:
    references = (part.get("$ref") for _, part in subschemas(schema))
    return any(isinstance(ref, str) and ref.startswith("#") for ref in references)


def subschemas(schema: dict[str, Any]) -> Iterator[tuple[Place, dict[str, Any]]]:
    """A schema and the schemas in it, each with its place; a schema comes before its parts.

    Only keywords that hold schemas are followed: data such as `enum` or `default` is left out.
    """
    stack: list[tuple[Place, Any]] = [((), schema)]
    while stack:
        place, part = stack.pop()
        if not isinstance(part, dict):
            continue
        yield place, part
        for keyword, value in part.items():
            if keyword in _SCHEMA_MAP and isinstance(value, dict):
                stack.extend(((*place, (keyword, key)), each) for key, each in value.items())
            elif keyword in _SCHEMA_LIST and isinstance(value, list):
                stack.extend(((*place, (keyword, index)), v) for index, v in enumerate(value))
            elif keyword in _ONE_SCHEMA:
                stack.append(((*place, (keyword, None)), value))


def _resolves(schema: dict[str, Any], fragment: str, anchors: set[str]) -> bool:
    if not fragment:
        return True
    if not fragment.startswith("/"):
        name = unquote(fragment)
        return name in anchors or f"#{name}" in anchors
    value: Any = schema
    for token in unquote(fragment[1:]).split("/"):
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and len(key) < 10:
            index = int(key)
            if index >= len(value):
                return False
            value = value[index]
        else:
            return False
    return True
