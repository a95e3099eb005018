"""Base protocol, JSON Schema usage: the schemas that messages carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.judge.ledger import Sheet
from clausewise.judge.messages import Message
from clausewise.judge.registration import check
from clausewise.judge.schema_documents import (
    DEFAULT_DIALECT,
    Dialect,
    SchemaFault,
    dialect_of,
    digest,
    fault_of,
)
from clausewise.judge.sessions import Session, forget_older_half
from clausewise.judge.wording import shown

MAX_SCHEMAS = 10_000
"""Different schemas remembered, to judge each once."""

_CARRIERS = ("result:tools/list", "request:sampling/createMessage", "request:elicitation/create")


@dataclass(slots=True)
class _Judged:
    """Faults of the schemas seen in the recording, by digest."""

    faults: dict[bytes, SchemaFault | None] = field(default_factory=dict)


@dataclass(slots=True)
class _InSession:
    """Digests of the schemas that each check has judged in a session."""

    valid: dict[bytes, None] = field(default_factory=dict)
    dialect: dict[bytes, None] = field(default_factory=dict)


@check("base.schemas-valid-for-dialect", on=_CARRIERS, subject="schema of a known dialect")
def schemas_valid_for_dialect(message: Message, session: Session, out: Sheet) -> None:
    """A schema is refused by the metaschema of its dialect, 2020-12 unless it names another.

    Why: a client that compiles a schema refuses an invalid one, and with it the tool; others
    ignore the faulty part and let wrong arguments through.
    Fix: validate the schema against the metaschema named in `$schema`, or 2020-12's, in a test.
    """
    for place, schema in _schemas(message):
        dialect = dialect_of(schema)
        key = digest(schema)
        if dialect is None or not _is_new(session.state(_InSession).valid, key):
            continue
        fault = _fault(session, key, schema, dialect)
        if fault is None:
            out.held(message)
        elif fault.undecidable is not None:
            out.undecided(message, fault.undecidable)
        elif fault.grave:
            out.broke(
                message,
                f"the {place} is no valid schema of its dialect",
                seen=fault.seen,
                expected=f"a document that {dialect} accepts",
            )
        else:
            out.broke(
                message,
                f"a local reference in the {place} leads nowhere",
                seen=fault.seen,
                expected="a reference to something in the same schema",
                severity=Outcome.WARN,
            )


@check("base.schemas-use-2020-12", on=_CARRIERS, subject="schema")
def schemas_use_2020_12(message: Message, session: Session, out: Sheet) -> None:
    """A schema is written in another dialect than JSON Schema 2020-12.

    Why: it is the one dialect that every implementation supports.
    Fix: leave `$schema` out, or set it to https://json-schema.org/draft/2020-12/schema.
    """
    for place, schema in _schemas(message):
        if not _is_new(session.state(_InSession).dialect, digest(schema)):
            continue
        if dialect_of(schema) is DEFAULT_DIALECT:
            out.held(message)
        else:
            out.broke(
                message,
                f"the {place} is written in another dialect than 2020-12",
                seen=f"$schema {shown(schema.get('$schema'))}",
                expected=f"no $schema, or {DEFAULT_DIALECT}",
            )


def _is_new(seen: dict[bytes, None], key: bytes) -> bool:
    if key in seen:
        return False
    seen[key] = None
    if len(seen) > MAX_SCHEMAS:
        forget_older_half(seen)
    return True


def _fault(
    session: Session, key: bytes, schema: dict[str, Any], dialect: Dialect
) -> SchemaFault | None:
    faults = session.recording.state(_Judged).faults
    if key not in faults:
        if len(faults) > MAX_SCHEMAS:
            forget_older_half(faults)
        faults[key] = fault_of(schema, dialect)
    return faults[key]


def _schemas(message: Message) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema documents in a message, each with its place in words."""
    if message.method == "elicitation/create":
        schema = message.params.get("requestedSchema")
        if isinstance(schema, dict):
            yield "requestedSchema", schema
        return
    holder = message.params if message.method is not None else message.result
    tools = holder.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        for member in ("inputSchema", "outputSchema"):
            schema = tool.get(member)
            if isinstance(schema, dict):
                yield f"{member} of tool {shown(tool.get('name'))}", schema
