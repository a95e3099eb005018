"""What is known of one session: its ids, its handshake, what each side has sent."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.judge.session.exchanges import Exchange
from clausewise.judge.session.handshake import INITIALIZE, Handshake
from clausewise.judge.session.memory import Memory, forget_older_half
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.sides import Side
from clausewise.judge.wording import ABSENT
from clausewise.trace.events import Event, Lifecycle
from clausewise.wire.jsonrpc import IdKey, MessageClass, id_key, valid_id

MAX_ANSWERED = 256
"""Answered requests remembered a side."""

MAX_REFUSED = 256
"""Notifications refused by HTTP that are known again when they are sent once more."""

MAX_DELIVERIES = 4096
"""SSE deliveries remembered a session, to know a replay again."""

CANCELLED = "notifications/cancelled"

MIXED = "messages of several sessions cannot be told apart"
"""Why a check decides nothing in a session that is `shared`."""

# An attribute look-up on an enum class is too slow for what is done with every message.
_C2S = Direction.CLIENT_TO_SERVER
_REQUEST = MessageClass.REQUEST
_NOTIFICATION = MessageClass.NOTIFICATION
_BATCH = MessageClass.BATCH


@dataclass(slots=True)
class Beginnings:
    """How many sessions of a recording an initialize request has begun so far."""

    count: int = 0


class Session(Memory):
    """The facts of one session, kept up to date before the checks see an event.

    Attributes:
        number: 1 for the recording's first session.
        transport: what carries it.
        recording: what checks keep across the sessions of a recording.
        begun: whether its beginning is in the recording; otherwise earlier requests may exist.
        shared: messages of other sessions may be mixed in, so that ids prove nothing.
        session_id: the MCP-Session-Id that tells it apart, or None.
        endpoint: path of the MCP endpoint, or None where paths were not recorded.
        opened: whether the transport's opening is in the recording.
        closed: how the transport ended, or None.
    """

    def __init__(
        self, number: int, transport: TransportKind, recording: Memory, *, begun: bool
    ) -> None:
        super().__init__()
        self.number = number
        self.recording = recording
        self.transport = transport
        self.begun = begun
        self.shared = False
        self.session_id: str | None = None
        self.endpoint: str | None = None
        self.opened = False
        self.closed: Lifecycle | None = None
        self.handshake = Handshake()
        self.client = Side()
        self.server = Side()
        self._deliveries: dict[str, bytes] = {}
        self._refused: dict[bytes, bool] = {}
        self._resumable = False
        if begun:
            recording.state(Beginnings).count += 1

    def side(self, direction: Direction) -> Side:
        """The side that sends in `direction`."""
        return self.client if direction is _C2S else self.server

    def observe(self, message: Message) -> None:
        """Update ids and handshake, and link `message` with the request it is or answers."""
        kind = message.kind
        if message.direction is _C2S:
            side, other = self.client, self.server
        else:
            side, other = self.server, self.client
        side.last = kind
        if message.event.injected is not None:
            side.has_injected = True
        if kind is _REQUEST:
            self._issue(message, side)
            if message.method == INITIALIZE:
                self.handshake.observe(message)
        elif message.is_response:
            self._pair(message, side, other)
            request = message.request
            if request is not None and request.method == INITIALIZE:
                self.handshake.observe(message)
        elif kind is _NOTIFICATION:
            self._note_notification(message, side)
            self.handshake.observe(message)
        else:
            self._observe_batch(message, side)

    def forget(self) -> None:
        """Let go of everything that was kept, once the session is over.

        An exchange that is still known names its session, which would keep it all in memory.
        """
        super().forget()
        self.client, self.server = Side(), Side()
        self._deliveries, self._refused = {}, {}

    def observe_raw(self, event: Event) -> None:
        """Note an input that is no JSON."""
        side = self.side(event.direction)
        side.unreadable += 1
        side.last = None
        side.was_odd = True
        if event.injected is not None:
            side.has_injected = True

    def observe_stream_event(self, event: Event, exchange: Exchange | None) -> None:
        """Note the id of an SSE event for the message that comes next, or that it has none."""
        if exchange is None:
            return
        event_id = event.fields.get("id")
        if isinstance(event_id, str):
            exchange.event_id = event_id
            self._resumable = True
        elif exchange.event_id is None:
            exchange.event_id = ""

    def observe_response_head(self, exchange: Exchange) -> None:
        """Withdraw what was posted in an exchange that HTTP refused."""
        # Each is let go of here, lest it and the exchange keep each other in memory.
        said, exchange.said = exchange.said, None
        answered, exchange.answered = exchange.answered, None
        if not exchange.is_refused:
            return
        request = exchange.request
        if request is not None:
            if self.side(request.direction).withdraw(request):
                exchange.withdrawn = request
                self.handshake.refused(request)
        elif answered is not None:
            self.side(answered.direction).reopen(answered)
        elif said is not None:
            self._refused[said.digest] = True
            if len(self._refused) > MAX_REFUSED:
                forget_older_half(self._refused)

    def is_repeated(self, message: Message) -> bool:
        """Whether this message was judged before: replayed by a server, or sent again."""
        if message.direction is _C2S:
            return self._is_sent_again(message)
        return self._is_replay(message)

    def _is_sent_again(self, message: Message) -> bool:
        """Whether this notification is one that HTTP refused, sent once more."""
        if message.kind is not _NOTIFICATION or message.exchange is None:
            return False
        message.exchange.said = message
        return bool(self._refused) and self._refused.pop(message.digest, False)

    def _is_replay(self, message: Message) -> bool:
        """Whether this message was already delivered on an SSE stream; remembers it if not."""
        exchange = message.exchange
        if exchange is None:
            return False
        event_id, exchange.event_id = exchange.event_id, None
        if not event_id:
            if not exchange.streams:
                return False
            if event_id is not None and not self._resumable and not exchange.resumes:
                # Its event has no id, nor had any before: no stream of it can be resumed.
                return False
            event_id = None
        digest = message.digest
        place = f"id {event_id}" if event_id is not None else digest.hex()
        if self._deliveries.get(place) == digest and (event_id is not None or exchange.resumes):
            return True
        self._deliveries[place] = digest
        if len(self._deliveries) > MAX_DELIVERIES:
            forget_older_half(self._deliveries)
        return False

    def _issue(self, message: Message, side: Side) -> None:
        given = message.id
        if message.is_sound:
            valid, key = True, given
        else:
            valid, key = valid_id(given), id_key(given)
            side.unreadable += not valid
        request = message.request = Request(
            message.seq,
            message.direction,
            key,
            message.method,
            message.payload.get("params"),
            message.event.injected is not None,
        )
        side.issue(request, counts=valid)
        if message.exchange is not None and message.direction is _C2S:
            message.exchange.request = request

    def _note_notification(self, message: Message, side: Side) -> None:
        if "id" not in message.payload:
            if message.method is None or not message.method.startswith("notifications/"):
                side.unreadable += 1
            elif message.method == CANCELLED:
                _cancel(message, side)
            return
        request = Request(message.seq, message.direction, message.key, message.method, None, False)
        if request.key not in side.open:
            side.issue(request, counts=False)

    def _observe_batch(self, message: Message, side: Side) -> None:
        """Unpack a batch for its ids alone, so that one fault does not become many."""
        side.unreadable += 1
        whole = message.event
        for element in message.payload:
            if not isinstance(element, dict):
                continue
            event = Event(whole.seq, whole.direction, whole.transport, whole.kind, element)
            part = Message(event)
            if part.kind is _REQUEST and valid_id(part.id):
                self._issue(part, side)
            elif part.is_response:
                self._pair(part, side, self.server if side is self.client else self.client)

    def _pair(self, message: Message, side: Side, opposite: Side) -> None:
        exchange = message.exchange
        request: Request | None = None
        given = message.id
        if given is not None and given is not ABSENT:
            key = given if type(given) is int or type(given) is str else id_key(given)
            if exchange is None:
                request = opposite.settle(key)
            else:
                request = opposite.settle(key, exchange.request)
                request = request or self._reinstated(exchange, key, opposite)
        if request is None:
            injected = exchange.injected if exchange is not None else opposite.has_injected
            message.provoked = injected
            return
        message.request = request
        message.provoked = request.injected
        request.answered = message.seq
        request.answered_at_home = exchange is not None and exchange.request is request
        request.answered_on = None if request.answered_at_home else exchange
        if exchange is not None and message.direction is _C2S:
            exchange.answered = request
        if request.seq > side.answered_to:
            side.answered_to = request.seq
        answered = opposite.answered
        answered[request.key] = request
        if len(answered) > MAX_ANSWERED:
            forget_older_half(answered)

    @property
    def knows_requests(self) -> bool:
        """Whether every request of the session is in the recording, as far as can be told."""
        return self.begun or self.handshake.request is not None

    @staticmethod
    def _reinstated(exchange: Exchange, key: IdKey, side: Side) -> Request | None:
        """The withdrawn request that a refusal's body answers after all."""
        request = exchange.withdrawn
        if request is None or request.key != key:
            return None
        exchange.withdrawn = None
        side.used.take(key, request.seq)
        return request


def _cancel(message: Message, side: Side) -> None:
    """Note that `side` cancels one of its open requests, if it names one."""
    request = side.open.get(id_key(message.params.get("requestId", ABSENT)))
    if request is not None and request.cancellation is None:
        request.cancellation = message
