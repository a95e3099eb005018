"""The event streams of a session, kept so that a client that lost one can have the rest.

Source: 2025-11-25, basic/transports#resumability-and-redelivery.
"""

from __future__ import annotations

import itertools
import re
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio

_MAX_BYTES = 256 * 1024
_EVENT_BYTES = 100
"""What an event takes beside its data; without it empty events would be free."""

_EVENT_ID = re.compile(r"([0-9]{1,15})-([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class SentEvent:
    """An event of a stream; its number grows from event to event of the session."""

    stream: SessionStream
    number: int
    data: bytes

    @property
    def id(self) -> str:
        """Unique within the session, and names the stream."""
        return f"{self.stream.number}-{self.number}"

    @property
    def size(self) -> int:
        return len(self.data) + _EVENT_BYTES


class SessionStream:
    """One stream: it outlives the connections that carry it, one at a time.

    Attributes:
        carrier: what writes new events to a connection, if anything does.
        ended: whether no event will follow.
    """

    def __init__(self, history: EventHistory, number: int) -> None:
        self.number = number
        self.carrier: object = None
        self.ended = False
        self.kept: deque[SentEvent] = deque()
        self._history = history
        self._changed = anyio.Event()

    def record(self, data: bytes) -> str:
        """Keep an event for those who come back; gives its id."""
        event = self._history.keep(self, data)
        self._wake()
        return event.id

    def carry(self, carrier: object) -> None:
        """From now on `carrier` alone writes the events of this stream."""
        self.carrier = carrier
        self._wake()

    def end(self) -> None:
        """No event will follow."""
        self.ended = True
        self._wake()

    def after(self, number: int) -> list[SentEvent]:
        """The events kept that are newer than the event `number`."""
        return [event for event in self.kept if event.number > number]

    async def follow(self, number: int, carrier: object) -> AsyncIterator[SentEvent]:
        """The events newer than `number`, as they come, until the stream ends.

        `carrier` takes the stream over; another that does so ends this.
        """
        self.carry(carrier)
        while self.carrier is carrier:
            newer = self.after(number)
            if newer:
                number = newer[0].number
                yield newer[0]
            elif self.ended:
                return
            else:
                await self._changed.wait()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()


class EventHistory:
    """The newest events of all streams of a session, within a bound on their bytes."""

    def __init__(self, max_bytes: int = _MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._events: deque[SentEvent] = deque()
        self._streams: dict[int, SessionStream] = {}
        self._numbers = itertools.count(1)

    def open(self) -> SessionStream:
        """A new stream; it can be resumed as long as an event of it is kept."""
        return SessionStream(self, next(self._numbers))

    def keep(self, stream: SessionStream, data: bytes) -> SentEvent:
        """Number and keep an event; the oldest go where there is no more room."""
        event = SentEvent(stream, next(self._numbers), data)
        self._streams[stream.number] = stream
        stream.kept.append(event)
        self._events.append(event)
        self._bytes += event.size
        while self._bytes > self._max_bytes:
            self._drop_oldest()
        return event

    def find(self, event_id: str | None) -> tuple[SessionStream, int] | None:
        """The stream and the number of the event `event_id`, if the stream is still known."""
        match = _EVENT_ID.fullmatch(event_id or "")
        stream = self._streams.get(int(match[1])) if match is not None else None
        return None if match is None or stream is None else (stream, int(match[2]))

    def close(self) -> None:
        """End every stream: the session is over."""
        for stream in self._streams.values():
            stream.end()

    def _drop_oldest(self) -> None:
        oldest = self._events.popleft()
        oldest.stream.kept.popleft()
        self._bytes -= oldest.size
        if not oldest.stream.kept:
            del self._streams[oldest.stream.number]
