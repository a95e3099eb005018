"""Legacy sessions over Streamable HTTP.

Source: 2025-11-25, basic/transports#streamable-http.
"""

from __future__ import annotations

import anyio

from clausewise.core.vocabulary import Era
from clausewise.reference.envelope import check_envelope, refusal
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.http_outlet import HttpOutlet
from clausewise.reference.legacy.methods import negotiate
from clausewise.reference.legacy.service import relay_changes, serve, take_notification
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.legacy.streams import SessionStream
from clausewise.reference.messages import (
    INVALID_REQUEST,
    JsonObject,
    RpcError,
)
from clausewise.reference.wiring import Answered, Runtime
from clausewise.wire.jsonrpc import MessageClass, classify

SESSION_HEADER = "MCP-Session-Id"


async def post(
    exchange: HttpExchange, runtime: Runtime, message: JsonObject, answered: Answered
) -> None:
    """Answer one POSTed message.

    Raises:
        RpcError: a message that cannot be accepted and whose answer has no id.
    """
    kind = classify(message)
    if kind is MessageClass.REQUEST:
        await _post_request(exchange, runtime, message, answered)
        return
    session = _session(exchange, runtime)
    if kind is MessageClass.NOTIFICATION:
        if message.get("jsonrpc") != "2.0" or "id" in message:
            raise RpcError(INVALID_REQUEST, "not a JSON-RPC notification")
        take_notification(message, session)
    elif not session.take_response(message):
        raise RpcError(INVALID_REQUEST, "no request of the server waits for this response")
    await exchange.respond(runtime.wiring.http.head(answered, HttpHead(202)))


async def _post_request(
    exchange: HttpExchange, runtime: Runtime, message: JsonObject, answered: Answered
) -> None:
    outlet = HttpOutlet(exchange, answered, runtime.wiring.http.head)
    try:
        check_envelope(message)
        session = (
            _open_session(runtime, message, outlet, exchange.principal)
            if message["method"] == "initialize"
            else _session(exchange, runtime)
        )
    except RpcError as error:
        await outlet.finish(refusal(message, error), error.status)
        return
    outlet.resumable = stream = session.history.open()
    # In this revision a lost connection cancels nothing.
    exchange.outlives_client = True
    try:
        if not await serve(message, outlet, session, runtime.wiring.legacy):
            await outlet.abandon()
    finally:
        stream.end()


def _open_session(
    runtime: Runtime, message: JsonObject, outlet: HttpOutlet, principal: str
) -> LegacySession:
    params = message.get("params", {})
    version = negotiate(params, runtime.wiring.legacy)
    session = runtime.sessions.open(version, params["capabilities"], principal)
    outlet.extra_headers = ((SESSION_HEADER, session.id),)
    return session


def _session(exchange: HttpExchange, runtime: Runtime) -> LegacySession:
    """The session that the request names.

    Raises:
        RpcError: no session is named (400), it is not alive (404), or the version header
            names a version that this server does not speak (400).
    """
    request = exchange.request
    version = request.value("mcp-protocol-version")
    if version is not None and version not in runtime.wiring.legacy.versions:
        raise RpcError(INVALID_REQUEST, f"unsupported MCP-Protocol-Version {version!r}")
    session_id = request.value(SESSION_HEADER)
    if session_id is None:
        raise RpcError(INVALID_REQUEST, f"the header {SESSION_HEADER} is missing")
    session = runtime.sessions.find(session_id, exchange.principal)
    if session is None:
        raise RpcError(INVALID_REQUEST, "no such session; initialize a new one", status=404)
    return session


async def get(exchange: HttpExchange, runtime: Runtime) -> None:
    """The rest of the stream that `Last-Event-ID` names, or a stream of what concerns no request.

    An id of a stream that is no longer known is ignored.

    Raises:
        RpcError: the client does not accept a stream (406), or names no live session.
    """
    accept = exchange.request.value("accept") or ""
    if "text/event-stream" not in accept.lower():
        raise RpcError(INVALID_REQUEST, "Accept must list text/event-stream", status=406)
    session = _session(exchange, runtime)
    answered = Answered(exchange.request, Era.LEGACY)
    outlet = HttpOutlet(exchange, answered, runtime.wiring.http.head)
    lost = session.history.find(exchange.request.value("last-event-id"))
    if lost is None:
        await _listen(outlet, session, runtime, None)
    elif lost[0] is session.standalone:
        await _listen(outlet, session, runtime, lost[1])
    else:
        await _resume(outlet, *lost)
    await outlet.close()


async def _resume(outlet: HttpOutlet, stream: SessionStream, number: int) -> None:
    """Carry the stream of a request from the event after `number` to its end."""
    await outlet.open_stream()
    async for missed in stream.follow(number, outlet):
        await outlet.replay(missed.data, missed.id)


async def _listen(
    outlet: HttpOutlet, session: LegacySession, runtime: Runtime, number: int | None
) -> None:
    """Carry what concerns no request; a newer request to do so ends this.

    `number` is the last event that the client had of the stream it lost.
    """
    if session.listener is not None:
        session.listener.cancel()
    with anyio.CancelScope() as scope:
        session.listener = scope
        try:
            if session.standalone is None or number is None:
                await _open_standalone(outlet, session)
            else:
                await _reopen_standalone(outlet, session.standalone, number)
            await relay_changes(session, runtime.wiring.legacy, outlet.send)
        finally:
            if session.listener is scope:
                session.listener = None


async def _open_standalone(outlet: HttpOutlet, session: LegacySession) -> None:
    if session.standalone is not None:
        session.standalone.end()
    outlet.resumable = session.standalone = session.history.open()
    await outlet.open_stream()


async def _reopen_standalone(outlet: HttpOutlet, stream: SessionStream, number: int) -> None:
    await outlet.open_stream()
    outlet.resumable = stream
    stream.carry(outlet)
    for missed in stream.after(number):
        await outlet.replay(missed.data, missed.id)


async def delete(exchange: HttpExchange, runtime: Runtime) -> None:
    """End the session that the request names.

    Raises:
        RpcError: it names no live session.
    """
    session = _session(exchange, runtime)
    runtime.sessions.end(session.id)
    if not session.principal:
        runtime.wiring.legacy.tasks.drop(session.owner)
    answered = Answered(exchange.request, Era.LEGACY)
    await exchange.respond(runtime.wiring.http.head(answered, HttpHead(204)))
