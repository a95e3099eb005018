"""HTTP/1.1 on a byte stream: requests written verbatim, responses read with every byte kept."""

from __future__ import annotations

from contextlib import suppress

import anyio
import h11
from anyio.abc import ByteStream

from clausewise.transport.answers import Ending
from clausewise.transport.targets import HttpRequest

_CHUNK_BYTES = 64 * 1024
_GLANCE_S = 0.001
_TOO_LONG = 431  # the status that h11 hints at when a head outgrows its bound


def encode_request(request: HttpRequest, request_target: str) -> bytes:
    """The bytes of a request; `request_target` stands in where the request has no path."""
    target = request_target if request.path is None else request.path
    lines = [f"{request.method} {target} HTTP/1.1".encode()]
    lines += [name + b": " + value for name, value in request.headers]
    return b"\r\n".join([*lines, b"", request.body])


class WireFault(Exception):  # noqa: N818 - it is the peer's fault, told as an ending
    """Reading cannot go on.

    Args:
        ending: what became of the answer.
        detail: the same in words.
    """

    def __init__(self, ending: Ending, detail: str) -> None:
        super().__init__(detail)
        self.ending = ending
        self.detail = detail


class HttpWire:
    """The client's HTTP/1.1 state on one stream."""

    def __init__(self, stream: ByteStream, max_header_bytes: int) -> None:
        self._stream = stream
        self._max_header_bytes = max_header_bytes
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=max_header_bytes)
        self._received = bytearray()
        self._last = b""
        self._head_done = False

    async def send(self, request: HttpRequest, request_target: str) -> None:
        """Write a request. A peer that stopped reading is no error: it may have answered."""
        self._begin(request)
        with suppress(anyio.BrokenResourceError, OSError):
            await self._stream.send(encode_request(request, request_target))

    def _begin(self, request: HttpRequest) -> None:
        """Tell h11 what it must know to frame the answer; it sends nothing itself."""
        if self._h11.our_state is h11.DONE:
            self._h11.start_next_cycle()
        self._received.clear()
        self._last = b""
        self._head_done = False
        method = "HEAD" if request.method == "HEAD" else "POST"
        stand_in = [("host", "stand-in"), ("content-length", "0")]
        if any(n.lower() == b"connection" and b"close" in v.lower() for n, v in request.headers):
            stand_in.append(("connection", "close"))
        self._h11.send(h11.Request(method=method, target="/", headers=stand_in))
        self._h11.send(h11.EndOfMessage())

    async def head(self) -> h11.InformationalResponse | h11.Response:
        """The next response head, interim (1xx) or final.

        Raises:
            WireFault: the peer closed, sent no HTTP/1.1, or a head beyond the bound.
        """
        event = await self._next()
        if isinstance(event, h11.Response):
            self._head_done = True
            unread = len(self._h11.trailing_data[0])
            self._last = bytes(self._received[len(self._received) - unread :])
            del self._received[len(self._received) - unread :]
        elif not isinstance(event, h11.InformationalResponse):
            raise WireFault(Ending.RESET, self._closed_early())
        return event

    async def body(self) -> bytes | None:
        """The next piece of the body, without its framing; None at its end.

        Raises:
            WireFault: the peer closed before the end, or framed the body wrongly.
        """
        event = await self._next()
        if isinstance(event, h11.Data):
            return bytes(event.data)
        if isinstance(event, h11.EndOfMessage):
            return None
        raise WireFault(Ending.RESET, self._closed_early())

    @property
    def head_bytes(self) -> bytes:
        """What was received up to the end of the final head, or so far."""
        return bytes(self._received)

    @property
    def last_piece(self) -> bytes:
        """What was received last: where a fault in the framing of the body is."""
        return self._last

    async def glance(self) -> bytes:
        """What the peer has said between two exchanges; waits for it no more than a moment."""
        with (
            anyio.move_on_after(_GLANCE_S),
            suppress(anyio.EndOfStream, anyio.BrokenResourceError, OSError),
        ):
            return await self._stream.receive(_CHUNK_BYTES)
        return b""

    @property
    def unread(self) -> bytes:
        """What was received but is no part of the answer."""
        return bytes(self._h11.trailing_data[0])

    @property
    def reusable(self) -> bool:
        """Whether both sides are between two exchanges and mean to go on."""
        states = (self._h11.our_state, self._h11.their_state)
        return states in ((h11.IDLE, h11.IDLE), (h11.DONE, h11.DONE)) and not self.unread

    async def _next(self) -> object:
        while True:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError as error:
                raise self._fault(error) from None
            if event is not h11.NEED_DATA:
                return event
            await self._receive()

    async def _receive(self) -> None:
        try:
            data = await self._stream.receive(_CHUNK_BYTES)
        except anyio.EndOfStream:
            data = b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            raise WireFault(Ending.RESET, f"the peer reset the connection {self._when()}") from None
        if self._head_done:
            self._last = data
        else:
            self._received += data
            if len(self._received) > self._max_header_bytes + _CHUNK_BYTES:
                raise WireFault(Ending.LIMIT, self._head_too_long())
        self._h11.receive_data(data)

    def _fault(self, error: h11.RemoteProtocolError) -> WireFault:
        if self._h11.trailing_data[1]:
            return WireFault(Ending.RESET, self._closed_early())
        if error.error_status_hint == _TOO_LONG:
            return WireFault(Ending.LIMIT, self._head_too_long())
        return WireFault(Ending.GARBLED, f"no HTTP/1.1: {error}")

    def _head_too_long(self) -> str:
        return f"a response head of more than {self._max_header_bytes} bytes"

    def _closed_early(self) -> str:
        return f"the peer closed the connection {self._when()}"

    def _when(self) -> str:
        if self._head_done:
            return "in the middle of the body"
        if self._received:
            return "in the middle of the response head"
        return "before it answered"
