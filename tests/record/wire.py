"""A raw server, the recording proxy before it, and raw clients, all on loopback."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.tls import TLSListener

from clausewise.record.journal import Journal, open_recording
from clausewise.record.proxy import ProxyOptions, serve_proxy
from clausewise.trace.events import Event, EventKind
from clausewise.trace.reader import read_events
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget

BROKEN = (
    anyio.EndOfStream,
    anyio.IncompleteRead,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)
WITHIN_S = 20


class End:
    """One end of a connection, read and written byte by byte."""

    def __init__(self, stream: ByteStream) -> None:
        self.stream = stream
        self._reader = BufferedByteReceiveStream(stream)

    async def send(self, data: bytes) -> None:
        await self.stream.send(data)

    async def exactly(self, data: bytes) -> None:
        """Receive so many bytes as `data` has, which must be these."""
        assert await self._reader.receive_exactly(len(data)) == data

    async def until(self, mark: bytes) -> bytes:
        return await self._reader.receive_until(mark, 1 << 20) + mark

    async def rest(self) -> bytes:
        """All that comes up to the end."""
        received = bytearray()
        with suppress(anyio.EndOfStream):
            while True:
                received += await self._reader.receive()
        return bytes(received)

    async def gone(self) -> None:
        """Wait until the other side has ended in whatever way."""
        with suppress(*BROKEN):
            while True:
                await self.stream.receive()

    async def reset(self) -> None:
        """Close so that the other side sees a connection reset."""
        raw: socket.socket = self.stream.extra(SocketAttribute.raw_socket)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.stream.aclose()


Script = Callable[[End], Awaitable[None]]


@dataclass
class Recorder:
    """A running proxy: its URL, its trace and what it complained of."""

    url: str
    trace: Path
    authority: str
    complaints: list[str] = field(default_factory=list)

    @property
    def host(self) -> bytes:
        """The value of a client's Host header."""
        return urlsplit(self.url).netloc.encode()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[End]:
        port = urlsplit(self.url).port
        assert port is not None
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            yield End(stream)

    def events(self) -> list[Event]:
        with self.trace.open("rb") as lines:
            return list(read_events(lines, self.trace.name))

    def of_kind(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events() if event.kind is kind]

    async def recorded(self, what: Callable[[Event], bool]) -> Event:
        """The first event of which `what` is true, waited for."""
        with anyio.fail_after(WITHIN_S):
            while True:
                for event in self.events():
                    if what(event):
                        return event
                await anyio.sleep(0.01)


@asynccontextmanager
async def serving(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Run `script` for each connection; gives the URL."""

    async def handle(stream: ByteStream) -> None:
        async with stream:
            with suppress(*BROKEN):
                await script(End(stream))

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    served = listener if tls is None else TLSListener(listener, tls, standard_compatible=False)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(served.serve, handle)
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{port}/mcp"
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def recording_of(
    url: str,
    folder: Path,
    *,
    limits: Limits = Limits(),
    ca_file: str | None = None,
    keep_payloads: bool = False,
) -> AsyncIterator[Recorder]:
    """The proxy before the server at `url`."""
    target = HttpTarget(url, ca_file=ca_file)
    writer, trace = open_recording(folder / "s.jsonl", overwrite=True, keep_payloads=keep_payloads)
    complaints: list[str] = []
    with writer:
        journal = Journal(writer, keep_payloads=keep_payloads, complain=complaints.append)
        options = ProxyOptions(target, limits=limits)
        with anyio.fail_after(WITHIN_S):
            async with serve_proxy(options, journal, complaints.append) as own_url:
                yield Recorder(own_url, trace, target.authority, complaints)


@asynccontextmanager
async def recorded(
    script: Script, folder: Path, *, limits: Limits = Limits()
) -> AsyncIterator[Recorder]:
    """A server that runs `script` for each connection, and the proxy before it."""
    async with serving(script) as url, recording_of(url, folder, limits=limits) as recorder:
        yield recorder


async def closed_port() -> int:
    """A port that nobody listens on."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    async with listener:
        return int(listener.extra(SocketAttribute.local_port))


def half_closed(end: End) -> SocketStream:
    assert isinstance(end.stream, SocketStream)
    return end.stream
