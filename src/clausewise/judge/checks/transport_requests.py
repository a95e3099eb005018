"""Transports, Streamable HTTP: what the client sends, and by which HTTP requests."""

from __future__ import annotations

from clausewise.core.vocabulary import Outcome, TransportKind
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import EVENT_STREAM, Exchange, Head, Raw
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.endpoint import is_marked, is_with_endpoint
from clausewise.judge.subjects.media_ranges import JSON, Listing, listing, missing
from clausewise.judge.subjects.repeats import is_news
from clausewise.judge.wording import shown
from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import MessageClass

_MESSAGES = (
    "client request",
    "client notification",
    "client result",
    "client error",
    "client batch",
)
_FORM = "application/x-www-form-urlencoded"


@check(
    "transport.client-post-accept-header",
    on=_MESSAGES,
    subject="POST of a message",
    transport=TransportKind.HTTP,
)
def client_post_accept_header(message: Message, session: Session, out: Sheet) -> None:
    """A POST has no Accept header that lists application/json and text/event-stream.

    Why: the server chooses freely between the two and may refuse a client that does not
    accept both; a wildcard covers them but lists neither.
    Fix: send `Accept: application/json, text/event-stream` with every POST.
    """
    exchange = message.exchange
    if exchange is not None and exchange.method in ("POST", None):
        _judge_accept(exchange.head, (JSON, EVENT_STREAM), session, out)


@check(
    "transport.client-get-accept-header",
    on="http-request:GET",
    subject="GET to the MCP endpoint",
    transport=TransportKind.HTTP,
)
def client_get_accept_header(head: Head, session: Session, out: Sheet) -> None:
    """A GET has no Accept header that lists text/event-stream.

    Why: without it the server takes the request for one of a browser and opens no stream.
    Fix: send `Accept: text/event-stream` with every GET to the MCP endpoint.
    """
    exchange = head.exchange
    if (
        exchange is not None
        and is_with_endpoint(exchange, session)
        and (session.handshake.succeeded or is_marked(head.event))
        and not _is_upgrade(head.event)
    ):
        _judge_accept(head.event, (EVENT_STREAM,), session, out)


def _judge_accept(
    head: Event | None, media_types: tuple[str, ...], session: Session, out: Sheet
) -> None:
    if head is None or not head.has_headers:
        return
    accept = head.header("accept")
    lacks = missing(accept or "", media_types)
    if not lacks:
        out.held(head)
        return
    if not is_news(accept, session, out):
        return
    how = {listing(accept or "", media_type) for media_type in lacks}
    note = "; a wildcard covers it, but lists nothing" if Listing.COVERED in how else ""
    refuses = how == {Listing.REFUSED}
    out.broke(
        head,
        f"the Accept header {'refuses' if refuses else 'does not list'} {' and '.join(lacks)}",
        seen="no Accept header" if accept is None else f"Accept {shown(accept)}{note}",
        expected=f"Accept: {', '.join(media_types)}",
        severity=Outcome.WARN if refuses else None,
    )


@check(
    "transport.http-post-single-message",
    on="client message",
    subject="POST of a message",
    transport=TransportKind.HTTP,
)
def http_post_single_message(message: Message, session: Session, out: Sheet) -> None:
    """The body of a POST is not one JSON-RPC request, notification or response.

    Why: batches left the protocol with revision 2025-06-18; a server reads one message and
    refuses or loses the rest.
    Fix: send each message in a POST of its own, and none without a message.
    """
    exchange = message.exchange
    if (
        exchange is None
        or exchange.head is None
        or exchange.method not in ("POST", None)
        or not is_with_endpoint(exchange, session)
    ):
        return
    payload = message.payload
    if type(payload) is dict and (
        message.kind is not MessageClass.MALFORMED or "result" in payload
    ):
        out.held(message)
        return
    kind = "an array" if message.kind is MessageClass.BATCH else "a JSON value that is no message"
    _report_body(message, f"the body of a POST is {kind}", shown(payload), out)


@http_post_single_message.on("client raw")
def _posted_raw(raw: Raw, session: Session, out: Sheet) -> None:
    exchange = raw.exchange
    if (
        exchange is None
        or exchange.method != "POST"
        or raw.is_cut_short
        or not is_with_endpoint(exchange, session)
        or _is_form(exchange)
    ):
        return
    seen = shown(raw.text) if raw.text is not None else "bytes that are not UTF-8"
    _report_body(raw, "the body of a POST is no JSON value", seen, out)


@http_post_single_message.on("odd http-request:POST")
def _posted_nothing(head: Head, session: Session, out: Sheet) -> None:
    exchange = head.exchange
    if (
        exchange is not None
        and not exchange.has_body
        and head.event.header("content-length") == "0"
        and is_with_endpoint(exchange, session)
    ):
        _report_body(head, "a POST has no body", "Content-Length 0", out)


def _report_body(at: Message | Raw | Head, what: str, seen: str, out: Sheet) -> None:
    out.broke(at, what, seen=seen, expected="one request, notification or response")


def _is_form(exchange: Exchange) -> bool:
    """Whether it posts a form, as token requests do, and not to a path known as the endpoint."""
    head = exchange.head
    kind = head.header("content-type") if head is not None else None
    return exchange.path is None and (kind or "").lower().startswith(_FORM)


@check(
    "transport.client-messages-use-post",
    on=_MESSAGES,
    subject="message with the method of its HTTP request",
    transport=TransportKind.HTTP,
)
def client_messages_use_post(message: Message, session: Session, out: Sheet) -> None:
    """The client sends a message by another HTTP method than POST.

    Why: the endpoint takes messages by POST alone; a GET opens a stream and a DELETE ends the
    session, and their bodies are dropped.
    Fix: send each message as the body of a POST to the MCP endpoint.
    """
    exchange = message.exchange
    if exchange is None:
        return
    method = exchange.method
    if method is None or exchange.head is None or _is_upgrade(exchange.head):
        return
    if method == "POST":
        out.held(message)
    elif method == "GET" and not exchange.head.has_headers:
        out.undecided(message, "it may be a WebSocket, which is a transport of its own")
    elif is_news(method, session, out):
        out.broke(
            message,
            "a message is sent by another HTTP method than POST",
            seen=f"method {shown(method)}",
            expected="POST",
        )


def _is_upgrade(head: Event) -> bool:
    """Whether it asks for another protocol: WebSockets are a transport of their own."""
    return head.header("upgrade") is not None
