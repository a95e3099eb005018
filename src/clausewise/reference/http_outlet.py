"""The messages of one POST as an HTTP answer: one JSON object, or a stream of events."""

from __future__ import annotations

from typing import Protocol

import anyio

from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.messages import JsonObject, encode
from clausewise.reference.wiring import Answered, HeadHook

SSE_HEADERS = (
    ("Content-Type", "text/event-stream"),
    ("Cache-Control", "no-store"),
    ("X-Accel-Buffering", "no"),
)
JSON_HEADERS = (("Content-Type", "application/json"),)


class ResumableStream(Protocol):
    """A stream that outlives its connection: it keeps the events and gives them ids."""

    carrier: object

    def record(self, data: bytes) -> str:
        """Keep an event; gives its id."""

    def carry(self, carrier: object) -> None:
        """From now on `carrier` alone writes the events to a connection."""

    def end(self) -> None:
        """No event will follow."""


class HttpOutlet:
    """Answers one request; a message ahead of the response turns the answer into a stream.

    Attributes:
        resumable: the stream, for an era whose streams can be resumed; it begins with an event
            that has an id and no data.
        extra_headers: sent with the head in either form.
        is_stream: whether the stream has begun.
    """

    def __init__(self, exchange: HttpExchange, answered: Answered, head: HeadHook) -> None:
        self._exchange = exchange
        self._answered = answered
        self._head = head
        self.resumable: ResumableStream | None = None
        self.extra_headers: tuple[tuple[str, str], ...] = ()
        self.is_stream = False
        self._turn = anyio.Lock()

    async def send(self, message: JsonObject) -> None:
        async with self._turn:
            await self.open_stream()
            await self._write(encode(message))

    async def finish(self, message: JsonObject, status: int = 200) -> None:
        if self.is_stream:
            await self.send(message)
            await self._end()
        else:
            head = HttpHead(status, JSON_HEADERS + self.extra_headers)
            await self._exchange.respond(self._head(self._answered, head), encode(message))

    async def abandon(self) -> None:
        """End the answer without a response: the client cancelled the request."""
        await self.open_stream()
        await self._end()

    async def close(self) -> None:
        """End the answer; a stream that can be resumed goes on without it."""
        await self.open_stream()
        await self._exchange.close()

    async def hang_up(self, retry_ms: int) -> None:
        if self.resumable is None:
            return
        await self.open_stream()
        if self.resumable.carrier is not self:
            return
        event_id = self.resumable.record(b"")
        self.resumable.carry(None)
        await self._exchange.write(b"retry: %d\n" % retry_ms + event(b"", event_id))
        await self._exchange.hang_up()

    async def replay(self, data: bytes, event_id: str) -> None:
        """Write an event that was recorded before."""
        await self.open_stream()
        await self._exchange.write(event(data, event_id))

    async def open_stream(self) -> None:
        """Begin the stream, unless it has begun."""
        if self.is_stream:
            return
        self.is_stream = True
        head = HttpHead(200, SSE_HEADERS + self.extra_headers)
        await self._exchange.open(self._head(self._answered, head))
        if self.resumable is not None:
            self.resumable.carry(self)
            await self._write(b"")

    async def _write(self, data: bytes) -> None:
        if self.resumable is None:
            await self._exchange.write(event(data))
            return
        event_id = self.resumable.record(data)
        if self.resumable.carrier is self:
            await self._exchange.write(event(data, event_id))

    async def _end(self) -> None:
        if self.resumable is not None:
            self.resumable.end()
        await self._exchange.close()


def event(data: bytes, event_id: str | None = None) -> bytes:
    """An event of one line of data, as it goes on the wire."""
    line = b"" if event_id is None else f"id: {event_id}\n".encode("ascii")
    return line + b"data: " + data + b"\n\n"
