"""Defects against the base protocol of 2025-11-25: ids, envelopes, errors, schemas, _meta keys."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

import anyio

from clausewise.reference.call import Outlet
from clausewise.reference.defects.legacy_rewiring import (
    around_legacy_method,
    before_legacy_response,
    is_error,
    is_tools_list,
    legacy,
    legacy_defect,
    legacy_http_defect,
    on_legacy_response,
    on_tool,
)
from clausewise.reference.defects.rewiring import ChangeObject, Rewire
from clausewise.reference.legacy.parts import Handle, LegacyParts
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import METHOD_NOT_FOUND, JsonObject
from clausewise.reference.wiring import Wiring
from clausewise.wire.jsonrpc import IdKey, id_key


def _ping_with(*ids: Any) -> Rewire:
    """Pings with these ids; they differ, for one that is sent again is the same request."""
    pings = tuple(
        {"jsonrpc": "2.0", "id": one, "method": "ping", "params": {"_meta": {"number": number}}}
        for number, one in enumerate(ids)
    )
    return before_legacy_response("tools/list", lambda _session: pings)


def _with(name: str, value: Any) -> ChangeObject:
    return lambda response: {**response, name: value}


def _without(name: str) -> ChangeObject:
    return lambda response: {key: value for key, value in response.items() if key != name}


def _on_error_object(change: ChangeObject) -> Rewire:
    return on_legacy_response(
        is_error, lambda response: {**response, "error": change(response["error"])}
    )


def _lists_tools(message: JsonObject, response: JsonObject) -> bool:
    return is_tools_list(message, response) and "result" in response


def _code(response: JsonObject) -> Any:
    return response.get("error", {}).get("code")


def _with_schema(name: str, **members: Any) -> ChangeObject:
    return lambda tool: {**tool, name: {**tool[name], **members}}


def _by_id_alone(wiring: Wiring) -> Wiring:
    """Hand each response to whoever asked first with its id, in whichever session.

    A request that waits at the endpoint is answered there, so it waits until somebody did.
    """
    waiting: dict[IdKey, deque[tuple[Outlet, anyio.Event]]] = defaultdict(deque)
    own: dict[int, anyio.Event] = {}

    def registering(right: Handle) -> Handle:
        async def handle(
            message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
        ) -> JsonObject:
            answered = own[id(outlet)] = anyio.Event()
            waiting[id_key(message["id"])].append((outlet, answered))
            return await right(message, outlet, session, parts)

        return handle

    async def deliver(
        message: JsonObject, outlet: Outlet, _session: LegacySession, response: JsonObject
    ) -> None:
        queue = waiting[id_key(message["id"])]
        first, answered = queue.popleft() if queue else (outlet, anyio.Event())
        await first.finish(response)
        answered.set()
        if id(outlet) in own:
            await own.pop(id(outlet)).wait()

    for method in ("tools/call", "tools/list", "ping"):
        wiring = around_legacy_method(method, registering)(wiring)
    return legacy(wiring, deliver=deliver)


_NUMBERED_NOTIFICATION: JsonObject = {
    "jsonrpc": "2.0",
    "id": "notice-1",
    "method": "notifications/message",
    "params": {"level": "info", "data": "a notification with an id"},
}

_DRAFT_7 = "http://json-schema.org/draft-07/schema#"

DEFECTS = (
    legacy_http_defect(
        "responses-by-id-alone",
        "Of two sessions that use the same request id at once each gets the other's answer.",
        _by_id_alone,
        "BASE-004",
        "PING-001",
    ),
    legacy_defect(
        "fractional-request-id",
        "The server sends a ping with the id 1.5 ahead of the response to tools/list.",
        _ping_with(1.5),
        "BASE-001",
    ),
    legacy_defect(
        "null-request-id",
        "The server sends a ping with the id null ahead of the response to tools/list.",
        _ping_with(None),
        "BASE-002",
    ),
    legacy_defect(
        "request-id-reused",
        "The server sends two pings with one id ahead of the response to tools/list.",
        _ping_with("ping-1", "ping-1"),
        "BASE-003",
    ),
    legacy_defect(
        "result-id-altered",
        "The response to tools/list has another id than the request.",
        on_legacy_response(is_tools_list, _with("id", "no-such-request")),
        "BASE-004",
    ),
    legacy_defect(
        "notification-with-id",
        "A log notification ahead of the response to tools/list has an id.",
        before_legacy_response("tools/list", lambda _session: (_NUMBERED_NOTIFICATION,)),
        "BASE-005",
    ),
    legacy_defect(
        "error-without-message",
        "Errors have no message.",
        _on_error_object(_without("message")),
        "BASE-006",
    ),
    legacy_defect(
        "error-code-text",
        "The error code of an unknown method is a string.",
        on_legacy_response(
            lambda _message, response: _code(response) == METHOD_NOT_FOUND,
            lambda response: {
                **response,
                "error": {**response["error"], "code": str(METHOD_NOT_FOUND)},
            },
        ),
        "BASE-007",
    ),
    legacy_defect(
        "jsonrpc-version-one",
        'The response to tools/list says jsonrpc "1.0".',
        on_legacy_response(is_tools_list, _with("jsonrpc", "1.0")),
        "BASE-008",
    ),
    legacy_defect(
        "error-id-altered",
        "Errors have another id than their request.",
        on_legacy_response(is_error, _with("id", "no-such-request")),
        "BASE-009",
    ),
    legacy_defect(
        "result-null",
        "The response to tools/list has null where the result belongs.",
        on_legacy_response(_lists_tools, _with("result", None)),
        "BASE-010",
    ),
    legacy_defect(
        "tool-schema-invalid",
        "The output schema of a tool has a type that JSON Schema does not know.",
        on_tool("add", _with_schema("outputSchema", properties={"sum": {"type": "sum"}})),
        "BASE-017",
    ),
    legacy_defect(
        "meta-prefix-malformed",
        "A tool has a _meta key whose prefix begins with a hyphen.",
        on_tool("echo", _with("_meta", {"-example.com/note": 1})),
        "BASE-019",
    ),
    legacy_defect(
        "meta-name-malformed",
        "A tool has a _meta key whose name begins with a hyphen.",
        on_tool("echo", _with("_meta", {"com.example/-note": 1})),
        "BASE-020",
    ),
    legacy_defect(
        "tool-schema-older-dialect",
        "The input schema of a tool is written in JSON Schema draft 7.",
        on_tool("echo", _with_schema("inputSchema", **{"$schema": _DRAFT_7})),
        "BASE-086",
    ),
)
