"""The reference server on a pair of in-memory streams, as it is on stdin and stdout."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from clausewise.reference.options import ServerLimits, ServerOptions
from clausewise.reference.server import build
from clausewise.reference.stdio_layer import serve_streams
from tests.reference.client import Json

_MAX_LINE = 1_000_000
_DUAL = ServerOptions(limits=ServerLimits(shutdown_s=0.05))


class _Receive(ByteReceiveStream):
    def __init__(self, items: MemoryObjectReceiveStream[bytes]) -> None:
        self._items = items

    async def receive(self, max_bytes: int = 65536) -> bytes:
        return await self._items.receive()

    async def aclose(self) -> None:
        await self._items.aclose()


class _Send(ByteSendStream):
    def __init__(self, items: MemoryObjectSendStream[bytes]) -> None:
        self._items = items

    async def send(self, item: bytes) -> None:
        await self._items.send(item)

    async def aclose(self) -> None:
        await self._items.aclose()


class Pipe:
    """The client's end."""

    def __init__(self, send: _Send, receive: _Receive) -> None:
        self._send = send
        self._lines = BufferedByteReceiveStream(receive)

    async def write(self, data: bytes) -> None:
        await self._send.send(data)

    async def send(self, *messages: Any) -> None:
        for message in messages:
            await self.write(json.dumps(message).encode() + b"\n")

    async def receive(self) -> Json:
        line = await self._lines.receive_until(b"\n", _MAX_LINE)
        message: Json = json.loads(line)
        return message

    async def ask(self, message: Any) -> Json:
        await self.send(message)
        return await self.receive()

    async def close_stdin(self) -> None:
        await self._send.aclose()

    async def close_stdout(self) -> None:
        await self._lines.aclose()

    async def rest(self) -> list[Json]:
        """Everything the server still writes before it ends."""
        found = []
        while True:
            try:
                found.append(await self.receive())
            except (anyio.IncompleteRead, anyio.EndOfStream, anyio.ClosedResourceError):
                return found


@asynccontextmanager
async def piped(options: ServerOptions = _DUAL) -> AsyncIterator[Pipe]:
    """A server on streams; it must end by itself once the client has left."""
    to_server, stdin = anyio.create_memory_object_stream[bytes](100)
    stdout, from_server = anyio.create_memory_object_stream[bytes](100)

    async def serve() -> None:
        async with stdin, stdout:
            await serve_streams(build(options), _Receive(stdin), _Send(stdout))

    with anyio.fail_after(30):
        async with to_server, from_server, anyio.create_task_group() as tasks:
            tasks.start_soon(serve)
            pipe = Pipe(_Send(to_server), _Receive(from_server))
            yield pipe
            await pipe.close_stdin()
            await pipe.rest()
