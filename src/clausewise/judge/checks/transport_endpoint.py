"""Transports, Streamable HTTP: the one endpoint, and a POST to it for each message."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import EVENT_STREAM, Exchange, Head
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.endpoint import (
    asks_for_stream,
    belongs_to_session,
    is_with_endpoint,
)
from clausewise.judge.subjects.repeats import is_news
from clausewise.judge.wording import shown

MAX_POSTS = 1024
"""POSTs of a session whose answer is awaited."""

_NOT_IMPLEMENTED = 501


@dataclass(slots=True)
class _Methods:
    """How the endpoint has answered both methods in the session.

    Attributes:
        takes_post: whether a message was accepted.
        get: the first GET that the endpoint supports, while no message was accepted yet.
        not_found: GETs answered by 404, as long as the session may have ended with that.
    """

    takes_post: bool = False
    get: Head | None = None
    not_found: list[Head] = field(default_factory=list)


@check(
    "transport.single-endpoint",
    on="server http-response",
    subject="POST and GET to one path, with their answers",
    transport=TransportKind.HTTP,
)
def single_endpoint(head: Head, session: Session, out: Sheet) -> None:
    """The path that takes messages by POST does not know GET.

    Why: the client tries GET for a stream; from anything but a stream or 405 it concludes that
    the endpoint is elsewhere.
    Fix: serve POST and GET on one path; answer GET with 405 where there is no stream to offer.
    """
    exchange, status = head.exchange, head.status
    if exchange is None or status is None or not exchange.labelled or exchange.injected:
        return
    methods = session.state(_Methods)
    is_post = exchange.posted is not None and exchange.method == "POST"
    if is_post and methods.takes_post and methods.get is None and not methods.not_found:
        return
    if exchange.path is None or not is_with_endpoint(exchange, session):
        return
    if is_post:
        if 200 <= status < 300:
            _takes_post(exchange, methods, session, out)
    elif (
        exchange.method == "GET"
        and asks_for_stream(exchange)
        and belongs_to_session(exchange, session)
    ):
        _judge_get(head, exchange, status, methods, session, out)


def _takes_post(exchange: Exchange, methods: _Methods, session: Session, out: Sheet) -> None:
    methods.takes_post = True
    if methods.get is not None:
        out.held(methods.get)
        methods.get = None
    asked = exchange.head.seq if exchange.head is not None else -1
    for head in methods.not_found:
        if head.seq < asked:
            _report_get(head, "status 404 in a session that lives on", session, out)
    methods.not_found = [head for head in methods.not_found if head.seq >= asked]


def _judge_get(
    head: Head, exchange: Exchange, status: int, methods: _Methods, session: Session, out: Sheet
) -> None:
    if status == 405 or (200 <= status < 300 and exchange.streams):
        if methods.takes_post:
            out.held(head)
        else:
            methods.get = methods.get or head
    elif status == _NOT_IMPLEMENTED:
        _report_get(head, f"status {status}", session, out)
    elif status == 404 and len(methods.not_found) < MAX_POSTS:
        methods.not_found.append(head)


def _report_get(head: Head, seen: str, session: Session, out: Sheet) -> None:
    if is_news(seen, session, out):
        out.broke(
            head,
            "the path that takes messages does not know GET",
            seen=seen,
            expected=f"Content-Type {EVENT_STREAM}, or status 405",
        )


@dataclass(slots=True)
class _Posts:
    """The client's HTTP requests that carry messages.

    Attributes:
        elsewhere: those to another path than the endpoint's, until they are answered.
    """

    elsewhere: dict[Exchange, Message] = field(default_factory=dict)


@check(
    "transport.post-for-each-message",
    on="client message",
    subject="message with the HTTP request that carries it",
    transport=TransportKind.HTTP,
)
def post_for_each_message(message: Message, session: Session, out: Sheet) -> None:
    """A message has no POST to the endpoint of its own.

    Why: the server reads one message from each POST, at one path; others are lost or refused.
    Fix: send each message as the body of a new POST to the same endpoint.
    """
    exchange = message.exchange
    if exchange is None or not exchange.labelled or exchange.method != "POST":
        # By which method a message is sent is the subject of a check of its own.
        return
    if exchange.carries_message:
        out.broke(
            message,
            "two messages are sent in one POST",
            seen="a further message in the same HTTP request",
            expected="a new POST for each message",
        )
        return
    exchange.carries_message = True
    if exchange.path is None or session.endpoint is None:
        return
    same = exchange.path == session.endpoint
    if same or _place(exchange.path) == _place(session.endpoint):
        out.held(message)
    elif len(elsewhere := session.state(_Posts).elsewhere) < MAX_POSTS:
        elsewhere[exchange] = message


@post_for_each_message.on("odd server http-response")
def _elsewhere_answered(head: Head, session: Session, out: Sheet) -> None:
    exchange, status = head.exchange, head.status
    elsewhere = session.state(_Posts).elsewhere
    if not elsewhere or exchange is None or status is None or status < 200:
        return
    message = elsewhere.pop(exchange, None)
    # A redirect leads a client from one path to the other.
    if message is None or 300 <= status < 400 or exchange.path is None:
        return
    path, endpoint = _place(exchange.path), _place(session.endpoint or "")
    if is_news(path, session, out):
        at = Spot(message.seq, message.direction)
        out.broke(
            at,
            "a message is posted to another path than the endpoint",
            seen=f"path {shown(path)}",
            expected=f"path {shown(endpoint)}",
        )


def _place(path: str) -> str:
    """A path without query, which may hold a secret, and without a slash at its end."""
    return path.partition("?")[0].rstrip("/")
