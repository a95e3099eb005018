"""HTTP/1.1 over raw streams: h11 reads requests, every byte of an answer is ours to choose."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import anyio
import h11
from anyio.abc import ByteStream

from clausewise.reference.options import ServerLimits

logger = logging.getLogger(__name__)

_READ_BYTES = 64 * 1024
_REASONS = {
    100: "Continue",
    200: "OK",
    202: "Accepted",
    204: "No Content",
    302: "Found",
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it arrived; header names are lower-case, values without outer whitespace.

    `connection` numbers the connections of a server from 1; `query` is what follows the
    question mark of the request target; `spelled` are the header names in the case they came in.
    """

    method: str
    path: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    connection: int
    http_1_0: bool = False
    query: str = ""
    spelled: tuple[bytes, ...] = ()

    def values(self, name: str) -> tuple[str, ...]:
        """The values of the header `name`, one per field line."""
        wanted = name.lower().encode("ascii")
        return tuple(value.decode("latin-1") for key, value in self.headers if key == wanted)

    def value(self, name: str) -> str | None:
        """The values of the header `name` joined with `, `, or None."""
        values = self.values(name)
        return ", ".join(values) if values else None

    @property
    def wants_close(self) -> bool:
        tokens = {token.strip().lower() for token in (self.value("connection") or "").split(",")}
        return "close" in tokens or self.http_1_0


@dataclass(frozen=True, slots=True)
class HttpHead:
    """Status and headers of an answer, as they go on the wire (framing is added)."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()


class ClientGoneError(Exception):
    """The client closed the connection, or cannot be written to."""


class HttpExchange:
    """One request and the answer being written to it.

    `outlives_client` keeps the request going when the client disconnects; what would be
    written then is dropped. `principal` is whose token the request carries, "" if none is wanted.
    """

    def __init__(self, request: HttpRequest, stream: ByteStream) -> None:
        self.request = request
        self.started = False
        self.outlives_client = False
        self.principal = ""
        self.keep_alive = not request.wants_close
        self._stream = stream

    async def respond(self, head: HttpHead, body: bytes = b"") -> None:
        """Send a whole answer with a Content-Length."""
        self.started = True
        await self.send_raw(self._head_bytes(head, ("Content-Length", str(len(body)))) + body)

    async def open(self, head: HttpHead) -> None:
        """Begin an answer of unknown length: chunked, or until close for an HTTP/1.0 client."""
        self.started = True
        framing = (
            ("Connection", "close") if self.request.http_1_0 else ("Transfer-Encoding", "chunked")
        )
        await self.send_raw(self._head_bytes(head, framing))

    async def write(self, data: bytes) -> None:
        """Send a piece of an answer begun with `open`."""
        if self.request.http_1_0:
            await self.send_raw(data)
        else:
            await self.send_raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def close(self) -> None:
        """End an answer begun with `open`."""
        if not self.request.http_1_0:
            await self.send_raw(b"0\r\n\r\n")

    async def hang_up(self) -> None:
        """End an answer begun with `open` and close the connection; the request goes on."""
        self.outlives_client = True
        self.keep_alive = False
        await self.close()
        await self._stream.aclose()

    async def send_raw(self, data: bytes) -> None:
        """Send exactly these bytes.

        Raises:
            ClientGoneError: the connection is broken, and the request ends with it.
        """
        try:
            await self._stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            if not self.outlives_client:
                raise ClientGoneError from None

    def _head_bytes(self, head: HttpHead, framing: tuple[str, str]) -> bytes:
        lines = [f"HTTP/1.1 {head.status} {_REASONS.get(head.status, 'Unknown')}"]
        lines += [f"{name}: {value}" for name, value in (*head.headers, framing)]
        if not self.keep_alive and framing[0] != "Connection":
            lines.append("Connection: close")
        return "\r\n".join([*lines, "", ""]).encode("latin-1")


HttpHandler = Callable[[HttpExchange], Awaitable[None]]


class _RefusedError(Exception):
    """The request cannot be read; the answer is this status, then the connection closes."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(slots=True)
