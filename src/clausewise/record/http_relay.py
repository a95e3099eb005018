"""Carry one client's connection to the server and back, byte for byte, and record it.

Each client connection has one connection of its own to the server, so that keep-alive, pipelining,
`Expect: 100-continue`, interim responses, trailers and the end of either side work as if the two
spoke directly. Changed is only the value of Host.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import suppress

import anyio
from anyio.abc import ByteStream, SocketAttribute, SocketStream, TaskGroup

from clausewise.core.errors import ClausewiseError
from clausewise.core.vocabulary import Direction
from clausewise.record.http_conversation import Conversation, ForeignHostError
from clausewise.transport.http import HttpTarget, connect
from clausewise.transport.limits import Limits

_CLIENT = Direction.CLIENT_TO_SERVER
_SERVER = Direction.SERVER_TO_CLIENT

_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class HttpRelay:
    """One client connection.

    Args:
        client: the connection; the caller closes it.
        upstream: the server.
        conversation: records what passes.
        limits: `connect_s` to reach the server; `answer_s` how long one side may be silent
            after the other has ended.
        complain: called with a text about what was refused or could not be reached.
    """

    def __init__(
        self,
        client: SocketStream,
        upstream: HttpTarget,
        conversation: Conversation,
        limits: Limits,
        complain: Callable[[str], None],
    ) -> None:
        self._client = client
        self._target = upstream
        self._conversation = conversation
        self._limits = limits
        self._complain = complain
        self._server: ByteStream | None = None
        self._broke_off: Direction | None = None
        self._why = ""
        self._scope = anyio.CancelScope()
        self._silence = anyio.CancelScope()

    async def run(self) -> None:
        """Carry bytes until both sides have ended, or one is gone."""
        try:
            with self._scope, self._silence:
                async with anyio.create_task_group() as tasks:
                    await self._carry_up(tasks)
        finally:
            self._conversation.close(self._broke_off, self._why)
            if self._server is not None:
                with anyio.CancelScope(shield=True):
                    await self._server.aclose()

    async def _carry_up(self, tasks: TaskGroup) -> None:
        """Carry from the client to the server, which is connected to at the first bytes."""
        while True:
            data = await self._from_client()
            if data is None:
                return
            try:
                passed = self._conversation.client_sent(data) if data else self._ended()
            except ForeignHostError as foreign:
                await self._refuse(foreign.host)
                return
            if self._server is None and (passed or self._conversation.is_asking):
                if not await self._connect():
                    return
                tasks.start_soon(self._carry_down)
            if passed:
                await self._to_server(passed)
            if not data:
                await self._end_towards_server()
                return

    def _ended(self) -> bytes:
        self._end(_CLIENT)
        return self._conversation.client_ended()

    async def _from_client(self) -> bytes | None:
        """The next bytes, none at the end; None when the client is gone."""
        try:
            data = await self._client.receive()
        except anyio.EndOfStream:
            return b""
        except _GONE:
            self._lost(_CLIENT)
            return None
        self._expect_more()
        return data

    async def _to_server(self, data: bytes) -> None:
        """Send; a server that takes no more may have answered before, so the client goes on."""
        assert self._server is not None
        with suppress(*_GONE):
            await self._server.send(data)

    async def _end_towards_server(self) -> None:
        """Hand on that the client sends no more; TLS cannot, so there silence must do."""
        if isinstance(self._server, SocketStream):
            await self._server.send_eof()
        elif not self._conversation.is_waiting:
            self._scope.cancel()
        self._expect_more()

    async def _carry_down(self) -> None:
        """Carry from the server to the client."""
        assert self._server is not None
        while True:
            try:
                data = await self._server.receive()
            except anyio.EndOfStream:
                break
            except _GONE:
                _reset_on_close(self._client)
                self._lost(_SERVER)
                return
            self._conversation.server_sent(data)
            self._expect_more()
            try:
                await self._client.send(data)
            except _GONE:
                self._lost(_CLIENT)
                return
        self._conversation.server_ended()
        self._conversation.close(self._broke_off or _SERVER)
        self._end(_SERVER)
        await self._client.send_eof()
        self._expect_more()

    def _end(self, side: Direction) -> None:
        """The first side to end is the one that broke off what is unfinished then."""
        if self._broke_off is None:
            self._broke_off = side
        elif self._broke_off is not side:
            self._scope.cancel()

    def _lost(self, side: Direction) -> None:
        self._end(side)
        self._scope.cancel()

    def _expect_more(self) -> None:
        """Once a side has ended, the other may be silent only so long."""
        if self._broke_off is not None:
            self._silence.deadline = anyio.current_time() + self._limits.answer_s

    async def _connect(self) -> bool:
        try:
            self._server = await connect(self._target, self._limits)
        except ClausewiseError as error:
            self._complain(f"no answer from the server: {error.message}")
            await self._answer(b"502 Bad Gateway", f"{error.message}. {error.hint}")
            self._end(_SERVER)
            self._why = f"the server was not reached: {error.message}"
            return False
        return True

    async def _refuse(self, host: str) -> None:
        self._complain(f"refused a request for the host {host!r}, which is not this machine")
        # An answer of ours must not come before those that earlier requests wait for.
        if not self._conversation.is_waiting:
            await self._answer(
                b"403 Forbidden",
                f"the host {host!r} is not this machine, though this proxy answers only here. "
                "A web page may be attacking it by DNS rebinding.",
            )
        self._scope.cancel()

    async def _answer(self, status: bytes, text: str) -> None:
        """Answer in the server's place, and let the client finish its request."""
        body = f"clausewise record: {text}\n".encode()
        lines = (
            b"HTTP/1.1 " + status,
            b"Content-Type: text/plain; charset=utf-8",
            b"Content-Length: %d" % len(body),
            b"Connection: close",
        )
        try:
            with anyio.move_on_after(self._limits.exit_s):
                await self._client.send(b"\r\n".join((*lines, b"", body)))
                await self._client.send_eof()
                while True:
                    data = await self._client.receive()
                    if self._conversation.is_asking:
                        self._conversation.client_sent(data)
        except (anyio.EndOfStream, ForeignHostError, *_GONE):
            return


def _reset_on_close(stream: SocketStream) -> None:
    """Let the peer see a reset, not an orderly end."""
    raw = stream.extra(SocketAttribute.raw_socket)  # noqa: S610 - no Django
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
