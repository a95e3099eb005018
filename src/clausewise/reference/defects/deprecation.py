"""Defects of rule group DEP: what this revision removed or deprecated.

MCP-DEP-006 has none: either answer to `initialize` is allowed.
"""

from __future__ import annotations

from clausewise.core.vocabulary import Era
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import answering, modern, on_error, with_route
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.messages import RpcError
from clausewise.reference.wiring import ENDPOINT, Runtime, Wiring


def _advertises_logging(wiring: Wiring) -> Wiring:
    return modern(wiring, capabilities={**wiring.modern.capabilities, "logging": {}})


async def _endpoint_event(exchange: HttpExchange, _runtime: Runtime) -> None:
    """The first event of the HTTP+SSE transport of 2024-11-05."""
    await exchange.open(HttpHead(200, (("Content-Type", "text/event-stream"),)))
    await exchange.write(f"event: endpoint\ndata: {ENDPOINT}\n\n".encode("ascii"))
    await exchange.close()


DEFECTS = (
    Defect(
        "ping-answered",
        "The removed method ping is answered.",
        answering("ping", {}),
        rules=("MCP-DEP-001",),
    ),
    Defect(
        "set-level-answered",
        "The removed method logging/setLevel is answered.",
        answering("logging/setLevel", {}),
        rules=("MCP-DEP-002",),
    ),
    Defect(
        "subscribe-answered",
        "The removed method resources/subscribe is answered.",
        answering("resources/subscribe", {}),
        rules=("MCP-DEP-003",),
    ),
    Defect(
        "legacy-sse-endpoint",
        "GET /sse opens a stream of the HTTP+SSE transport.",
        with_route("GET", "/sse", _endpoint_event),
        rules=("MCP-DEP-004",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "logging-advertised",
        "server/discover advertises the deprecated logging capability.",
        _advertises_logging,
        rules=("MCP-DEP-005",),
    ),
    Defect(
        "initialize-error-without-versions",
        "A modern-only server refuses initialize without naming a version it supports.",
        on_error(
            lambda incoming, _error: incoming.method == "initialize",
            lambda error: RpcError(error.code, "initialize is refused", status=error.status),
        ),
        rules=("MCP-DEP-007",),
        eras=frozenset({Era.MODERN}),
    ),
)
