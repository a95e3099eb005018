"""What the client of a recording did, in order, and what it was answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, TypeAlias

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.wire.jsonrpc import IdKey, MessageClass, classify, id_key

SESSION_HEADER = "mcp-session-id"

Lane: TypeAlias = str | None
"""What keeps apart clients of one recording: its session label, or the session id on HTTP."""

Label: TypeAlias = str | int
"""The label of an HTTP exchange."""


class Act(Enum):
    """What the client did."""

    MESSAGE = auto()
    REQUEST_WITHOUT_BODY = auto()
    ABORT = auto()
    CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Step:
    """One act of the client.

    Attributes:
        seq: where it stands in the recording.
        exchange: the HTTP exchange that it opens or aborts; None where none is recorded.
        event: the message, or the lifecycle event; None for a request without a body.
        head: the HTTP request head, where one was recorded.
    """

    seq: int
    act: Act
    lane: Lane
    exchange: Label | None
    event: Event | None
    head: Event | None

    @property
    def payload(self) -> Any:
        return None if self.event is None else self.event.payload

    @property
    def title(self) -> str:
        """What to call it: the method of the message, or of HTTP."""
        if isinstance(self.payload, dict):
            method = self.payload.get("method")
            return method if isinstance(method, str) else "response"
        if self.head is not None:
            return str(self.head.fields.get("method"))
        return "message"


@dataclass(frozen=True, slots=True)
class Asked:
    """A request of the server in the recording."""

    seq: int
    id: Any
    payload: Any


class Requests:
    """Which request a response belongs to: that of its exchange, else the last with its id."""

    def __init__(self) -> None:
        self._by_exchange: dict[Label, tuple[IdKey, int]] = {}
        self._by_lane: dict[tuple[Lane, IdKey], int] = {}

    def sent(self, lane: Lane, exchange: Label | None, identity: Any, seq: int) -> None:
        """A request of the client, by the number of its step."""
        key = id_key(identity)
        self._by_lane[lane, key] = seq
        if exchange is not None:
            self._by_exchange[exchange] = (key, seq)

    def answered(self, lane: Lane, exchange: Label | None, identity: Any) -> int | None:
        """The number of the step that this response answers; None when there is none."""
        key = id_key(identity)
        if exchange is not None and exchange in self._by_exchange:
            own, seq = self._by_exchange[exchange]
            if own == key:
                return seq
        return self._by_lane.get((lane, key))


@dataclass(slots=True)
class Script:
    """The client's acts and the server's part, by what it answers.

    Attributes:
        answers: the recorded response to each request, by the number of its step.
        asked: the recorded requests of the server, in order, by lane, method and `nth`.
        heads: the recorded final response head of each HTTP exchange.
        stream_ids: the SSE ids of each exchange, in order.
    """

    steps: list[Step] = field(default_factory=list)
    answers: dict[int, Event] = field(default_factory=dict)
    asked: dict[tuple[Lane, str, int], Asked] = field(default_factory=dict)
    heads: dict[Label, Event] = field(default_factory=dict)
    stream_ids: dict[Label, list[str]] = field(default_factory=dict)

    @property
    def lanes(self) -> list[Lane]:
        """The lanes in order of their first act."""
        return list(dict.fromkeys(step.lane for step in self.steps))


def script_of(events: Iterable[Event]) -> Script:
    """Read the client's part out of a recording."""
    everything = list(events)
    reading = _Reading(_lanes_of(everything))
    for event in everything:
        reading.take(event)
    reading.end()
    return reading.script


def _lanes_of(events: Iterable[Event]) -> Mapping[Label, str]:
    """The session id of each HTTP exchange that names one, in its request or its response."""
    lanes: dict[Label, str] = {}
    for event in events:
        if event.kind is EventKind.HTTP and event.exchange is not None:
            session = event.header(SESSION_HEADER)
            if session is not None:
                lanes.setdefault(event.exchange, session)
    return lanes


class _Reading:
    """The recording, read so far."""

    def __init__(self, lanes: Mapping[Label, str]) -> None:
        self.script = Script()
        self._lanes = lanes
        self._heads: dict[Label, Event] = {}
        self._asked: Counter[tuple[Lane, str]] = Counter()
        self._requests = Requests()

    def take(self, event: Event) -> None:
        if event.direction is Direction.CLIENT_TO_SERVER:
            self._take_client(event)
        else:
            self._take_server(event)

    def end(self) -> None:
        """Requests without a body have no message that would have shown them."""
        for head in self._heads.values():
            self._add(Act.REQUEST_WITHOUT_BODY, head, None, head)
        self.script.steps.sort(key=lambda step: step.seq)

    def _lane(self, event: Event) -> Lane:
        if event.session is not None:
            return event.session
        return None if event.exchange is None else self._lanes.get(event.exchange)

    def _take_client(self, event: Event) -> None:
        if event.kind is EventKind.HTTP and event.exchange is not None:
            self._heads[event.exchange] = event
        elif event.kind is EventKind.MESSAGE:
            label = event.exchange
            head = self._heads.pop(label, None) if label is not None else None
            self._add(Act.MESSAGE, event, event, head)
            if classify(event.payload) is MessageClass.REQUEST:
                self._requests.sent(self._lane(event), label, event.payload["id"], event.seq)
        elif event.fields.get("event") == Lifecycle.ABORT and event.exchange is not None:
            self._add(Act.ABORT, event, event, None)
        elif event.fields.get("event") == Lifecycle.CLOSE and event.exchange is None:
            self._add(Act.CLOSE, event, event, None)

    def _add(self, act: Act, at: Event, event: Event | None, head: Event | None) -> None:
        step = Step(at.seq, act, self._lane(at), at.exchange, event, head)
        self.script.steps.append(step)

    def _take_server(self, event: Event) -> None:
        if event.kind is EventKind.HTTP and event.exchange is not None:
            self.script.heads[event.exchange] = event
        elif event.kind is EventKind.SSE and event.exchange is not None:
            identity = event.fields.get("id")
            if isinstance(identity, str):
                self.script.stream_ids.setdefault(event.exchange, []).append(identity)
        elif event.kind is EventKind.MESSAGE:
            self._take_message(event)

    def _take_message(self, event: Event) -> None:
        kind, lane = classify(event.payload), self._lane(event)
        if kind in (MessageClass.RESULT, MessageClass.ERROR):
            identity = event.payload.get("id")
            seq = self._requests.answered(lane, event.exchange, identity)
            if seq is not None:
                self.script.answers.setdefault(seq, event)
        elif kind is MessageClass.REQUEST and isinstance(event.payload["method"], str):
            method = event.payload["method"]
            nth = self._asked[lane, method]
            self._asked[lane, method] += 1
            asked = Asked(event.seq, event.payload["id"], event.payload)
            self.script.asked[lane, method, nth] = asked
