"""The messages of one POST as an HTTP answer: one JSON object, or a stream of events."""

from __future__ import annotations

from collections.abc import Callable

from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.messages import JsonObject, encode
from clausewise.reference.wiring import Answered, HeadHook

SSE_HEADERS = (
    ("Content-Type", "text/event-stream"),
    ("Cache-Control", "no-store"),
    ("X-Accel-Buffering", "no"),
)
JSON_HEADERS = (("Content-Type", "application/json"),)


class HttpOutlet:
    """Answers one request; a message ahead of the response turns the answer into a stream.

    Attributes:
        event_ids: gives the id of each event, for an era whose streams have ids; such a
            stream begins with an event that has an id and no data.
        extra_headers: sent with the head in either form.
        is_stream: whether the stream has begun.
    """

    def __init__(self, exchange: HttpExchange, answered: Answered, head: HeadHook) -> None:
        self._exchange = exchange
        self._answered = answered
        self._head = head
        self.event_ids: Callable[[], str] | None = None
        self.extra_headers: tuple[tuple[str, str], ...] = ()
        self.is_stream = False

    async def send(self, message: JsonObject) -> None:
        await self.open_stream()
        await self._exchange.write(self._event(encode(message)))

    async def finish(self, message: JsonObject, status: int = 200) -> None:
        if self.is_stream:
            await self.send(message)
            await self._exchange.close()
        else:
            head = HttpHead(status, JSON_HEADERS + self.extra_headers)
            await self._exchange.respond(self._head(self._answered, head), encode(message))

    async def abandon(self) -> None:
        """End the answer without a response: the client cancelled the request."""
        await self.open_stream()
        await self._exchange.close()

    async def open_stream(self) -> None:
        """Begin the stream, unless it has begun."""
        if self.is_stream:
            return
        self.is_stream = True
        head = HttpHead(200, SSE_HEADERS + self.extra_headers)
        await self._exchange.open(self._head(self._answered, head))
        if self.event_ids is not None:
            await self._exchange.write(self._event(b""))

    def _event(self, data: bytes) -> bytes:
        event_id = b"" if self.event_ids is None else f"id: {self.event_ids()}\n".encode("ascii")
        return event_id + b"data: " + data + b"\n\n"
