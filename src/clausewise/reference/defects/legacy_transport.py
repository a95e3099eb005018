"""Defects against Streamable HTTP of 2025-11-25: statuses, media types, sessions, versions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from clausewise.core.vocabulary import Era
from clausewise.reference import http_endpoint
from clausewise.reference.defects.legacy_rewiring import legacy_http_defect
from clausewise.reference.defects.rewiring import (
    Rewire,
    landing_page,
    on_head,
    retyped,
    with_route,
)
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.http_outlet import JSON_HEADERS
from clausewise.reference.legacy.http import SESSION_HEADER
from clausewise.reference.messages import METHOD_NOT_FOUND, RpcError, encode, error_response
from clausewise.reference.wiring import ENDPOINT, Answered, Route, Runtime, Wiring
from clausewise.wire.jsonrpc import MessageClass, classify
from clausewise.wire.jsontext import decode

_KNOWN_NOTIFICATIONS = ("notifications/initialized", "notifications/cancelled")
_SUFFIX = " of-the-day"
"""Makes an id with a space, which is no visible character."""


def _restatused(picks: Callable[[Answered, HttpHead], bool], status: int) -> Rewire:
    return on_head(
        lambda answered, head: answered.era is Era.LEGACY and picks(answered, head),
        lambda head: replace(head, status=status),
    )


def _lacks_session(answered: Answered, head: HttpHead) -> bool:
    return head.status == 400 and answered.request.value(SESSION_HEADER) is None


def _has_odd_version(answered: Answered, head: HttpHead) -> bool:
    version = answered.request.value("mcp-protocol-version") or ""
    return head.status == 400 and version.startswith("1999")


async def _forgets_to_end(exchange: HttpExchange, _runtime: Runtime) -> None:
    await exchange.respond(HttpHead(204))


async def _not_found(exchange: HttpExchange, _runtime: Runtime) -> None:
    await exchange.respond(HttpHead(404, (("Content-Type", "text/plain"),)), b"Not found")


async def _answers_unknown_notifications(exchange: HttpExchange, runtime: Runtime) -> None:
    message = decode(exchange.request.body)
    is_unknown = (
        classify(message) is MessageClass.NOTIFICATION
        and message["method"] not in _KNOWN_NOTIFICATIONS
    )
    if not is_unknown:
        await http_endpoint.post(exchange, runtime)
        return
    body = encode(error_response(None, RpcError(METHOD_NOT_FOUND, "Method not found")))
    await exchange.respond(HttpHead(200, JSON_HEADERS), body)


def _with_suffix(head: HttpHead) -> HttpHead:
    headers = tuple(
        (name, value + _SUFFIX if name == SESSION_HEADER else value) for name, value in head.headers
    )
    return replace(head, headers=headers)


def _with_space_in_ids(wiring: Wiring) -> Wiring:
    """The ids get a suffix on the way out, and lose it on the way in."""

    def stripping(route: Route) -> Route:
        async def taken(exchange: HttpExchange, runtime: Runtime) -> None:
            headers = tuple(
                (name, value.removesuffix(_SUFFIX.encode("ascii")))
                for name, value in exchange.request.headers
            )
            exchange.request = replace(exchange.request, headers=headers)
            await route(exchange, runtime)

        return taken

    routes = {key: stripping(route) for key, route in wiring.http.routes.items()}
    suffixed = on_head(lambda _answered, _head: True, _with_suffix)(wiring)
    return replace(suffixed, http=replace(suffixed.http, routes=routes))


DEFECTS = (
    legacy_http_defect(
        "endpoint-without-get",
        "GET on the endpoint is answered 404.",
        with_route("GET", ENDPOINT, _not_found),
        "TRAN-006",
        "TRAN-040",
    ),
    legacy_http_defect(
        "session-id-with-space",
        "The session's id contains a space.",
        _with_space_in_ids,
        "TRAN-011",
    ),
    legacy_http_defect(
        "session-id-missing-404",
        "A request without the session's id is refused with 404 instead of 400.",
        _restatused(_lacks_session, 404),
        "TRAN-014",
    ),
    legacy_http_defect(
        "ended-session-served",
        "DELETE is answered 204, but the session goes on.",
        with_route("DELETE", ENDPOINT, _forgets_to_end),
        "TRAN-015",
    ),
    legacy_http_defect(
        "unsupported-version-422",
        "An unknown MCP-Protocol-Version is refused with 422 instead of 400.",
        _restatused(_has_odd_version, 422),
        "TRAN-020",
    ),
    legacy_http_defect(
        "legacy-notification-answered-200",
        "An accepted notification or response is answered 200 instead of 202.",
        _restatused(lambda _answered, head: head.status == 202, 200),
        "TRAN-027",
    ),
    legacy_http_defect(
        "legacy-tools-list-text-plain",
        "The response to tools/list says it is text/plain.",
        retyped(Era.LEGACY, "tools/list", "text/plain"),
        "TRAN-029",
    ),
    legacy_http_defect(
        "legacy-get-page",
        "GET on the endpoint gives a page instead of a stream or 405.",
        with_route("GET", ENDPOINT, landing_page),
        "TRAN-040",
    ),
    legacy_http_defect(
        "unknown-notification-answered",
        "A notification that the server does not know is answered with an error.",
        with_route("POST", ENDPOINT, _answers_unknown_notifications),
        "BASE-011",
        "TRAN-027",
    ),
)
