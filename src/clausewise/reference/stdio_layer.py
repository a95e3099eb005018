"""Newline-delimited JSON over a pair of byte streams: stdin and stdout, or any other."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, TaskGroup
from anyio.lowlevel import checkpoint

from clausewise.core.vocabulary import Era
from clausewise.reference.envelope import check_envelope, refusal
from clausewise.reference.legacy import service as legacy
from clausewise.reference.legacy.methods import negotiate
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    JsonObject,
    RpcError,
    encode,
    error_response,
)
from clausewise.reference.modern import service as modern
from clausewise.reference.modern.parts import Incoming
from clausewise.reference.routing import era_over_stdio
from clausewise.reference.wiring import Runtime
from clausewise.wire.jsonrpc import IdKey, MessageClass, classify, id_key
from clausewise.wire.jsontext import JsonTextError, decode

logger = logging.getLogger(__name__)

_ONLY_CONNECTION = 1


async def read_lines(stream: ByteReceiveStream, max_bytes: int) -> AsyncIterator[bytes | None]:
    """The lines of a stream without their newlines; None stands for one that is too long."""
    kept = bytearray()
    too_long = False
    async for chunk in stream:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            kept += piece
            yield None if too_long or len(kept) > max_bytes else bytes(kept)
            kept.clear()
            too_long = False
        kept += rest
        if len(kept) > max_bytes:
            kept.clear()
            too_long = True
    if kept:
        yield bytes(kept)


class LineOutlet:
    """Writes whole messages, one a line, never two mixed.

    What a client that stopped reading would have got is dropped; it ends the server by
    closing the other stream.
    """

    def __init__(self, stream: ByteSendStream) -> None:
        self._stream = stream
        self._turn = anyio.Lock()

    async def send(self, message: JsonObject) -> None:
        async with self._turn:
            try:
                await self._stream.send(encode(message) + b"\n")
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                logger.debug("the client reads no more")

    async def finish(self, message: JsonObject, status: int = 200) -> None:
        del status  # stdio has none
        await self.send(message)

    async def hang_up(self, retry_ms: int) -> None:
        """There is one connection for everything; it stays."""


@dataclass(slots=True)
class StdioServer:
    """Serves one client on a pair of streams."""

    runtime: Runtime
    outlet: LineOutlet
    tasks: TaskGroup
    _session: LegacySession | None = None
    _in_progress: dict[IdKey, anyio.CancelScope] = field(default_factory=dict)

    async def take(self, line: bytes | None) -> None:
        """Act on one line; requests run as tasks of their own."""
        try:
            message = self._read(line)
            if message is not None:
                self._start(message)
                # A request is in progress before the next line is read, which may cancel it.
                await checkpoint()
        except RpcError as error:
            await self.outlet.finish(error_response(None, error))

    def _read(self, line: bytes | None) -> JsonObject | None:
        if line is None:
            raise RpcError(INVALID_REQUEST, "the line is too long")
        if not line.strip():
            return None
        try:
            message = decode(line)
        except JsonTextError as error:
            raise RpcError(PARSE_ERROR, f"Parse error: {error}") from None
        if classify(message) in (MessageClass.BATCH, MessageClass.MALFORMED):
            raise RpcError(INVALID_REQUEST, "a line must be one JSON-RPC message")
        checked: JsonObject = message
        return checked

    def _start(self, message: JsonObject) -> None:
        kind = classify(message)
        if kind is MessageClass.NOTIFICATION:
            self._notice(message)
        elif kind is not MessageClass.REQUEST:
            if self._session is not None:
                self._session.take_response(message)
        elif len(self._in_progress) >= self.runtime.options.limits.max_requests:
            raise RpcError(INTERNAL_ERROR, "too many requests in progress")
        else:
            self.tasks.start_soon(self._serve, message)

    def _notice(self, message: JsonObject) -> None:
        response = self.runtime.wiring.modern.notice(message)
        if response is not None:
            self.tasks.start_soon(self.outlet.send, response)
        params = message.get("params")
        if message["method"] == "notifications/cancelled" and isinstance(params, dict):
            scope = self._in_progress.get(id_key(params.get("requestId")))
            if scope is not None:
                scope.cancel()
        if self._session is not None and isinstance(message["method"], str):
            legacy.take_notification(message, self._session)

    async def _serve(self, message: JsonObject) -> None:
        key = id_key(message["id"])
        with anyio.CancelScope() as scope:
            try:
                check_envelope(message)
                if key in self._in_progress:
                    raise RpcError(INVALID_REQUEST, "this id is in use by a request in progress")
                if message["method"] != "initialize":
                    self._in_progress[key] = scope
                await self._serve_checked(message)
            except RpcError as error:
                await self.outlet.finish(refusal(message, error))
            except Exception:  # a fault of ours must not end the server
                logger.exception("a request failed")
                fault = RpcError(INTERNAL_ERROR, "Internal error")
                await self.outlet.finish(refusal(message, fault))
            finally:
                if self._in_progress.get(key) is scope:
                    del self._in_progress[key]

    async def _serve_checked(self, message: JsonObject) -> None:
        wiring, served = self.runtime.wiring, self.runtime.options.era
        era = era_over_stdio(message, served, in_session=self._session is not None)
        if era is Era.MODERN:
            incoming = Incoming(message, None, _ONLY_CONNECTION)
            await modern.serve(incoming, self.outlet, wiring.modern)
            return
        session = self._legacy_session(message)
        await legacy.serve(message, self.outlet, session, wiring.legacy)

    def _legacy_session(self, message: JsonObject) -> LegacySession:
        """The session of this process; `initialize` opens it, `ping` needs none."""
        if message["method"] == "initialize":
            if self._session is not None:
                raise RpcError(INVALID_REQUEST, "the session is already initialized")
            params = message.get("params", {})
            version = negotiate(params, self.runtime.wiring.legacy)
            self._session = LegacySession("stdio", version, params["capabilities"])
            self.tasks.start_soon(
                legacy.relay_changes, self._session, self.runtime.wiring.legacy, self.outlet.send
            )
        if self._session is not None:
            return self._session
        if message["method"] == "ping":
            return LegacySession("stdio", "", {})
        raise RpcError(INVALID_REQUEST, "the session begins with initialize")


async def serve_streams(runtime: Runtime, receive: ByteReceiveStream, send: ByteSendStream) -> None:
    """Serve the client at the other end until it stops sending.

    Requests still in progress then get a bounded time to end; subscriptions end at once.
    """
    limits = runtime.options.limits
    async with anyio.create_task_group() as tasks:
        runtime.wiring.legacy.background.open(tasks)
        server = StdioServer(runtime, LineOutlet(send), tasks)
        async for line in read_lines(receive, limits.max_body_bytes):
            await server.take(line)
        runtime.wiring.modern.content.feed.close()
        tasks.cancel_scope.deadline = anyio.current_time() + limits.shutdown_s
