"""The MCP endpoint: guards, then the era that a message belongs to."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from clausewise.core.vocabulary import Era
from clausewise.reference.auth.admission import admit, permit
from clausewise.reference.auth.parts import DeniedError
from clausewise.reference.http_layer import (
    ClientGoneError,
    HttpExchange,
    HttpHead,
    HttpRequest,
)
from clausewise.reference.http_outlet import JSON_HEADERS
from clausewise.reference.legacy import http as legacy_http
from clausewise.reference.messages import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    JsonObject,
    RpcError,
    encode,
    error_response,
)
from clausewise.reference.modern import http as modern_http
from clausewise.reference.options import ServerOptions
from clausewise.reference.routing import era_over_http
from clausewise.reference.wiring import ENDPOINT, Answered, Route, Runtime
from clausewise.wire.jsonrpc import MessageClass, classify
from clausewise.wire.jsontext import JsonTextError, decode

logger = logging.getLogger(__name__)

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


async def handle(exchange: HttpExchange, runtime: Runtime) -> None:
    """Answer one HTTP request, whatever it is."""
    try:
        runtime.wiring.http.guard(exchange.request, runtime.options)
        await _route(exchange, runtime)
    except RpcError as error:
        await refuse(exchange, runtime, error)
    except DeniedError as denied:
        head = runtime.wiring.protection.deny(denied, runtime.wiring.protection)
        await exchange.respond(runtime.wiring.http.head(Answered(exchange.request), head))
    except ClientGoneError:
        raise
    except Exception:  # a fault of ours must not end the server
        logger.exception("a request failed")
        if exchange.started:
            exchange.keep_alive = False
        else:
            fault = RpcError(INTERNAL_ERROR, "Internal error", status=500)
            await refuse(exchange, runtime, fault)


async def refuse(
    exchange: HttpExchange,
    runtime: Runtime,
    error: RpcError,
    headers: tuple[tuple[str, str], ...] = (),
) -> None:
    """Answer with the error's status and a JSON-RPC error that has no id."""
    head = HttpHead(error.status, JSON_HEADERS + headers)
    body = encode(error_response(None, error))
    await exchange.respond(runtime.wiring.http.head(Answered(exchange.request), head), body)


def guard(request: HttpRequest, options: ServerOptions) -> None:
    """Keep out requests that a browser was tricked into.

    Source: basic/transports/streamable-http#security-&-endpoint.

    Raises:
        RpcError: Host or Origin is not one of ours (403).
    """
    ours = LOOPBACK_NAMES | {options.host}
    hosts = request.values("host")
    named = _hostname(f"//{hosts[0]}") if len(hosts) == 1 else None
    if hosts and named not in ours and not options.allow_remote:
        raise RpcError(INVALID_REQUEST, "the Host header names another server", status=403)
    for origin in request.values("origin"):
        if _hostname(origin) not in ours:
            raise RpcError(INVALID_REQUEST, f"the origin {origin} is not allowed", status=403)


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


async def _route(exchange: HttpExchange, runtime: Runtime) -> None:
    request = exchange.request
    routes = runtime.wiring.http.routes
    route = routes.get((request.method, request.path))
    if runtime.wiring.auth is not None and request.path == ENDPOINT:
        exchange.principal = admit(request, runtime.wiring.auth).principal
    if route is not None:
        await route(exchange, runtime)
        return
    allowed = sorted(method for method, path in routes if path == request.path)
    if not allowed:
        raise RpcError(INVALID_REQUEST, f"nothing here; the endpoint is {ENDPOINT}", status=404)
    error = RpcError(INVALID_REQUEST, f"{request.method} is not allowed", status=405)
    await refuse(exchange, runtime, error, (("Allow", ", ".join(allowed)),))


async def post(exchange: HttpExchange, runtime: Runtime) -> None:
    """A message from a client."""
    message = _read_message(exchange)
    if runtime.wiring.auth is not None:
        claims = admit(exchange.request, runtime.wiring.auth)
        permit(claims, message, runtime.wiring.modern.content.tools)
    era = era_over_http(message, exchange.request, runtime.options.era)
    answered = Answered(exchange.request, era, message.get("method"))
    if era is Era.MODERN:
        await modern_http.post(exchange, runtime, message, answered)
    else:
        await legacy_http.post(exchange, runtime, message, answered)


def _read_message(exchange: HttpExchange) -> JsonObject:
    """The JSON-RPC message in a POST body.

    Raises:
        RpcError: media types or body are not those of an MCP client.
    """
    request = exchange.request
    if _media_type(request.value("content-type") or "") != "application/json":
        raise RpcError(INVALID_REQUEST, "Content-Type must be application/json", status=415)
    accepted = _accepted(request.value("accept"))
    for needed in ("application/json", "text/event-stream"):
        if accepted.isdisjoint({needed, needed.partition("/")[0] + "/*", "*/*"}):
            raise RpcError(INVALID_REQUEST, f"Accept must list {needed}", status=406)
    try:
        message: Any = decode(request.body)
    except JsonTextError as error:
        raise RpcError(PARSE_ERROR, f"Parse error: {error}") from None
    if classify(message) in (MessageClass.BATCH, MessageClass.MALFORMED):
        raise RpcError(INVALID_REQUEST, "the body must be one JSON-RPC message")
    checked: JsonObject = message
    return checked


def _media_type(value: str) -> str:
    return value.partition(";")[0].strip().lower()


def _accepted(accept: str | None) -> set[str]:
    """The media ranges a client accepts; everything if it does not say."""
    if accept is None:
        return {"*/*"}
    return {_media_type(part) for part in accept.split(",")}


def routes(era: Era) -> Mapping[tuple[str, str], Route]:
    """The correct routes: a modern-only server has POST alone."""
    table: dict[tuple[str, str], Route] = {("POST", ENDPOINT): post}
    if era.has_legacy:
        table["GET", ENDPOINT] = legacy_http.get
        table["DELETE", ENDPOINT] = legacy_http.delete
    return table
