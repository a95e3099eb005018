"""Pagination: cursors, as clients send them and servers take them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Located, Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session, forget_older_half
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.codes import ErrorCode

MAX_CURSORS = 10_000
"""Cursors remembered a session."""

_METHODS = (
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "tasks/list",
    "tools/list",
)
_REQUESTS = tuple(f"request:{method}" for method in _METHODS)
_RESULTS = tuple(f"result:{method}" for method in _METHODS)
_ERRORS = tuple(f"error:{method}" for method in _METHODS)

_C2S = Direction.CLIENT_TO_SERVER
_FORGOTTEN = f"more than {MAX_CURSORS} cursors were issued; the oldest are forgotten"

_Cursor = tuple[str, str]


@dataclass(slots=True)
class _Cursors:
    """Cursors of a session by method and value.

    `issued` has the seq of the first page that issued each; `early` those a client sent, over
    HTTP, before any recorded page had issued them.
    """

    issued: dict[_Cursor, int] = field(default_factory=dict)
    early: dict[_Cursor, Spot] = field(default_factory=dict)
    forgetful: bool = False


def _issue(message: Message, session: Session) -> None:
    """Remember the nextCursor of a page from the server."""
    following = message.result.get("nextCursor")
    request = message.request
    if isinstance(following, str) and request is not None and request.direction is _C2S:
        cursors = session.state(_Cursors)
        cursors.issued.setdefault((request.method or "", following), message.seq)
        if len(cursors.issued) > MAX_CURSORS:
            forget_older_half(cursors.issued)
            cursors.forgetful = True


@check("pagination.cursor-opacity", on=_REQUESTS, subject="cursor sent by the client")
def cursor_opacity(message: Message, session: Session, out: Sheet) -> None:
    """A client sends a cursor that the server did not issue for this list in this session.

    Why: only the server knows what a cursor means; a made-up, changed or stored one may skip or
    repeat entries, or fail.
    Fix: send nextCursor back exactly as it came, in the same session and to the same method.
    """
    cursor = message.params.get("cursor", ABSENT)
    if cursor is ABSENT or message.direction is not _C2S or not session.knows_requests:
        return
    cursors = session.state(_Cursors)
    known = (message.method or "", cursor)
    if isinstance(cursor, str) and known in cursors.issued:
        out.held(message)
    elif session.shared:
        out.undecided(message, MIXED)
    elif cursors.forgetful:
        out.undecided(message, _FORGOTTEN)
    elif cursor is None or cursor == "":
        _not_issued(message, cursor, out, Outcome.WARN)
    elif isinstance(cursor, str) and session.transport is TransportKind.HTTP:
        if len(cursors.early) < MAX_CURSORS:
            cursors.early[message.method or "", cursor] = Spot(message.seq, message.direction)
    else:
        _not_issued(message, cursor, out)


@cursor_opacity.on(*_RESULTS)
def _opaque_issued(message: Message, session: Session, out: Sheet) -> None:
    _issue(message, session)


@cursor_opacity.on("session-end")
def _early_at_end(end: Spot, session: Session, out: Sheet) -> None:
    cursors = session.state(_Cursors)
    for (method, cursor), spot in cursors.early.items():
        if (method, cursor) in cursors.issued:
            out.undecided(spot, "the page with this cursor is recorded later, on another exchange")
        elif session.shared:
            out.undecided(spot, MIXED)
        else:
            _not_issued(spot, cursor, out)


def _not_issued(at: Located, cursor: Any, out: Sheet, severity: Outcome | None = None) -> None:
    out.broke(
        at,
        "the client sends a cursor that the server did not issue for this list",
        seen=f"cursor {shown(cursor)}",
        expected="a nextCursor that this server returned to the same method in this session",
        severity=severity,
    )


@check(
    "pagination.invalid-cursor-rejected",
    on=_RESULTS,
    subject="answer to a cursor that was never issued",
)
def invalid_cursor_rejected(message: Message, session: Session, out: Sheet) -> None:
    """A server accepts a cursor that it never issued, or refuses it with another code than -32602.

    Why: the client takes what it gets for the right page, and loses or repeats entries.
    Fix: answer with error -32602 (Invalid params) when a cursor cannot be one of yours.
    """
    cursor = _unissued(message, session)
    _issue(message, session)
    if cursor is ABSENT:
        return
    if cursor == "":
        out.undecided(message, "an empty cursor may be read as none")
    elif session.shared:
        out.undecided(message, MIXED)
    else:
        out.broke(
            message,
            "a cursor that was never issued is answered by a page",
            seen=f"a result for cursor {shown(cursor)}",
            expected="error -32602",
        )


@invalid_cursor_rejected.on(*_ERRORS)
def _refused(message: Message, session: Session, out: Sheet) -> None:
    cursor = _unissued(message, session)
    code = error_code(message)
    if cursor is ABSENT or code is None or code == ErrorCode.METHOD_NOT_FOUND:
        return
    if code == ErrorCode.INVALID_PARAMS:
        out.held(message)
    elif message.status is not None and message.status >= 400:
        # Refused for the session, the token or the load: nobody looked at the cursor.
        return
    elif cursor == "" or session.shared:
        out.undecided(message, MIXED if session.shared else "an empty cursor may be read as none")
    else:
        out.broke(
            message,
            "a cursor that was never issued is refused with another code",
            seen=f"error code {shown(code)}",
            expected="error code -32602",
        )


def _unissued(message: Message, session: Session) -> Any:
    """The cursor that this answers, if the server had never issued it; else ABSENT."""
    request = message.request
    if request is None or request.direction is not _C2S or not isinstance(request.params, dict):
        return ABSENT
    cursor = request.params.get("cursor")
    cursors = session.state(_Cursors)
    if cursor is None or cursors.forgetful or not session.knows_requests:
        return ABSENT
    if request.cancellation is not None:
        return ABSENT
    if isinstance(cursor, str):
        issued = cursors.issued.get((request.method or "", cursor))
        # This very page may name the cursor it was asked with as the next one.
        if issued is not None and issued != message.seq:
            return ABSENT
    return cursor
