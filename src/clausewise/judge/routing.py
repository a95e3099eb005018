"""Tell which session and which HTTP exchange an event belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from clausewise.core.vocabulary import Direction, Revision, TransportKind
from clausewise.judge.exchanges import Exchange
from clausewise.judge.gate import named_version
from clausewise.judge.handshake import INITIALIZE
from clausewise.judge.http_sessions import HttpSessions, session_id_of
from clausewise.judge.sessions import Session, forget_older_half
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.wire.jsonrpc import MessageClass, classify

MAX_EXCHANGES = 1024
"""Exchanges remembered by their label; of older ones, later events have no exchange."""

Label = str | int

_C2S = Direction.CLIENT_TO_SERVER
_WELL_FORMED = frozenset(MessageClass) - {MessageClass.MALFORMED, MessageClass.BATCH}


class Routed(NamedTuple):
    """An event with the session it belongs to.

    `exchange` is None on stdio and where the recording does not tell; `status` is that of the
    HTTP response which carried the event.
    """

    session: Session
    event: Event
    exchange: Exchange | None
    status: int | None


def label_of(value: object) -> Label | None:
    """A recorder's label if it is usable as one."""
    return value if isinstance(value, (str, int)) else None


class StdioRouter:
    """Sessions on stdio: a process each, told apart by its opening and the recorder's label."""

    def __init__(self, make: Callable[..., Session], end: Callable[[Session], None]) -> None:
        self._make = make
        self._end = end
        self._current: dict[Label | None, Session] = {}
        self._touched: dict[Label | None, bool] = {}

    def route(self, event: Event) -> Session:
        """The session of a stdio event."""
        label = None if event.session is None else label_of(event.session)
        session = self._current.get(label)
        if event.kind is EventKind.LIFECYCLE:
            return self._lifecycle(event, label, session)
        if session is None:
            session = self._current[label] = self._make(TransportKind.STDIO, begun=False)
        self._touched[label] = True
        return session

    def finish(self) -> None:
        """End every session, in the order in which their labels came up."""
        for session in self._current.values():
            self._end(session)
        self._current.clear()

    def _lifecycle(self, event: Event, label: Label | None, session: Session | None) -> Session:
        opens = event.fields.get("event") == Lifecycle.OPEN
        if session is not None and opens and self._touched.get(label):
            self._end(session)
            session = None
        if session is None:
            session = self._current[label] = self._make(TransportKind.STDIO, begun=opens)
        if opens:
            session.opened = True
            session.begun = True
        self._touched[label] = not opens
        return session


