"""The SSE streams of a session: which exchange opened each, what it resumes, which ids it bore."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from msgspec import Struct

from clausewise.core.vocabulary import Direction
from clausewise.judge.ledger import Sheet
from clausewise.judge.session.exchanges import Exchange, Head
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.routing import label_of
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.endpoint import LAST_EVENT_ID_HEADER, is_with_endpoint
from clausewise.trace.events import Event, Lifecycle

MAX_STREAMS = 1024
"""Streams remembered a session; of older ones nothing is judged any more."""

MAX_EVENT_IDS = 16_384
"""Event ids remembered a session."""

_S2C = Direction.SERVER_TO_CLIENT
_BROKEN_OFF = (Lifecycle.CLOSE, Lifecycle.ABORT)


@dataclass(slots=True, eq=False)
class Stream:
    """A stream of events as one HTTP exchange carried it.

    Attributes:
        exchange: the exchange, which the recorder labelled.
        opened: seq of the response head.
        origin: the stream that it resumes, as it was opened first; None if it resumes none, or
            one that the recording does not tell.
        is_open: whether neither its end nor the end of its connection is recorded.
        has_ids: whether it bore an event id, so that it can be resumed.
    """

    exchange: Exchange
    opened: int
    origin: Stream | None = None
    is_open: bool = True
    has_ids: bool = False

    @property
    def root(self) -> Stream:
        """The stream as it was opened first."""
        return self.origin or self

    @property
    def carries_answer(self) -> bool:
        """Whether a POST of a request opened it."""
        return self.exchange.request is not None


class Sighting(Struct, eq=False):
    """An event id on a stream, and the stream that bore it before, if one did."""

    event_id: str
    stream: Stream
    earlier: Stream | None


class EventStreams:
    """The streams of one session; its state, kept by the handlers below."""

    def __init__(self) -> None:
        self._by_label: dict[str | int | None, Stream] = {}
        self._open: dict[Stream, None] = {}
        self._all_open: frozenset[Stream] | None = None
        self._ids: dict[str, Stream] = {}
        self._sighting: tuple[int, Sighting | None] = (-1, None)

    def open(self, head: Head, exchange: Exchange) -> None:
        """Take in the response head that begins a stream."""
        label = label_of(head.event.exchange)
        if label is None or label in self._by_label:
            return
        resumed_at = exchange.head.header(LAST_EVENT_ID_HEADER) if exchange.head else None
        resumed = self._ids.get(resumed_at) if resumed_at is not None else None
        stream = Stream(exchange, head.seq, resumed.root if resumed is not None else None)
        self._by_label[label] = stream
        self._open[stream] = None
        self._all_open = None
        if len(self._by_label) > MAX_STREAMS:
            forget_older_half(self._by_label)
            self._open = {s: None for s in self._by_label.values() if s.is_open}

    def of(self, event: Event) -> Stream | None:
        """The stream that carried `event`, if the recording tells."""
        label = event.exchange
        if type(label) is not int and type(label) is not str:
            label = label_of(label)
        return self._by_label.get(label)

    @property
    def live(self) -> Collection[Stream]:
        """The streams that are open, oldest first."""
        return self._open.keys()

    @property
    def all_live(self) -> frozenset[Stream]:
        """The same as a set, made once for all messages until one opens or ends."""
        if self._all_open is None:
            self._all_open = frozenset(self._open)
        return self._all_open

    def end(self, event: Event) -> None:
        """Take in that the stream of `event`, or its connection, has ended."""
        stream = self.of(event)
        if stream is not None:
            stream.is_open = False
            self._open.pop(stream, None)
            self._all_open = None

    def sighting(self, event: Event) -> Sighting | None:
        """What the id of an SSE event says; None if it has none or its stream is not known.

        The checks that ask about the same event get the same answer.
        """
        if self._sighting[0] != event.seq:
            self._sighting = (event.seq, self._sight(event))
        return self._sighting[1]

    def _sight(self, event: Event) -> Sighting | None:
        event_id, stream = event.fields.get("id"), self.of(event)
        # An empty id resets the last event id; it names no event.
        if stream is None or not isinstance(event_id, str) or not event_id:
            return None
        stream.has_ids = True
        earlier = self._ids.get(event_id)
        if earlier is None:
            self._ids[event_id] = stream
            if len(self._ids) > MAX_EVENT_IDS:
                forget_older_half(self._ids)
        return Sighting(event_id, stream, earlier)


def streams_of(session: Session) -> EventStreams:
    """The streams of `session`."""
    return session.state(EventStreams)


def stream_of(message: Message, session: Session) -> Stream | None:
    """The stream that carried a message of the server, if the recording tells."""
    if message.event.exchange is None or message.direction is not _S2C:
        return None
    return session.state(EventStreams).of(message.event)


def note_opened(head: Head, session: Session, out: Sheet) -> None:  # noqa: ARG001
    """Handler for `server http-response`: keeps the streams for every check that asks."""
    exchange, status = head.exchange, head.status
    if (
        exchange is not None
        and exchange.streams
        and exchange.labelled
        and exchange.method in ("GET", "POST")
        and status is not None
        and 200 <= status < 300
        and is_with_endpoint(exchange, session)
    ):
        session.state(EventStreams).open(head, exchange)


def note_ended(event: Event, session: Session, out: Sheet) -> None:  # noqa: ARG001
    """Handler for `sse` and `lifecycle`: keeps which streams are open and which bear ids."""
    streams = session.state(EventStreams)
    if event.fields.get("end") is True or event.fields.get("event") in _BROKEN_OFF:
        streams.end(event)
    else:
        streams.sighting(event)
