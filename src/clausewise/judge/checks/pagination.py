"""Pagination: cursors, as clients send them and servers take them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Located, Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.subjects.schema_documents import digest
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

_UNREAD = "a request for this list has no readable answer, which may have issued the cursor"

MAX_OPEN = 256
"""Open requests of the client that are looked through for one of the same list."""

_Cursor = tuple[str, str | bytes]


@dataclass(slots=True)
class _Cursors:
    """Cursors of a session by method and value.

    `issued` has the seq of the first page that issued each; `early` those a client sent before
    any recorded page had issued them, while a page may still come.
    """

    issued: dict[_Cursor, int] = field(default_factory=dict)
    early: dict[_Cursor, tuple[Spot, Any]] = field(default_factory=dict)
    forgetful: bool = False


def _key(method: str | None, cursor: Any) -> _Cursor:
    """What tells cursors apart; the wrong types that servers issue come back as they are."""
    return method or "", cursor if isinstance(cursor, str) else digest(cursor)


def _may_be_unread(method: str | None, before: int, session: Session) -> bool:
    """Whether a request for this list, sent before that seq, has no answer in the recording."""
    asked = session.client.open.values()
    return session.client.forgetful or any(
        request.method == method and request.seq < before
        for request in islice(reversed(asked), MAX_OPEN)
    )


def _issue(message: Message, session: Session) -> None:
    """Remember the nextCursor of a page from the server."""
    following = message.result.get("nextCursor")
    request = message.request
    if following is not None and request is not None and request.direction is _C2S:
        cursors = session.state(_Cursors)
        cursors.issued.setdefault(_key(request.method, following), message.seq)
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
    cursors, known = session.state(_Cursors), _key(message.method, cursor)
    if known in cursors.issued:
        out.held(message)
    elif session.shared:
        out.undecided(message, MIXED)
    elif cursors.forgetful:
        out.undecided(message, _FORGOTTEN)
    elif cursor is None or cursor == "":
        _not_issued(message, cursor, out, Outcome.WARN)
    elif session.transport is TransportKind.HTTP or _may_be_unread(
        message.method, message.seq, session
    ):
        if len(cursors.early) < MAX_CURSORS:
            cursors.early[known] = Spot(message.seq, message.direction), cursor
    else:
        _not_issued(message, cursor, out)


@cursor_opacity.on(*_RESULTS)
def _opaque_issued(message: Message, session: Session, out: Sheet) -> None:
    _issue(message, session)


@cursor_opacity.on("server malformed")
def _issued_somehow(message: Message, session: Session, out: Sheet) -> None:
    # A result with an error beside it, say: whatever else is wrong with it, the cursor is given.
    if message.request is not None and message.request.method in _METHODS:
        _issue(message, session)


@cursor_opacity.on("session-end")
def _early_at_end(end: Spot, session: Session, out: Sheet) -> None:
    cursors = session.state(_Cursors)
    for known, (spot, cursor) in cursors.early.items():
        if known in cursors.issued:
            out.undecided(spot, "the page with this cursor is recorded after it")
        elif session.shared:
            out.undecided(spot, MIXED)
        elif _may_be_unread(known[0], spot.seq, session):
            out.undecided(spot, _UNREAD)
        else:
            _not_issued(spot, cursor, out)


def _not_issued(at: Located, cursor: Any, out: Sheet, severity: Outcome | None = None) -> None:
    is_empty = cursor is None or cursor == ""
    out.broke(
        at,
        "the client sends an empty cursor, which the server did not issue, instead of none"
        if is_empty
        else "the client sends a cursor that the server did not issue for this list",
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
    request, cursor = message.request, _unissued(message, session)
    _issue(message, session)
    if cursor is ABSENT or request is None:
        return
    if cursor == "":
        out.undecided(message, "an empty cursor may be read as none")
    elif session.shared:
        out.undecided(message, MIXED)
    elif _may_be_unread(request.method, request.seq, session):
        out.undecided(message, _UNREAD)
    else:
        out.broke(
            message,
            "a cursor that was never issued is answered by a page",
            seen=f"a result for cursor {shown(cursor)}",
            expected="error -32602",
        )


@invalid_cursor_rejected.on(*_ERRORS)
def _refused(message: Message, session: Session, out: Sheet) -> None:
    request, cursor = message.request, _unissued(message, session)
    code = error_code(message)
    if request is None or cursor is ABSENT or code in (None, ErrorCode.METHOD_NOT_FOUND):
        return
    if code == ErrorCode.INVALID_PARAMS:
        out.held(message)
    elif message.status is not None and message.status >= 400:
        # Refused for the session, the token or the load: nobody looked at the cursor.
        return
    elif cursor == "" or session.shared:
        out.undecided(message, MIXED if session.shared else "an empty cursor may be read as none")
    elif _may_be_unread(request.method, request.seq, session):
        out.undecided(message, _UNREAD)
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
    issued = cursors.issued.get(_key(request.method, cursor))
    # This very page may name the cursor it was asked with as the next one.
    return ABSENT if issued is not None and issued != message.seq else cursor
