"""Defects of rule group RES: results, response streams, notification answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import anyio

from clausewise.core.vocabulary import Era
from clausewise.reference.call import Outlet
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import (
    deliver_with,
    listing_tools,
    modern,
    on_head,
    on_result,
    retyped,
)
from clausewise.reference.features.tools import Tool
from clausewise.reference.http_layer import HttpHead
from clausewise.reference.messages import JsonObject, notification, request
from clausewise.reference.modern.parts import Incoming
from clausewise.reference.wiring import Wiring


def _unordered(wiring: Wiring) -> Wiring:
    listings = count()
    turn = 0

    def turned(incoming: Incoming, tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
        nonlocal turn
        if "cursor" not in incoming.params:
            turn = next(listings) % len(tools)
        return tools[turn:] + tools[:turn]

    return listing_tools(turned)(wiring)


def _left_open(wiring: Wiring) -> Wiring:
    right = wiring.modern.deliver

    async def deliver(incoming: Incoming, outlet: Outlet, message: JsonObject, status: int) -> None:
        if incoming.method != "tools/list" or "result" not in message:
            await right(incoming, outlet, message, status)
            return
        await outlet.send(message)
        await anyio.sleep_forever()

    return modern(wiring, deliver=deliver)


def _unknown_type(wiring: Wiring) -> Wiring:
    """No extension is advertised, since it might define the type."""
    core = {k: v for k, v in wiring.modern.capabilities.items() if k != "extensions"}
    retype = on_result("tools/list", lambda result: {**result, "resultType": "completed"})
    return retype(modern(wiring, capabilities=core))


def _without_header(head: HttpHead, name: str) -> HttpHead:
    return replace(head, headers=tuple(h for h in head.headers if h[0] != name))


DEFECTS = (
    Defect(
        "tools-list-without-result-type",
        "The result of tools/list has no resultType.",
        on_result(
            "tools/list", lambda result: {k: v for k, v in result.items() if k != "resultType"}
        ),
        rules=("MCP-RES-001",),
    ),
    Defect(
        "tools-list-unknown-result-type",
        'The resultType of tools/list is "completed".',
        _unknown_type,
        rules=("MCP-RES-002",),
    ),
    Defect(
        "request-before-response",
        "The server sends the client a ping request ahead of the result of tools/list.",
        deliver_with("tools/list", before=request("server-1", "ping")),
        rules=("MCP-RES-003",),
    ),
    Defect(
        "notification-answered-200",
        "An accepted notification is answered 200 instead of 202.",
        on_head(
            lambda answered, head: answered.era is Era.MODERN and head.status == 202,
            lambda head: replace(head, status=200),
        ),
        rules=("MCP-RES-004",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "tools-list-text-plain",
        "The response to tools/list says it is text/plain.",
        retyped(Era.MODERN, "tools/list", "text/plain"),
        rules=("MCP-RES-005",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "stream-left-open",
        "The result of tools/list comes on a stream that then stays open.",
        _left_open,
        rules=("MCP-RES-005",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "message-after-response",
        "The stream of tools/list goes on with a progress notification after the response.",
        deliver_with(
            "tools/list",
            after=notification("notifications/progress", {"progressToken": 0, "progress": 1}),
        ),
        rules=("MCP-RES-005",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "stream-buffered",
        "Streams come without X-Accel-Buffering: no.",
        on_head(
            lambda answered, _head: answered.era is Era.MODERN,
            lambda head: _without_header(head, "X-Accel-Buffering"),
        ),
        rules=("MCP-RES-006",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "tools-list-unordered",
        "Each listing of the tools has another order.",
        _unordered,
        rules=("MCP-RES-007",),
    ),
)
