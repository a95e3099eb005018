"""Tell which session and which HTTP exchange an event belongs to."""

from __future__ import annotations

from collections.abc import Callable

from clausewise.core.vocabulary import Direction, Revision, TransportKind
from clausewise.judge.gate import named_version
from clausewise.judge.session.exchanges import Exchange, session_id_of
from clausewise.judge.session.handshake import INITIALIZE
from clausewise.judge.session.http_sessions import MAX_LIVE_SESSIONS, HttpSessions
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.sessions import Session
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.wire.jsonrpc import MessageClass, classify

MAX_EXCHANGES = 1024
"""Exchanges remembered by their label; of older ones, later events have no exchange."""

Label = str | int

MAX_CLOSED = 16
"""Closed sessions on stdio that may still get events; of more, the oldest is judged as ended."""

MAX_HELD = 256
"""Heads that wait for their exchange to go on."""

# An attribute look-up on an enum class is too slow for what is done with every event.
_C2S = Direction.CLIENT_TO_SERVER
_MESSAGE = EventKind.MESSAGE
_HTTP_HEAD = EventKind.HTTP
_RAW = EventKind.RAW
_LIFECYCLE = EventKind.LIFECYCLE
_SSE = EventKind.SSE

_BEFORE_HANDSHAKE = ("ping", "server/discover")

_ANNOUNCEMENT = "endpoint"
"""Type of the SSE event by which a server of HTTP+SSE (2024-11-05) begins the stream of a GET."""

_RESPONSES = (MessageClass.RESULT, MessageClass.ERROR)
_CLOSING = (Lifecycle.CLOSE, Lifecycle.ABORT, Lifecycle.EXIT)
WELL_FORMED = frozenset(MessageClass) - {MessageClass.MALFORMED, MessageClass.BATCH}
"""Classes of what is one JSON-RPC message, its envelope's faults aside."""


Deliver = Callable[[Session, Event, Exchange | None, int | None], None]
"""Takes an event with its session, its exchange and the status of the response that carried it.

The exchange is None on stdio and where the recording does not tell, the status where no response
carried it.
"""


def label_of(value: object) -> Label | None:
    """A recorder's label if it is usable as one."""
    return value if value is None or isinstance(value, (str, int)) else None


