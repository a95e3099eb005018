"""The notation shapes are written in: small functions that yield JSON Schema 2020-12.

Objects are open everywhere, as in the specification: members that a shape does not name
are allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.wire.codes import ErrorCode

Schema = dict[str, Any]
"""A JSON Schema."""

Definitions = Mapping[str, Schema]
"""Schemas by definition name."""

ANY: Schema = {}
STRING: Schema = {"type": "string"}
BOOLEAN: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}
UNIT_INTERVAL: Schema = {"type": "number", "minimum": 0, "maximum": 1}
URI: Schema = {"type": "string", "format": "uri"}
URI_TEMPLATE: Schema = {"type": "string", "format": "uri-template"}

# schema.ts knows only `number`; where no page narrows it, the `integer` of the published
# schema.json is its generator's default and the wider reading stands.
COUNT: Schema = NUMBER

# Base64 is not asserted: JSON Schema has no such format, and 2020-12 makes content an annotation.
BASE64: Schema = STRING


def ref(name: str) -> Schema:
    """The definition of that name, in the same revision."""
    return {"$ref": f"#/$defs/{name}"}


def obj(
    required: Mapping[str, Schema] | None = None, optional: Mapping[str, Schema] | None = None
) -> Schema:
    """An object with these members and any others."""
    members = {**(required or {}), **(optional or {})}
    schema: Schema = {"type": "object"}
    if members:
        schema["properties"] = members
    if required:
        schema["required"] = list(required)
    return schema


def map_of(values: Schema) -> Schema:
    """An object whose members all have this shape."""
    return {"type": "object", "additionalProperties": values}


def array(items: Schema, *, at_most: int | None = None) -> Schema:
    """An array of items of this shape."""
    schema: Schema = {"type": "array", "items": items}
    if at_most is not None:
        schema["maxItems"] = at_most
    return schema


def literal(value: str | int) -> Schema:
    """Exactly this value."""
    return {"const": value}


def one_of(*values: str) -> Schema:
    """One of these strings."""
    return {"enum": list(values)}


def any_of(*choices: Schema) -> Schema:
    """At least one of these shapes."""
    return {"anyOf": list(choices)}


def any_ref(*names: str) -> Schema:
    """At least one of these definitions."""
    return any_of(*map(ref, names))


def all_of(*parts: Schema) -> Schema:
    """Each of these shapes."""
    return {"allOf": list(parts)}


def when(test: Schema, then: Schema, otherwise: Schema) -> Schema:
    """`then` for values that have the shape `test`, `otherwise` for the others."""
    return {"if": test, "then": then, "else": otherwise}


def message(method: str, params: str, *, params_required: bool) -> Schema:
    """A message body: `method` with this very value, and `params` of that definition."""
    if params_required:
        return obj({"method": literal(method), "params": ref(params)})
    return obj({"method": literal(method)}, {"params": ref(params)})


JSONRPC_VERSION: Mapping[str, Schema] = {"jsonrpc": literal("2.0")}

REQUEST_ENVELOPE: Mapping[str, Schema] = {**JSONRPC_VERSION, "id": ref("RequestId")}


def enveloped(body: Schema, envelope: Mapping[str, Schema]) -> Schema:
    """The body with the members of the envelope required beside its own."""
    return {
        **body,
        "properties": {**envelope, **body["properties"]},
        "required": [*envelope, *body["required"]],
    }


def error_response(code: ErrorCode, data: Schema | None = None) -> Schema:
    """An error response with this code, and with `data` of this shape where one is due."""
    particular = {"code": literal(int(code))} | ({"data": data} if data else {})
    error = all_of(ref("Error"), obj(particular))
    return obj({**JSONRPC_VERSION, "error": error}, {"id": ref("RequestId")})
