"""Defects of rule group STL: sessions, connections, GET and DELETE."""

from __future__ import annotations

from dataclasses import replace

from clausewise.core.vocabulary import Era
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import (
    landing_page,
    listing_tools,
    modern,
    on_head,
    with_check_first,
    with_route,
)
from clausewise.reference.features.tools import Tool
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.messages import INVALID_REQUEST, JsonObject, RpcError
from clausewise.reference.modern.parts import Check, Incoming, ModernParts
from clausewise.reference.wiring import ENDPOINT, Runtime, Wiring

_MODERN_ONLY = frozenset({Era.MODERN})


def _refusing_header(name: str) -> Check:
    def check(incoming: Incoming, _parts: ModernParts) -> None:
        if incoming.http is not None and incoming.http.value(name) is not None:
            raise RpcError(INVALID_REQUEST, f"{name} names nothing known here")

    return check


def _needs_discovery(wiring: Wiring) -> Wiring:
    greeted: set[int] = set()

    def check(incoming: Incoming, _parts: ModernParts) -> None:
        if incoming.method == "server/discover":
            greeted.add(incoming.connection)
        if incoming.method == "tools/list" and incoming.connection not in greeted:
            raise RpcError(INVALID_REQUEST, "server/discover comes first")

    return with_check_first("discovered-before", check)(wiring)


def _remembers_metadata(wiring: Wiring) -> Wiring:
    """A request without parameters gets the `_meta` of an earlier one on its connection."""
    remembered: dict[int, JsonObject] = {}
    checks: dict[str, Check] = {}

    def filled(incoming: Incoming) -> Incoming:
        if incoming.meta:
            remembered[incoming.connection] = incoming.meta
        if "params" in incoming.message or incoming.connection not in remembered:
            return incoming
        params = {"_meta": remembered[incoming.connection]}
        return replace(incoming, message={**incoming.message, "params": params})

    def on_filled(check: Check) -> Check:
        return lambda incoming, parts: check(filled(incoming), parts)

    for name, check in wiring.modern.checks.items():
        checks[name] = on_filled(check)
    return modern(wiring, checks=checks)


def _per_connection(incoming: Incoming, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    return tools if incoming.connection % 2 else tools[:1] + tools[2:]


async def _no_content(exchange: HttpExchange, _runtime: Runtime) -> None:
    await exchange.respond(HttpHead(204))


DEFECTS = (
    Defect(
        "session-id-minted",
        "Modern answers carry an Mcp-Session-Id.",
        on_head(
            lambda answered, _head: answered.era is Era.MODERN,
            lambda head: replace(head, headers=(*head.headers, ("Mcp-Session-Id", "s-1"))),
        ),
        rules=("MCP-STL-001",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "session-id-refused",
        "A modern request with an Mcp-Session-Id is refused.",
        with_check_first("no-session-id", _refusing_header("Mcp-Session-Id")),
        rules=("MCP-STL-002",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "discovery-required",
        "tools/list is refused unless server/discover came first on its connection.",
        _needs_discovery,
        rules=("MCP-STL-003",),
    ),
    Defect(
        "metadata-remembered",
        "A request without params is served with the _meta of an earlier one on its connection.",
        _remembers_metadata,
        rules=("MCP-STL-004",),
    ),
    Defect(
        "get-answered",
        "GET on the endpoint gives a page instead of 405.",
        with_route("GET", ENDPOINT, landing_page),
        rules=("MCP-STL-005",),
        eras=_MODERN_ONLY,
        transports=HTTP_ONLY,
    ),
    Defect(
        "delete-answered",
        "DELETE on the endpoint is answered 204 instead of 405.",
        with_route("DELETE", ENDPOINT, _no_content),
        rules=("MCP-STL-006",),
        eras=_MODERN_ONLY,
        transports=HTTP_ONLY,
    ),
    Defect(
        "last-event-id-refused",
        "A request with a Last-Event-ID is refused.",
        with_check_first("no-last-event-id", _refusing_header("Last-Event-ID")),
        rules=("MCP-STL-007",),
        eras=_MODERN_ONLY,
        transports=HTTP_ONLY,
    ),
    Defect(
        "tools-vary-per-connection",
        "Every other connection is shown one tool less.",
        listing_tools(_per_connection),
        rules=("MCP-STL-008",),
        transports=HTTP_ONLY,
    ),
)
