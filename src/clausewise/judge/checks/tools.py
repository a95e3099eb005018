"""Tools: the capability, and the definitions that a server lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.content import objects
from clausewise.judge.subjects.declarations import judge_declaration
from clausewise.judge.subjects.listings import Fault, Unsettled, same
from clausewise.judge.subjects.schema_documents import dialect_of
from clausewise.judge.subjects.tool_schemas import schema_fault
from clausewise.judge.wording import ABSENT, shown

_S2C = Direction.SERVER_TO_CLIENT

MAX_NAMES = 10_000
"""Tool names remembered, a session or a listing."""

MAX_CHAINS = 256
"""Listings of a session that may still be continued by a cursor."""

MAX_NAME_LENGTH = 128

_LIST = "result:tools/list"
_NAME = re.compile(r"[A-Za-z0-9_.-]*\Z", re.ASCII)


@check(
    "tools.capability-declared",
    on=("result:tools/list", "result:tools/call", "notification:notifications/tools/list_changed"),
    subject="sign of tool support",
)
def capability_declared(message: Message, session: Session, out: Sheet) -> None:
    """A server offers tools without having declared the tools capability.

    Why: clients look for tools only where the capability is declared, so they never find these.
    Fix: declare `"tools": {}` in the initialize result.
    """
    judge_declaration(message, session, out, "tools")


def _listed(message: Message, session: Session) -> Iterator[dict[str, Any]]:
    """The tools of a page from a server that declared tools."""
    if message.direction is not _S2C:
        return
    if session.handshake.declares(Party.SERVER, "tools"):
        yield from objects(message.result.get("tools"))


@dataclass(slots=True)
class _InputSchemas:
    """The inputSchema under each tool name, as judged last."""

    judged: dict[str, Any] = field(default_factory=dict)


@check("tools.input-schema-object", on=_LIST, subject="tool in a tools/list result")
def input_schema_object(message: Message, session: Session, out: Sheet) -> None:
    """The inputSchema of a tool is no valid JSON Schema object.

    Why: clients hand the schema to a model and check arguments by it; without a usable one
    they drop the tool, or the whole list.
    Fix: give each tool an object as inputSchema, `{"type": "object"}` if it takes no arguments.
    """
    judged = session.state(_InputSchemas).judged
    for tool in _listed(message, session):
        name = tool.get("name")
        schema = tool.get("inputSchema", ABSENT)
        if isinstance(name, str):
            if name in judged and same(judged[name], schema):
                continue
            if len(judged) >= MAX_NAMES:
                forget_older_half(judged)
            judged[name] = schema
        _judge_input_schema(message, session, out, name, schema)


def _judge_input_schema(
    message: Message, session: Session, out: Sheet, name: Any, schema: Any
) -> None:
    if not isinstance(schema, dict):
        out.broke(
            message,
            f"the inputSchema of tool {shown(name)} is no object",
            seen=f"inputSchema {shown(schema)}",
            expected="a JSON Schema object",
        )
        return
    dialect = dialect_of(schema)
    fault = schema_fault(session, schema, dialect) if dialect is not None else None
    if fault is not None and fault.grave and fault.undecidable is None:
        out.broke(
            message,
            f"the inputSchema of tool {shown(name)} is no valid schema of its dialect",
            seen=fault.seen,
            expected=f"a document that {dialect} accepts",
        )
    elif dialect is not None and schema.get("type") != "object":
        out.broke(
            message,
            f"the inputSchema of tool {shown(name)} does not ask for an object",
            seen=f"type {shown(schema.get('type', ABSENT))}",
            expected='type "object", since arguments are an object',
            severity=Outcome.WARN,
        )
    else:
        out.held(message)


@dataclass(slots=True)
class _Names:
    """Tool names that each check has judged in the session."""

    length: dict[str, None] = field(default_factory=dict)
    charset: dict[str, None] = field(default_factory=dict)
    duplicate: dict[str, None] = field(default_factory=dict)


def _is_new(names: dict[str, None], name: str) -> bool:
    if name in names:
        return False
    if len(names) >= MAX_NAMES:
        forget_older_half(names)
    names[name] = None
    return True


def _new_names(message: Message, session: Session, names: dict[str, None]) -> Iterator[str]:
    """The names in a page that are not yet among `names`, which take them in."""
    for tool in _listed(message, session):
        name = tool.get("name")
        if isinstance(name, str) and _is_new(names, name):
            yield name


@check("tools.name-length", on=_LIST, subject="tool name in a tools/list result")
def name_length(message: Message, session: Session, out: Sheet) -> None:
    """A tool's name is empty or longer than 128 characters.

    Why: clients and model providers cut or refuse such names.
    Fix: give the tool a name of 1 to 128 characters; `title` is the place for a longer text.
    """
    for name in _new_names(message, session, session.state(_Names).length):
        if 1 <= len(name) <= MAX_NAME_LENGTH:
            out.held(message)
        else:
            out.broke(
                message,
                "a tool's name is empty" if not name else "a tool's name is too long",
                seen=f"{len(name)} characters: {shown(name)}",
                expected=f"1 to {MAX_NAME_LENGTH} characters",
            )


@check("tools.name-charset", on=_LIST, subject="tool name in a tools/list result")
def name_charset(message: Message, session: Session, out: Sheet) -> None:
    """A tool's name has characters beside letters, digits, `_`, `-` and `.`.

    Why: model providers accept narrow sets of characters, so that such a tool cannot be called.
    Fix: use ASCII letters, digits, `_`, `-` and `.` only; a dot or `_` serves for namespaces.
    """
    for name in _new_names(message, session, session.state(_Names).charset):
        if _NAME.match(name):
            if name:
                out.held(message)
            continue
        strange = next(char for char in name if not _NAME.match(char))
        out.broke(
            message,
            "a tool's name has a character that it should not have",
            seen=f"{shown(strange)} in {shown(name)}",
            expected="A-Z, a-z, 0-9, '_', '-' and '.' only",
        )


@dataclass(slots=True, eq=False)
class _Chain:
    """One listing: its names with the cursor of the page that had each, and its pages."""

    begun: int
    names: dict[str, Any] = field(default_factory=dict)
    pages: set[Any] = field(default_factory=set)
    broken: bool = False
    doubtful: bool = False


@dataclass(slots=True)
class _Chains:
    """Listings by the cursor that continues each, and the last notice of a change."""

    by_cursor: dict[str, _Chain] = field(default_factory=dict)
    changed: int = -1


class _Repeated(Unsettled):
    """Names that stand on two pages of one listing."""


@check("tools.name-unique", on=_LIST, subject="complete listing of tools")
def name_unique(message: Message, session: Session, out: Sheet) -> None:
    """Two tools of one listing have the same name.

    Why: a client keeps one of the two, and a call reaches whichever the server finds first.
    Fix: rename one of them; names differ already if their case does.
    """
    chain = _chain(message, session)
    if chain is None:
        return
    chains = session.state(_Chains)
    session.state(_Repeated).settle(message.request, out)
    cursor = _cursor(message)
    chain.pages.add(cursor)
    for tool in _listed(message, session):
        name = tool.get("name")
        if not isinstance(name, str):
            continue
        if name in chain.names:
            on_other_page = chain.names[name] != cursor
            _judge_duplicate(message, session, out, name, chain, on_other_page)
        elif len(chain.names) < MAX_NAMES:
            chain.names[name] = cursor
        else:
            chain.doubtful = True
    following = message.result.get("nextCursor")
    if isinstance(following, str):
        chains.by_cursor[following] = chain
        if len(chains.by_cursor) > MAX_CHAINS:
            forget_older_half(chains.by_cursor)
    if not following and not chain.broken and not chain.doubtful and _is_list(message, session):
        # Clients of this revision take an empty nextCursor for the end.
        out.held(message)


@name_unique.on("server notification:notifications/tools/list_changed")
def _changed(message: Message, session: Session, out: Sheet) -> None:
    session.state(_Chains).changed = message.seq
    repeated = session.state(_Repeated)
    if repeated.waiting:
        repeated.excuse(message, out)
        session.state(_Names).duplicate.clear()


@name_unique.on("session-end")
def _settle_all(_end: Spot, session: Session, out: Sheet) -> None:
    session.state(_Repeated).settle_all(out)


def _is_list(message: Message, session: Session) -> bool:
    return isinstance(message.result.get("tools"), list) and bool(
        session.handshake.declares(Party.SERVER, "tools")
    )


def _cursor(message: Message) -> Any:
    """The cursor of the request that a page answers; None for the first page."""
    params = message.request.params if message.request is not None else None
    cursor = params.get("cursor") if isinstance(params, dict) else None
    return cursor if isinstance(cursor, str) else None


def _chain(message: Message, session: Session) -> _Chain | None:
    """The listing that a page continues or begins; None if nothing shows which, or it is known."""
    if message.request is None or message.direction is not Direction.SERVER_TO_CLIENT:
        return None
    cursor = _cursor(message)
    if cursor is None:
        return _Chain(message.request.seq)
    chain = session.state(_Chains).by_cursor.get(cursor)
    return None if chain is None or cursor in chain.pages else chain


def _judge_duplicate(
    message: Message, session: Session, out: Sheet, name: str, chain: _Chain, on_other_page: bool
) -> None:
    if on_other_page and session.state(_Chains).changed > chain.begun:
        chain.doubtful = True
        out.undecided(message, "the tools changed between the pages of the listing")
        return
    if on_other_page and (session.shared or _cursor(message) == ""):
        chain.doubtful = True
        out.undecided(message, MIXED if session.shared else "an empty cursor may be read as none")
        return
    chain.broken = True
    if _is_new(session.state(_Names).duplicate, name):
        where = "on another page of" if on_other_page else "twice on a page of"
        what = f"a tool's name stands {where} one listing"
        fault = Fault(what, seen=f"{shown(name)} again", expected="each name once")
        if on_other_page:
            session.state(_Repeated).book(message, session, out, fault)
        else:
            fault.book(message, out)
