"""Stored JSON documents: the schemas that are shipped, and reading a document by its schema."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jsonschema_rs

from clausewise.core.errors import UsageError
from clausewise.wire.jsontext import JsonTextError, decode


def shipped_schema(name: str) -> dict[str, Any]:
    """The JSON Schema in `schemas/NAME.schema.json`."""
    folder = resources.files("clausewise.report") / "schemas"
    found = json.loads((folder / f"{name}.schema.json").read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise TypeError(f"{name}.schema.json is no object")
    return found


def read_document(text: bytes, name: str, schema_id: str, hint: str) -> dict[str, Any]:
    """The document in `text`, which says that it is of `schema_id` and fits that schema.

    Args:
        text: JSON.
        name: what errors call the source.
        schema_id: such as `clausewise.result/1`; its schema is shipped as `result-1`.
        hint: how such a document is made.

    Raises:
        UsageError: no JSON, of another schema, or not as the schema says.
    """
    try:
        record = decode(text)
    except JsonTextError as error:
        raise UsageError(f"{name} is no JSON: {error}", hint) from None
    if not isinstance(record, dict) or record.get("schema") != schema_id:
        found = record.get("schema") if isinstance(record, dict) else None
        raise UsageError(f"{name} is no {schema_id} (its schema is {found!r})", hint)
    schema = shipped_schema(schema_id.partition(".")[2].replace("/", "-"))
    try:
        jsonschema_rs.Draft202012Validator(schema, offline=True).validate(record)
    except jsonschema_rs.ValidationError as error:
        where = "/".join(str(step) for step in error.instance_path) or "the top"
        raise UsageError(
            f"{name} is no valid {schema_id} at {where}: {error.message}", hint
        ) from None
    return record
