"""Base protocol, JSON Schema usage: the schemas that messages carry."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from clausewise.core.vocabulary import Outcome
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.content import objects
from clausewise.judge.subjects.schema_documents import (
    DEFAULT_DIALECT,
    Dialect,
    SchemaFault,
    dialect_of,
    digest,
    fault_of,
)
from clausewise.judge.wording import shown

MAX_SCHEMAS = 10_000
"""Different schemas remembered, to judge each once."""

MAX_PAGES = 64
"""Different listings of tools remembered of a recording."""

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
    valid = session.state(_InSession).valid
    for place, schema, key in _schemas(message, session):
        dialect = dialect_of(schema)
        if dialect is None or not _is_new(valid, key):
            continue
        fault = _fault(session, key, schema, dialect)
        if fault is None:
            out.held(message)
        elif fault.undecidable is not None:
            out.undecided(message, fault.undecidable)
        elif fault.grave:
            out.broke(
                message,
                f"the {place()} is no valid schema of its dialect",
                seen=fault.seen,
                expected=f"a document that {dialect} accepts",
            )
        else:
            out.broke(
                message,
                f"a local reference in the {place()} leads nowhere",
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
    dialect = session.state(_InSession).dialect
    for place, schema, key in _schemas(message, session):
        if not _is_new(dialect, key):
            continue
        if dialect_of(schema) is DEFAULT_DIALECT:
            out.held(message)
        else:
            out.broke(
                message,
                f"the {place()} is written in another dialect than 2020-12",
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


class _Found(NamedTuple):
    """A schema document in a message: its place in words, the document, its digest."""

    place: Callable[[], str]
    schema: dict[str, Any]
    key: bytes


@dataclass(slots=True)
class _Looked:
    """The schemas in the message that was looked at last, for the checks that share it."""

    seq: int = -1
    found: list[_Found] = field(default_factory=list)


@dataclass(slots=True)
class _Pages:
    """What listings of tools hold, by the digest of the tools."""

    by_digest: dict[bytes, list[_Found]] = field(default_factory=dict)


def _schemas(message: Message, session: Session) -> list[_Found]:
    looked = session.recording.state(_Looked)
    if looked.seq != message.seq:
        looked.seq = message.seq
        looked.found = _found_in(message, session)
    return looked.found


def _found_in(message: Message, session: Session) -> list[_Found]:
    holder = message.params if message.method is not None else message.result
    if "tools" not in holder or message.method == "elicitation/create":
        return [_Found(*placed, digest(placed[1])) for placed in _documents(message)]
    # Servers list the same tools in each session, and offer the same in each sampling request.
    pages = session.recording.state(_Pages).by_digest
    page = digest(holder["tools"])
    found = pages.get(page)
    if found is None:
        if len(pages) >= MAX_PAGES:
            forget_older_half(pages)
        found = pages[page] = [_Found(*placed, digest(placed[1])) for placed in _documents(message)]
    return found


def _documents(message: Message) -> Iterator[tuple[Callable[[], str], dict[str, Any]]]:
    if message.method == "elicitation/create":
        schema = message.params.get("requestedSchema")
        if isinstance(schema, dict):
            yield lambda: "requestedSchema", schema
        return
    holder = message.params if message.method is not None else message.result
    for tool in objects(holder.get("tools")):
        for member in ("inputSchema", "outputSchema"):
            schema = tool.get(member)
            if isinstance(schema, dict):
                yield partial(_place, member, tool.get("name")), schema


def _place(member: str, name: Any) -> str:
    return f"{member} of tool {shown(name)}"