class StdioRouter:
    """Sessions on stdio: a process each, told apart by its opening and the recorder's label.

    A session that is closed stays for a while, since its process may still write and exit.
    """

    def __init__(self, make: Callable[..., Session], end: Callable[[Session], None]) -> None:
        self._make = make
        self._end = end
        self._current: dict[Label | None, Session] = {}
        self._untouched: set[Label | None] = set()
        self._closed: dict[Label | None, None] = {}

    def route(self, event: Event) -> Session:
        """The session of a stdio event."""
        label: Label | None = event.session
        if label is not None and type(label) is not str:
            label = label_of(label)
        session = self._current.get(label)
        if event.kind is _LIFECYCLE:
            return self._lifecycle(event, label, session)
        if session is None:
            session = self._begin(label, begun=False)
        self._untouched.discard(label)
        return session

    def finish(self) -> None:
        """End every session, in the order in which their labels came up."""
        for session in self._current.values():
            self._end(session)
        self._current.clear()

    def _lifecycle(self, event: Event, label: Label | None, session: Session | None) -> Session:
        what = event.fields.get("event")
        opens = what == Lifecycle.OPEN
        if session is not None and opens and label not in self._untouched:
            self._forget(label)
            session = None
        if session is None:
            session = self._begin(label, begun=opens)
        if opens:
            session.opened = True
            session.begun = True
        elif what in _CLOSING:
            self._closed[label] = None
            if len(self._closed) > MAX_CLOSED:
                self._forget(next(iter(self._closed)))
        if opens:
            self._untouched.add(label)
        else:
            self._untouched.discard(label)
        return session

    def _begin(self, label: Label | None, *, begun: bool) -> Session:
        if len(self._current) >= MAX_LIVE_SESSIONS:
            for old in list(self._current)[: MAX_LIVE_SESSIONS // 2]:
                self._forget(old)
        session = self._current[label] = self._make(TransportKind.STDIO, begun=begun)
        return session

    def _forget(self, label: Label | None) -> None:
        self._end(self._current.pop(label))
        self._untouched.discard(label)
        self._closed.pop(label, None)


class HttpRouter:
    """Sessions and exchanges on Streamable HTTP; hands each event on to `deliver`.

    A request head waits for the event after it, since only the body tells an initialize
    request, which begins a session, from other traffic. A labelled one that names no session
    waits until its exchange goes on.

    What travels over HTTP+SSE, the transport of 2024-11-05, is not handed on: a stream that
    begins with its announcement, and from then on POSTs to another path without a session id.

    Attributes:
        lost: how many messages could not be given to any session.
        older: how many messages travelled over HTTP+SSE.
    """

    def __init__(self, sessions: HttpSessions, deliver: Deliver) -> None:
        self._sessions = sessions
        self._deliver = deliver
        self._held: Event | None = None
        self._held_by_label: dict[Label | None, Event] = {}
        self._by_label: dict[Label, Exchange] = {}
        self._waiting: list[Exchange] = []
        self._unpaired = 0
        self._adjacent: tuple[Exchange | None, int | None] | None = None
        self._announcing: set[str] = set()
        self.lost = 0
        self.older = 0

    def route(self, event: Event) -> None:
        """Deliver the event, perhaps preceded by a head that waited for it."""
        held, self._held = self._held, None
        is_client = event.direction is _C2S
        if held is not None:
            if is_client and event.exchange == held.exchange and _is_body(event):
                self._post(held, event)
                return
            self._hold_on(held)
        if self._held_by_label:
            held = self._held_by_label.pop(label_of(event.exchange), None)
            if held is not None:
                if is_client and _is_body(event):
                    self._post(held, event)
                    return
                self._without_body(held)
        if not is_client:
            self._response(event)
        elif event.kind is _HTTP_HEAD:
            self._held = event
        else:
            self._late_body(event)

    def flush(self) -> None:
        """Deliver the heads that still wait, if any."""
        held, self._held = self._held, None
        waiting = list(self._held_by_label.values())
        self._held_by_label.clear()
        for head in (*waiting, held) if held is not None else waiting:
            self._without_body(head)

    def _hold_on(self, head: Event) -> None:
        """The event after `head` is of another exchange: wait on where the body may matter."""
        label = label_of(head.exchange)
        if label is None or session_id_of(head) is not None:
            self._without_body(head)
            return
        self._held_by_label[label] = head
        if len(self._held_by_label) > MAX_HELD:
            self._without_body(self._held_by_label.pop(next(iter(self._held_by_label))))

    def _post(self, head: Event | None, body: Event) -> None:
        if self._announcing and head is not None and self._is_of_older(head):
            session = self._sessions.without_id(is_message=False)
            self._open(head, session, head).is_of_older = True
            self.older += 1
            return
        initializes = body.kind is _MESSAGE and _is_initialize(body.payload)
        session = self._session_of_request(head or body, body, initializes=initializes)
        exchange = self._open(head, session, head or body)
        _posted(exchange, body)
        exchange.initializes = initializes
        if session.endpoint is None and exchange.posted in WELL_FORMED:
            session.endpoint = exchange.path
        if head is not None:
            self._deliver(session, head, exchange, None)
        self._deliver(session, body, exchange, None)

    def _is_of_older(self, head: Event) -> bool:
        """Whether a message is posted over HTTP+SSE, as its path and the lack of an id tell."""
        path = head.fields.get("path")
        return isinstance(path, str) and path not in self._announcing and not session_id_of(head)

    def _announces(self, event: Event, exchange: Exchange) -> bool:
        """Whether `event` begins a stream of HTTP+SSE; notes so."""
        if event.fields.get("event") != _ANNOUNCEMENT or exchange.method != "GET":
            return False
        if exchange.path is None or exchange.is_of_older:
            return False
        exchange.is_of_older = True
        self._announcing.add(exchange.path)
        return True

    def _without_body(self, head: Event) -> None:
        session = self._session_of_request(head, None, initializes=False)
        exchange = self._open(head, session, head)
        self._deliver(session, head, exchange, None)

    def _late_body(self, event: Event) -> None:
        label = label_of(event.exchange)
        known = self._by_label.get(label) if label is not None else None
        if event.kind is _LIFECYCLE and known is None:
            session = self._sessions.of_label(label_of(event.session)) or self._sessions.latest
            if session is not None:
                self._deliver(session, event, None, None)
        elif known is None:
            self._post(None, event)
        elif not known.is_of_older:
            if _is_body(event) and not known.has_body:
                self._attach_late(known, event)
            self._deliver(known.session, event, known, None)

    def _attach_late(self, exchange: Exchange, body: Event) -> None:
        _posted(exchange, body)
        if body.kind is _MESSAGE and _is_initialize(body.payload):
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
        operates = body is not None and _operates(body.payload)
        return self._sessions.without_id(is_message=body is not None, operates=operates)

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

    def _response(self, event: Event) -> None:
        label = label_of(event.exchange)
        is_head = event.kind is _HTTP_HEAD
        exchange: Exchange | None
        if label is not None:
            exchange = self._by_label.get(label)
            status = exchange.status if exchange is not None else None
        elif is_head:
            exchange, status = self._paired_by_order(), event.status
            self._adjacent = (exchange, status)
        else:
            exchange, status = self._adjacent or (None, None)
            if event.kind is _MESSAGE and not (exchange is not None and exchange.streams):
                self._adjacent = None
        if exchange is None and label is not None and _answers(event):
            # Of an exchange that began before the recording, or is forgotten.
            self._sessions.note_other()
            self.lost += 1
            return
        if exchange is not None and (
            exchange.is_of_older or (event.kind is _SSE and self._announces(event, exchange))
        ):
            self.older += event.kind is _MESSAGE
            return
        if exchange is not None and is_head:
            exchange.answer(event)
            status = exchange.status
            if exchange.is_redirected and exchange.session.endpoint == exchange.path:
                exchange.session.endpoint = None
            self._sessions.answered(exchange)
        session = self._session_of_answer(event, exchange)
        if session is None:
            self.lost += event.kind is _MESSAGE
            return
        if exchange is None:
            self._deliver(session, event, None, status)
            return
        if exchange.initializes:
            self._sessions.delivered(exchange, event)
        self._deliver(session, event, exchange, status)
        if is_head:
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
        label = None if event.session is None else label_of(event.session)
        if exchange is not None:
            if label is not None:
                self._sessions.bind(label, exchange.session)
            return exchange.session
        if label is not None:
            return self._sessions.labelled(label, begun=False)
        return self._sessions.only()


def _answers(event: Event) -> bool:
    """Whether it is a response message."""
    return event.kind is _MESSAGE and classify(event.payload) in _RESPONSES


def _is_body(event: Event) -> bool:
    return event.kind is _MESSAGE or event.kind is _RAW


def _posted(exchange: Exchange, body: Event) -> None:
    exchange.has_body = _is_body(body)
    if body.kind is _MESSAGE:
        exchange.posted = classify(body.payload)
    if body.injected is not None:
        exchange.injected = True


def _operates(payload: object) -> bool:
    """Whether it is a request that a client makes only after the handshake, as far as it knows."""
    if classify(payload) is not MessageClass.REQUEST or not isinstance(payload, dict):
        return False
    return payload.get("method") not in _BEFORE_HANDSHAKE


def _is_initialize(payload: object) -> bool:
    return (
        isinstance(payload, dict)
        and payload.get("method") == INITIALIZE
        and classify(payload) is MessageClass.REQUEST
    )
