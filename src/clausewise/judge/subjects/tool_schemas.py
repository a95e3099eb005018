"""The schemas that tools declare: what is wrong with them and what they accept."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.schema_documents import (
    Dialect,
    SchemaFault,
    dialect_of,
    digest,
    fault_of,
    gave_up,
)
from clausewise.judge.wording import shown

MAX_SCHEMAS = 1000
"""Different schemas of a recording of which the faults and the compiled form are kept."""

_VALIDATORS = {
    Dialect.DRAFT_4: jsonschema_rs.Draft4Validator,
    Dialect.DRAFT_6: jsonschema_rs.Draft6Validator,
    Dialect.DRAFT_7: jsonschema_rs.Draft7Validator,
    Dialect.DRAFT_2019_09: jsonschema_rs.Draft201909Validator,
    Dialect.DRAFT_2020_12: jsonschema_rs.Draft202012Validator,
}

_REFUSALS = (ValueError, TypeError, RecursionError, jsonschema_rs.ReferencingError)
"""What the engine raises for schemas and values that it cannot take."""


class UndecidableError(Exception):
    """The recording or this tool cannot tell; the text says why."""


@dataclass(slots=True)
class _Known:
    """Faults and validators of the schemas seen in the recording, by digest.

    `lately` has schemas with their validators by identity, which is told faster.
    """

    faults: dict[bytes, SchemaFault | None] = field(default_factory=dict)
    validators: dict[bytes, Any] = field(default_factory=dict)
    lately: dict[int, tuple[Any, Any]] = field(default_factory=dict)


def schema_fault(session: Session, schema: dict[str, Any], dialect: Dialect) -> SchemaFault | None:
    """What is wrong with `schema` by its dialect: `fault_of`, once a recording."""
    faults = session.recording.state(_Known).faults
    key = digest(schema)
    if key not in faults:
        if len(faults) >= MAX_SCHEMAS:
            forget_older_half(faults)
        faults[key] = fault_of(schema, dialect)
    return faults[key]


def misfit(session: Session, schema: Any, value: Any) -> str | None:
    """How `value` misses `schema`, or None if it fits; nothing is fetched for references.

    Raises:
        UndecidableError: the schema is of an unknown dialect or cannot be used, or the value is
            too much for the engine.
    """
    return misfit_of(_validator(session, schema), value)


def misfit_of(validator: Any, value: Any) -> str | None:
    """How `value` misses the schema of a validator that `compiled` made, or None.

    Raises:
        UndecidableError: the value is too much for the engine.
    """
    try:
        if validator.is_valid(value):
            return None
        error = next((e for e in validator.iter_errors(value) if not gave_up(e)), None)
        if error is None:
            raise UndecidableError("a pattern of the outputSchema takes too long to match")
        place = "/".join(str(step) for step in error.instance_path) or "the root"
        return f"{shown(error.instance)} at {place} breaks {error.kind.name}"
    except _REFUSALS as refusal:
        why = type(refusal).__name__
        raise UndecidableError(f"the result cannot be validated: {why}") from None


def _validator(session: Session, schema: Any) -> Any:
    lately = session.recording.state(_Known).lately
    known = lately.get(id(schema))
    if known is None:
        known = lately[id(schema)] = (schema, _validator_by_digest(session, schema))
        if len(lately) > MAX_SCHEMAS:
            forget_older_half(lately)
    return known[1]


def _validator_by_digest(session: Session, schema: Any) -> Any:
    if not isinstance(schema, dict):
        raise UndecidableError("the outputSchema is no object")
    dialect = dialect_of(schema)
    if dialect is None:
        raise UndecidableError("the outputSchema is of an unknown dialect")
    validators = session.recording.state(_Known).validators
    key = digest(schema)
    found = validators.get(key)
    if found is None:
        if len(validators) >= MAX_SCHEMAS:
            forget_older_half(validators)
        found = validators[key] = compiled(schema, dialect)
    return found


def compiled(schema: dict[str, Any], dialect: Dialect) -> Any:
    """A validator of `schema`, which fetches nothing.

    Raises:
        UndecidableError: the engine cannot use the schema.
    """
    try:
        return _VALIDATORS[dialect](schema, offline=True, validate_formats=False)
    except _REFUSALS as refusal:
        why = str(refusal).partition("\n")[0]
        raise UndecidableError(f"the outputSchema cannot be used: {shown(why)}") from None