class HttpConnection:
    """Serves the requests of one connection, one after the other."""

    stream: ByteStream
    number: int
    handler: HttpHandler
    limits: ServerLimits
    _received: bytes = b""
    _at_end: bool = False

    async def serve(self) -> None:
        """Answer requests until either side ends the connection; never raises for its client."""
        try:
            while await self._serve_one():
                pass
        except (ClientGoneError, anyio.BrokenResourceError, OSError):
            logger.debug("connection %d: the client is gone", self.number)

    async def _serve_one(self) -> bool:
        """Whether another request may follow."""
        try:
            request = await self._read_request()
        except _RefusedError as refused:
            await self.refuse(refused.status)
            return False
        if request is None:
            return False
        exchange = HttpExchange(request, self.stream)
        await self._answer(exchange)
        return exchange.keep_alive and not self._at_end

    async def refuse(self, status: int) -> None:
        """Answer without reading further; the connection is to be closed after it."""
        exchange = HttpExchange(HttpRequest("", "", (), b"", self.number), self.stream)
        exchange.keep_alive = False
        with suppress(ClientGoneError):
            await exchange.respond(HttpHead(status))

    async def _answer(self, exchange: HttpExchange) -> None:
        """Run the handler; a client that goes away cancels it."""
        async with anyio.create_task_group() as tasks:

            async def watch() -> None:
                await self._watch(exchange)
                if not exchange.outlives_client:
                    tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            try:
                await self.handler(exchange)
            except ClientGoneError:
                exchange.keep_alive = False
            tasks.cancel_scope.cancel()

    async def _watch(self, exchange: HttpExchange) -> None:
        """Return when the request is to be cancelled, because the client stopped sending.

        A client that only closed its sending half still gets an answer that comes soon. What
        a client sends ahead is kept up to a bound; beyond it nothing more is read for now.
        """
        while not self._at_end:
            if len(self._received) > self.limits.max_head_bytes:
                await anyio.sleep_forever()
            await self._receive()
        if not exchange.started:
            await anyio.sleep(self.limits.half_close_s)
        exchange.keep_alive = False

    async def _receive(self) -> bytes:
        """Take what arrives next; the end of the stream, or its loss, sets `_at_end`."""
        try:
            data = await self.stream.receive(_READ_BYTES)
        except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            self._at_end = True
            return b""
        self._received += data
        return data

    async def _read_request(self) -> HttpRequest | None:
        """The next request, or None when the connection ends before one.

        Raises:
            _RefusedError: it is no HTTP, too large, or does not arrive in time.
        """
        reader = h11.Connection(h11.SERVER, max_incomplete_event_size=self.limits.max_head_bytes)
        with anyio.move_on_after(self.limits.idle_s):
            while not self._received and not self._at_end:
                await self._receive()
        if not self._received:
            return None
        try:
            with anyio.fail_after(self.limits.read_s):
                return await self._parse_request(reader)
        except TimeoutError:
            raise _RefusedError(408) from None
        except h11.RemoteProtocolError as error:
            raise _RefusedError(error.error_status_hint) from None

    async def _parse_request(self, reader: h11.Connection) -> HttpRequest | None:
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = reader.next_event()
            if event is h11.NEED_DATA:
                if head is not None and reader.they_are_waiting_for_100_continue:
                    await self.stream.send(b"HTTP/1.1 100 Continue\r\n\r\n")
                await self._feed(reader)
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > self.limits.max_body_bytes:
                    raise _RefusedError(413)
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                trailing, _ = reader.trailing_data
                self._received = trailing + self._received
                return self._request(head, bytes(body))
            else:
                return None

    async def _feed(self, reader: h11.Connection) -> None:
        if not self._received and not self._at_end:
            await self._receive()
        data, self._received = self._received, b""
        reader.receive_data(data)

    def _request(self, head: h11.Request, body: bytes) -> HttpRequest:
        path, _, query = head.target.decode("ascii").partition("?")
        return HttpRequest(
            method=head.method.decode("ascii"),
            path=path,
            headers=tuple(head.headers),
            body=body,
            connection=self.number,
            http_1_0=head.http_version < b"1.1",
            query=query,
            spelled=tuple(name for name, _ in head.headers.raw_items()),
        )
