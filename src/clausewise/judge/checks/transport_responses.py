"""Transports, Streamable HTTP: how the server answers POST and GET."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import EVENT_STREAM, Exchange, Head, Raw
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.endpoint import (
    asks_for_stream,
    belongs_to_session,
    is_with_endpoint,
)
from clausewise.judge.subjects.media_ranges import JSON
from clausewise.judge.subjects.repeats import is_news
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.jsonrpc import MessageClass, valid_id

MAX_EMPTY = 64
"""Responses of a session whose body may still come."""

MAX_FAULTY = 1024
"""Inputs with faults of their own remembered a session."""

_ASK_FOR_NOTHING = frozenset({MessageClass.NOTIFICATION, MessageClass.RESULT, MessageClass.ERROR})
_ANSWERS_OTHER_RULES = frozenset({400, 401, 403, 409, 421, 429, 500, 502, 503, 504})
"""Statuses of a GET by which other rules, or no rule of the protocol, refuse it."""


@dataclass(slots=True)
class _Faulty:
    """Exchanges whose input is no well-formed message, so that any answer may be right."""

    exchanges: dict[Exchange, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Accepted:
    """Answers of 202 that have shown no body yet."""

    heads: dict[Exchange, Head] = field(default_factory=dict)


@dataclass(slots=True)
class _Streams:
    """Whether the session has a stream whose events have no label to tell them by."""

    unlabelled: bool = False


@check(
    "transport.accepted-input-status",
    on="odd http-response",
    subject="accepted notification or response",
    transport=TransportKind.HTTP,
)
def accepted_input_status(head: Head, session: Session, out: Sheet) -> None:
    """A notification or response is accepted by another status than 202, or with a body.

    Why: a client that finds a body or a stream waits for an answer that never comes, and some
    end the connection.
    Fix: answer a POST of a notification or response with 202 Accepted and an empty body.
    """
    if head.event.exchange is None:
        _note_stream(head, session)
    if head.exchange is None or head.exchange.posted not in _ASK_FOR_NOTHING:
        return
    exchange, status = _accepted_post(head, session), head.status
    if exchange is None:
        return
    length = head.event.header("content-length")
    if status != 202:
        _report_acceptance(head, f"status {status}", session, out)
    elif length is not None and length.strip().lstrip("0").isdecimal():
        _report_acceptance(head, "a body", session, out)
    else:
        _await_body(head, exchange, session, out)


def _accepted_post(head: Head, session: Session) -> Exchange | None:
    """The exchange of a success response to a POST of sound input to the endpoint, or None."""
    exchange, status = head.exchange, head.status
    if (
        exchange is None
        or status is None
        or not 200 <= status < 300
        or exchange.method not in ("POST", None)
        or _is_faulty(exchange, session)
        or not is_with_endpoint(exchange, session)
    ):
        return None
    return exchange


def _await_body(head: Head, exchange: Exchange, session: Session, out: Sheet) -> None:
    heads = session.state(_Accepted).heads
    if len(heads) >= MAX_EMPTY:
        out.held(heads.pop(next(iter(heads))))
    heads[exchange] = head


@accepted_input_status.on("server foreign", "server message", "server raw")
def _accepted_with_body(body: Message | Raw, session: Session, out: Sheet) -> None:
    if body.exchange is None or not session.state(_Accepted).heads:
        return
    if not _surely_carries(body.exchange, session):
        return
    head = session.state(_Accepted).heads.pop(body.exchange, None)
    if head is None:
        return
    if isinstance(body, Raw) and body.is_blank:
        out.broke(
            head,
            "a 202 has white space as its body",
            seen="a body of white space",
            expected="status 202 with no body",
            severity=Outcome.WARN,
        )
    else:
        _report_acceptance(head, "a body", session, out)


@accepted_input_status.on("session-end")
def _accepted_without_body(end: Spot, session: Session, out: Sheet) -> None:
    for head in session.state(_Accepted).heads.values():
        out.held(head)


def _report_acceptance(head: Head, seen: str, session: Session, out: Sheet) -> None:
    if is_news(seen, session, out):
        out.broke(
            head,
            "a notification or response is not accepted by an empty 202",
            seen=seen,
            expected="status 202 with no body",
        )


@accepted_input_status.on(
    "client flawed request", "client flawed notification", "client result", "client error"
)
def _note_faulty(message: Message, session: Session, out: Sheet) -> None:
    exchange = message.exchange
    if exchange is None or _is_sound(message):
        return
    exchanges = session.state(_Faulty).exchanges
    exchanges[exchange] = None
    if len(exchanges) > MAX_FAULTY:
        forget_older_half(exchanges)


def _is_sound(message: Message) -> bool:
    """Whether envelope and id of a message have no fault."""
    payload = message.payload
    if payload.get("jsonrpc") != "2.0" or type(payload.get("params", {})) is not dict:
        return False
    if "method" in payload and message.method is None:
        return False
    if message.id is ABSENT:
        return message.kind is not MessageClass.REQUEST
    return message.kind is not MessageClass.NOTIFICATION and valid_id(message.id)


def _note_stream(head: Head, session: Session) -> None:
    kind = head.event.header("content-type")
    is_unknown = kind is None and not head.event.has_headers and head.status != 202
    if is_unknown or (kind is not None and EVENT_STREAM in kind.lower()):
        session.state(_Streams).unlabelled = True


def _surely_carries(exchange: Exchange, session: Session) -> bool:
    """Whether what order alone gives to `exchange` cannot be an event of an open stream."""
    return exchange.labelled or not session.state(_Streams).unlabelled


def _is_faulty(exchange: Exchange, session: Session) -> bool:
    return exchange.injected or exchange in session.state(_Faulty).exchanges


@check(
    "transport.success-content-type",
    on="http-response",
    subject="success response to a request",
    transport=TransportKind.HTTP,
)
def success_content_type(head: Head, session: Session, out: Sheet) -> None:
    """A request is answered by neither a stream of events nor one JSON object.

    Why: the Content-Type tells the client how to read the answer; by another one it finds none.
    Fix: answer a request with `Content-Type: application/json` and one JSON object, or with
    `Content-Type: text/event-stream` and the answer in an event.
    """
    if head.exchange is None or head.exchange.posted is not MessageClass.REQUEST:
        return
    exchange = _accepted_post(head, session)
    if exchange is None or not head.event.has_headers:
        return
    media_type = exchange.media_type
    if media_type in (JSON, EVENT_STREAM):
        out.held(head)
    elif is_news(media_type, session, out):
        kind = "no Content-Type" if media_type is None else f"Content-Type {shown(media_type)}"
        out.broke(
            head,
            "a request is answered by neither a stream of events nor JSON",
            seen=f"status {head.status} with {kind}",
            expected=f"Content-Type {JSON} or {EVENT_STREAM}",
        )


@success_content_type.on("batch", "raw")
def _no_single_object(body: Message | Raw, session: Session, out: Sheet) -> None:
    exchange = body.exchange
    if (
        body.direction is Direction.CLIENT_TO_SERVER
        or exchange is None
        or exchange.posted is not MessageClass.REQUEST
        or exchange.status not in range(200, 300)
        or exchange.media_type != JSON
        or _is_faulty(exchange, session)
        or not _surely_carries(exchange, session)
        or (isinstance(body, Raw) and body.is_cut_short)
    ):
        return
    seen = shown(body.payload) if isinstance(body, Message) else "a body that is no JSON"
    if is_news(seen, session, out):
        out.broke(
            body,
            f"a body of type {JSON} is not one JSON object",
            seen=seen,
            expected="one JSON object",
        )


@dataclass(slots=True)
class _NotFound:
    """GETs answered by 404 with the session's id, which may have ended just then."""

    heads: list[Head] = field(default_factory=list)


