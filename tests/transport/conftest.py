"""A raw server on loopback: each test scripts what it does with a connection, byte by byte."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress

import anyio
import pytest
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.tls import TLSListener


class Caller:
    """The other end of one accepted connection."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self._reader = BufferedByteReceiveStream(stream)

    async def request(self) -> bytes:
        """The next request, head and body."""
        head = await self._reader.receive_until(b"\r\n\r\n", 1024 * 1024)
        length = 0
        for line in head.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        body = await self._reader.receive_exactly(length) if length else b""
        return head + b"\r\n\r\n" + body

    async def send(self, data: bytes) -> None:
        await self.stream.send(data)

    async def reset(self) -> None:
        """Close so that the other side sees a connection reset."""
        raw: socket.socket = self.stream.extra(SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.stream.aclose()

    async def gone(self) -> None:
        """Wait until the other side has closed."""
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            while True:
                await self.stream.receive()


Script = Callable[[Caller], Awaitable[None]]
Serve = Callable[..., AbstractAsyncContextManager[str]]


@asynccontextmanager
async def _serve(
    script: Script, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[str]:
    """Run `script` for each connection; gives the URL. Everything is bounded by 10 seconds."""

    async def handle(stream: ByteStream) -> None:
        async with stream:
            with suppress(
                anyio.EndOfStream,
                anyio.IncompleteRead,
                anyio.BrokenResourceError,
                anyio.ClosedResourceError,
            ):
                await script(Caller(stream))

    listener = await anyio.create_tcp_listener(local_host=host)
    port = listener.extra(SocketAttribute.local_port)
    serving = listener if tls is None else TLSListener(listener, tls, standard_compatible=False)
    shown = f"[{host}]" if ":" in host else host
    with anyio.fail_after(10):
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(serving.serve, handle)
            yield f"{'http' if tls is None else 'https'}://{shown}:{port}/mcp"
            tasks.cancel_scope.cancel()


@pytest.fixture
def serve() -> Serve:
    return _serve
