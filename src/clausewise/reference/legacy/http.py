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
            _open_session(runtime, message, outlet)
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


def _open_session(runtime: Runtime, message: JsonObject, outlet: HttpOutlet) -> LegacySession:
    params = message.get("params", {})
    version = negotiate(params, runtime.wiring.legacy)
    session = runtime.sessions.open(version, params["capabilities"])
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
    session = runtime.sessions.find(session_id)
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
    found = session.history.find(exchange.request.value("last-event-id"))
    if found is None:
        await _listen(outlet, session, runtime)
        return
    stream, number = found
    await outlet.open_stream()
    if stream is session.standalone:
        for missed in stream.after(number):
            await outlet.replay(missed.data, missed.id)
        await _listen(outlet, session, runtime)
        return
    async for missed in stream.follow(number, outlet):
        await outlet.replay(missed.data, missed.id)
    await outlet.abandon()


async def _listen(outlet: HttpOutlet, session: LegacySession, runtime: Runtime) -> None:
    """Carry what concerns no request; a newer such stream of the session ends an older one."""
    if session.listener is not None:
        session.listener.cancel()
    outlet.resumable = session.standalone = session.history.open()
    with anyio.CancelScope() as scope:
        session.listener = scope
        try:
            await outlet.open_stream()
            await relay_changes(session, runtime.wiring.legacy, outlet.send)
        finally:
            if session.listener is scope:
                session.listener = None
    await outlet.abandon()


async def delete(exchange: HttpExchange, runtime: Runtime) -> None:
    """End the session that the request names.

    Raises:
        RpcError: it names no live session.
    """
    runtime.sessions.end(_session(exchange, runtime).id)
    answered = Answered(exchange.request, Era.LEGACY)
    await exchange.respond(runtime.wiring.http.head(answered, HttpHead(204)))