@check(
    "transport.get-content-type",
    on="http-response",
    subject="answer to a GET that accepts text/event-stream",
    transport=TransportKind.HTTP,
)
def get_content_type(head: Head, session: Session, out: Sheet) -> None:
    """A GET is answered by neither a stream of events nor 405.

    Why: from anything else a client cannot tell whether the server offers a stream, and tries
    again or gives up the session.
    Fix: answer 405 Method Not Allowed where there is no stream, else 200 with
    `Content-Type: text/event-stream`.
    """
    exchange, status = head.exchange, head.status
    if exchange is None or status is None or status < 200:
        return
    _note_alive(exchange, status, session, out)
    if exchange.method != "GET" or not _accepts_stream(exchange, session):
        return
    if status == 405:
        out.held(head)
    elif status < 300:
        _judge_stream(head, exchange, session, out)
    elif (
        status < 400 or status in _ANSWERS_OTHER_RULES or not belongs_to_session(exchange, session)
    ):
        out.undecided(head, f"status {status} to a GET may have another cause")
    elif status == 404 and session.session_id is not None:
        _await_life(head, session)
    else:
        _report_get(head, f"status {status}", session, out)


def _accepts_stream(exchange: Exchange, session: Session) -> bool:
    is_ours = not exchange.injected and is_with_endpoint(exchange, session)
    return is_ours and asks_for_stream(exchange)


def _judge_stream(head: Head, exchange: Exchange, session: Session, out: Sheet) -> None:
    status = head.status
    if exchange.streams:
        out.held(head)
    elif status == 204 or head.event.has_headers:
        kind = exchange.media_type
        what = "no Content-Type" if kind is None else f"Content-Type {shown(kind)}"
        _report_get(head, f"status {status} with {what}", session, out)


def _await_life(head: Head, session: Session) -> None:
    heads = session.state(_NotFound).heads
    if len(heads) < MAX_EMPTY:
        heads.append(head)


def _note_alive(exchange: Exchange, status: int, session: Session, out: Sheet) -> None:
    """A later success in the session proves that a 404 did not mean its end."""
    if status >= 300 or exchange.posted is None or exchange.initializes:
        return
    not_found = session.state(_NotFound)
    if not not_found.heads:
        return
    asked = exchange.head.seq if exchange.head is not None else -1
    for head in not_found.heads:
        if head.seq < asked:
            _report_get(head, "status 404 in a session that lives on", session, out)
    not_found.heads = [head for head in not_found.heads if head.seq >= asked]


@get_content_type.on("session-end")
def _still_not_found(end: Spot, session: Session, out: Sheet) -> None:
    for head in session.state(_NotFound).heads:
        out.undecided(head, "the session may have ended")


def _report_get(head: Head, seen: str, session: Session, out: Sheet) -> None:
    if is_news(seen, session, out):
        out.broke(
            head,
            "a GET is answered by neither a stream of events nor 405",
            seen=seen,
            expected=f"status 200 with Content-Type {EVENT_STREAM}, or 405",
        )
