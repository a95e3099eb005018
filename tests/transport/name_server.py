"""A name server for tests: it answers each question over UDP with the same TXT records."""

from __future__ import annotations

import struct
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from anyio.abc import SocketAttribute

from clausewise.transport.dns import NameServer

Answering = Callable[[bytes], bytes | None]


@asynccontextmanager
async def serve_datagrams(answer: Answering) -> AsyncIterator[NameServer]:
    """Answer each datagram with what `answer` makes of it, or not at all."""
    async with (
        await anyio.create_udp_socket(local_host="127.0.0.1") as socket,
        anyio.create_task_group() as tasks,
    ):

        async def serve() -> None:
            async for data, (host, port) in socket:
                made = answer(data)
                if made is not None:
                    await socket.sendto(made, host, port)

        tasks.start_soon(serve)
        yield NameServer("127.0.0.1", socket.extra(SocketAttribute.local_port))
        tasks.cancel_scope.cancel()


def response(question: bytes, records: Sequence[bytes], flags: int = 0x8180) -> bytes:
    """A response with records of type TXT; each `records` is the data of one."""
    header = question[:2] + struct.pack(">5H", flags, 1, len(records), 0, 0)
    answers = b"".join(
        b"\xc0\x0c" + struct.pack(">2HIH", 16, 1, 60, len(data)) + data for data in records
    )
    return header + question[12:] + answers


def text_data(text: str) -> bytes:
    """The data of a TXT record, in strings of at most 255 bytes."""
    data = text.encode()
    pieces = [data[at : at + 255] for at in range(0, len(data), 255)] or [b""]
    return b"".join(bytes([len(piece)]) + piece for piece in pieces)


def serve_records(records: Sequence[str]) -> AbstractAsyncContextManager[NameServer]:
    """A name server whose every domain has these TXT records."""
    return serve_datagrams(lambda asked: response(asked, [text_data(text) for text in records]))