class HttpRouter:
    """Sessions and exchanges on Streamable HTTP.

    A request head waits for the event after it, since only the body tells an initialize
    request, which begins a session, from other traffic.
    """

    def __init__(self, sessions: HttpSessions) -> None:
        self._sessions = sessions
        self._held: Event | None = None
        self._by_label: dict[Label, Exchange] = {}
        self._waiting: list[Exchange] = []
        self._unpaired = 0
        self._adjacent: tuple[Exchange | None, int | None] | None = None
        self.lost = 0

    def route(self, event: Event) -> Iterator[Routed]:
        """The event, perhaps preceded by a head that waited for it, each with its session."""
        held, self._held = self._held, None
        is_client = event.direction is _C2S
        if held is not None:
            if is_client and _is_body(event) and event.exchange == held.exchange:
                yield from self._post(held, event)
                return
            yield from self._without_body(held)
        if is_client:
            if event.kind is EventKind.HTTP:
                self._held = event
                return
            yield from self._late_body(event)
            return
        yield from self._response(event)

    def flush(self) -> Iterator[Routed]:
        """The head that still waits, if any."""
        held, self._held = self._held, None
        if held is not None:
            yield from self._without_body(held)

    def _post(self, head: Event | None, body: Event) -> Iterator[Routed]:
        initializes = body.kind is EventKind.MESSAGE and _is_initialize(body.payload)
        session = self._session_of_request(head or body, body, initializes=initializes)
        exchange = self._open(head, session, head or body)
        _posted(exchange, body)
        exchange.initializes = initializes
        if session.endpoint is None and exchange.posted in _WELL_FORMED:
            session.endpoint = exchange.path
        if head is not None:
            yield Routed(session, head, exchange, None)
        yield Routed(session, body, exchange, None)

    def _without_body(self, head: Event) -> Iterator[Routed]:
        session = self._session_of_request(head, None, initializes=False)
        exchange = self._open(head, session, head)
        yield Routed(session, head, exchange, None)

    def _late_body(self, event: Event) -> Iterator[Routed]:
        label = label_of(event.exchange)
        known = self._by_label.get(label) if label is not None else None
        if event.kind is EventKind.LIFECYCLE and known is None:
            session = self._sessions.of_label(label_of(event.session)) or self._sessions.latest
            if session is not None:
                yield Routed(session, event, None, None)
        elif known is None:
            yield from self._post(None, event)
        elif _is_body(event) and not known.has_body:
            self._attach_late(known, event)
            yield Routed(known.session, event, known, None)
        else:
            yield Routed(known.session, event, known, None)

    def _attach_late(self, exchange: Exchange, body: Event) -> None:
        _posted(exchange, body)
        if body.kind is EventKind.MESSAGE and _is_initialize(body.payload):
            exchange.initializes = True
            first = exchange.head or body
            exchange.session = self._session_of_request(first, body, initializes=True)

    def _session_of_request(
        self, first: Event, body: Event | None, *, initializes: bool
    ) -> Session:
        label = label_of(first.session)
        if label is None and body is not None:
            label = label_of(body.session)
        if label is not None:
            return self._sessions.labelled(label, begun=initializes)
        if initializes:
            return self._sessions.begin()
        session_id = session_id_of(first)
        if session_id is not None:
            return self._sessions.with_id(session_id)
        if named_version(first, body.payload if body is not None else None) == Revision.MODERN:
            return self._sessions.modern()
        return self._sessions.without_id(is_message=body is not None)

    def _open(self, head: Event | None, session: Session, first: Event) -> Exchange:
        label = label_of(first.exchange)
        exchange = Exchange(
            head, session, labelled=label is not None, injected=first.injected is not None
        )
        if label is not None:
            self._by_label[label] = exchange
            if len(self._by_label) > MAX_EXCHANGES:
                forget_older_half(self._by_label)
        else:
            self._waiting.append(exchange)
            if len(self._waiting) > MAX_EXCHANGES:
                self._waiting.clear()
                self._unpaired = 0
        self._adjacent = None
        return exchange

    def _response(self, event: Event) -> Iterator[Routed]:
        label = label_of(event.exchange)
        if label is not None:
            exchange = self._by_label.get(label)
            status = exchange.status if exchange is not None else None
        elif event.kind is EventKind.HTTP:
            exchange, status = self._paired_by_order(), event.status
            self._adjacent = (exchange, status)
        else:
            exchange, status = self._adjacent or (None, None)
            if event.kind is EventKind.MESSAGE and not (exchange is not None and exchange.streams):
                self._adjacent = None
        if exchange is not None and event.kind is EventKind.HTTP:
            exchange.response = event
            status = event.status
            self._sessions.answered(exchange)
        session = self._session_of_answer(event, exchange)
        if session is None:
            self.lost += event.kind is EventKind.MESSAGE
            return
        if exchange is not None:
            self._sessions.delivered(exchange, event)
        yield Routed(session, event, exchange, status)
        if exchange is not None:
            self._sessions.settled(exchange)

    def _paired_by_order(self) -> Exchange | None:
        """The unlabelled exchange that a response head answers, if only one can be meant."""
        if len(self._waiting) == 1 and not self._unpaired:
            return self._waiting.pop()
        self._unpaired += 1
        if self._unpaired >= len(self._waiting):
            self._waiting.clear()
            self._unpaired = 0
        return None

    def _session_of_answer(self, event: Event, exchange: Exchange | None) -> Session | None:
        label = label_of(event.session)
        if exchange is not None:
            if label is not None:
                self._sessions.bind(label, exchange.session)
            return exchange.session
        if label is not None:
            return self._sessions.labelled(label, begun=False)
        return self._sessions.only()


def _is_body(event: Event) -> bool:
    return event.kind is EventKind.MESSAGE or event.kind is EventKind.RAW


def _posted(exchange: Exchange, body: Event) -> None:
    exchange.has_body = _is_body(body)
    if body.kind is EventKind.MESSAGE:
        exchange.posted = classify(body.payload)
    if body.injected is not None:
        exchange.injected = True


def _is_initialize(payload: object) -> bool:
    return (
        isinstance(payload, dict)
        and payload.get("method") == INITIALIZE
        and classify(payload) is MessageClass.REQUEST
    )
