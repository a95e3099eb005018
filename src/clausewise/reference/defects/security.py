"""Defects of rule group SEC: origins, icons, references, and secrets that come back."""

from __future__ import annotations

import os
from dataclasses import replace

from clausewise.reference.defects.defect import HTTP_ONLY, STDIO_ONLY, Defect
from clausewise.reference.defects.rewiring import Rewire, modern
from clausewise.reference.defects.schemas import on_parameter, on_tool
from clausewise.reference.http_endpoint import guard
from clausewise.reference.http_layer import HttpHead, HttpRequest
from clausewise.reference.messages import JsonObject, RpcError
from clausewise.reference.modern.parts import Incoming
from clausewise.reference.options import ServerOptions
from clausewise.reference.wiring import Answered, Guard, Wiring

_OUR_VARIABLES = "CLAUSEWISE_"
_DEEP = 65


def _guarded(change: Guard | None = None, *, status: int | None = None) -> Rewire:
    """Replace the guard, or let it refuse with another status."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.http.guard

        def changed(request: HttpRequest, options: ServerOptions) -> None:
            try:
                (change or right)(request, options)
            except RpcError as error:
                raise RpcError(error.code, error.message, status=status or error.status) from None

        return replace(wiring, http=replace(wiring.http, guard=changed))

    return rewire


def _any_origin(request: HttpRequest, options: ServerOptions) -> None:
    """Looks at Host alone."""
    headers = tuple(pair for pair in request.headers if pair[0] != b"origin")
    guard(replace(request, headers=headers), options)


def _repeating_cookies(wiring: Wiring) -> Wiring:
    right = wiring.modern.error

    def error(incoming: Incoming, raised: RpcError) -> RpcError:
        finished = right(incoming, raised)
        cookie = incoming.http.value("cookie") if incoming.http is not None else None
        if cookie is None:
            return finished
        message = f"{finished.message} (cookie: {cookie})"
        return RpcError(finished.code, message, finished.data, status=finished.status)

    return modern(wiring, error=error)


def _repeating_variables(wiring: Wiring) -> Wiring:
    """Of the environment only what Clausewise set, for errors are recorded."""
    right = wiring.modern.error

    def error(incoming: Incoming, raised: RpcError) -> RpcError:
        finished = right(incoming, raised)
        found = [f"{k}={v}" for k, v in os.environ.items() if k.startswith(_OUR_VARIABLES)]
        message = "; ".join([finished.message, *found])
        return RpcError(finished.code, message, finished.data, status=finished.status)

    return modern(wiring, error=error)


def _reflecting_authorization(wiring: Wiring) -> Wiring:
    right = wiring.http.head

    def head(answered: Answered, built: HttpHead) -> HttpHead:
        finished = right(answered, built)
        seen = answered.request.value("authorization")
        if seen is None or answered.method != "server/discover":
            return finished
        return replace(finished, headers=(*finished.headers, ("X-Authorized-By", seen)))

    return replace(wiring, http=replace(wiring.http, head=head))


def _icon(src: str) -> Rewire:
    return on_tool("echo", lambda tool: {**tool, "icons": [{"src": src}]})


def _nested(_given: JsonObject) -> JsonObject:
    schema: JsonObject = {"type": "string"}
    for _ in range(_DEEP):
        schema = {"type": "array", "items": schema}
    return schema


DEFECTS = (
    Defect(
        "foreign-origin-served",
        "A request with any Origin is served.",
        _guarded(_any_origin),
        rules=("MCP-SEC-001",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "foreign-origin-bad-request",
        "A request with a foreign Origin is refused with HTTP status 400.",
        _guarded(status=400),
        rules=("MCP-SEC-001",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "error-repeats-cookies",
        "Errors repeat the Cookie header.",
        _repeating_cookies,
        rules=("MCP-SEC-003",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "error-repeats-environment",
        "Errors repeat environment variables whose names begin with CLAUSEWISE_.",
        _repeating_variables,
        rules=("MCP-SEC-003",),
        transports=STDIO_ONLY,
    ),
    Defect(
        "icon-of-unsafe-scheme",
        "The icon of a tool is a javascript: URI.",
        _icon("javascript:alert(1)"),
        rules=("MCP-SEC-004",),
    ),
    Defect(
        "icon-over-plain-http",
        "The icon of a tool is an http: URI.",
        _icon("http://127.0.0.1/icon.png"),
        rules=("MCP-SEC-004",),
    ),
    Defect(
        "icon-of-another-origin",
        "The icon of a tool is on another host.",
        _icon("https://icons.example/icon.png"),
        rules=("MCP-SEC-004",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "schema-network-reference",
        "The input schema of a tool refers to a schema on the network.",
        on_parameter(
            "announce_lists", "when", lambda _given: {"$ref": "https://schemas.example/when.json"}
        ),
        rules=("MCP-SEC-005",),
    ),
    Defect(
        "schema-too-deep",
        "The input schema of a tool is nested more than 64 levels deep.",
        on_parameter("announce_lists", "deep", _nested),
        rules=("MCP-SEC-006",),
    ),
    Defect(
        "authorization-reflected",
        "The answer to server/discover has the Authorization header of the request in it.",
        _reflecting_authorization,
        rules=("MCP-SEC-007",),
        transports=HTTP_ONLY,
    ),
)
