"""Modern messages over Streamable HTTP.

Source: basic/transports/streamable-http.
"""

from __future__ import annotations

from clausewise.reference.envelope import check_envelope, refusal
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.http_outlet import JSON_HEADERS, HttpOutlet
from clausewise.reference.messages import (
    INVALID_REQUEST,
    JsonObject,
    RpcError,
    encode,
)
from clausewise.reference.modern.parts import UNSUPPORTED_VERSION, Incoming
from clausewise.reference.modern.service import serve
from clausewise.reference.wiring import Answered, Runtime
from clausewise.wire.jsonrpc import MessageClass, classify

_NOTIFICATIONS = frozenset({"notifications/cancelled"})
"""What a modern client may notify of; over HTTP it has no effect."""


async def post(
    exchange: HttpExchange, runtime: Runtime, message: JsonObject, answered: Answered
) -> None:
    """Answer one POSTed message.

    Raises:
        RpcError: a message that cannot be accepted and whose answer has no id.
    """
    kind = classify(message)
    if kind is MessageClass.NOTIFICATION:
        response = runtime.wiring.modern.notice(message)
        if response is not None:
            await exchange.respond(HttpHead(200, JSON_HEADERS), encode(response))
            return
        _check_notification(exchange, runtime, message)
        head = runtime.wiring.http.head(answered, HttpHead(202))
        await exchange.respond(head)
        return
    if kind is not MessageClass.REQUEST:
        raise RpcError(INVALID_REQUEST, "a client sends no responses in this revision")
    outlet = HttpOutlet(exchange, answered, runtime.wiring.http.head)
    try:
        check_envelope(message)
    except RpcError as error:
        await outlet.finish(refusal(message, error), error.status)
        return
    incoming = Incoming(message, exchange.request, exchange.request.connection)
    await serve(incoming, outlet, runtime.wiring.modern)


def _check_notification(exchange: HttpExchange, runtime: Runtime, message: JsonObject) -> None:
    if message.get("jsonrpc") != "2.0" or "id" in message:
        raise RpcError(INVALID_REQUEST, "not a JSON-RPC notification")
    if message["method"] not in _NOTIFICATIONS:
        raise RpcError(INVALID_REQUEST, f"unknown notification {message['method']!r}")
    versions = runtime.wiring.modern.versions
    requested = exchange.request.value("mcp-protocol-version")
    if requested is not None and requested not in versions:
        data = {"supported": list(versions), "requested": requested}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
