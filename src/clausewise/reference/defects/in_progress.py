"""Defects of our rules about notifications: subscriptions, cancellation, progress, log messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import anyio

from clausewise.reference.call import Outlet
from clausewise.reference.defects.defect import HTTP_ONLY, STDIO_ONLY, Defect
from clausewise.reference.defects.rewiring import (
    deliver_with,
    modern,
    on_sent,
    with_method,
)
from clausewise.reference.http_outlet import HttpOutlet
from clausewise.reference.messages import JsonObject, notification
from clausewise.reference.modern.methods import METHODS
from clausewise.reference.modern.parts import Incoming, ModernParts
from clausewise.reference.wiring import Wiring
from clausewise.wire.meta import META_LOG_LEVEL, META_SUBSCRIPTION

_LISTEN, _CALL = "subscriptions/listen", "tools/call"
_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_PROGRESS = "notifications/progress"
_TOOLS_CHANGED = "notifications/tools/list_changed"


def _tag(message: JsonObject) -> JsonObject:
    return {"_meta": message["params"]["_meta"]}


def _unwanted(message: JsonObject) -> Sequence[JsonObject]:
    if message["method"] != _ACKNOWLEDGED:
        return [message]
    return [message, notification(_TOOLS_CHANGED, _tag(message))]


def _late(message: JsonObject) -> Sequence[JsonObject]:
    wanted = message["params"].get("notifications", {})
    if message["method"] != _ACKNOWLEDGED or not wanted.get("toolsListChanged"):
        return [message]
    return [notification(_TOOLS_CHANGED, _tag(message)), message]


def _untagged(message: JsonObject) -> Sequence[JsonObject]:
    params = {k: v for k, v in message["params"].items() if k != "_meta"}
    return [{**message, "params": params}]


def _logged_here(message: JsonObject) -> Sequence[JsonObject]:
    if message["method"] != _ACKNOWLEDGED:
        return [message]
    return [message, _log_message("a subscription begins", _tag(message))]


def _log_message(data: str, more: JsonObject) -> JsonObject:
    return notification("notifications/message", {"level": "info", "data": data, **more})


def _still(message: JsonObject) -> Sequence[JsonObject]:
    return [_changed_progress(message, "progress", 1)]


def _renamed(message: JsonObject) -> Sequence[JsonObject]:
    token = message["params"].get("progressToken")
    return [_changed_progress(message, "progressToken", f"{token}'s")]


def _changed_progress(message: JsonObject, member: str, value: object) -> JsonObject:
    if message["method"] != _PROGRESS:
        return message
    return {**message, "params": {**message["params"], member: value}}


def _goes_on(wiring: Wiring) -> Wiring:
    right = wiring.modern.deliver

    async def deliver(incoming: Incoming, outlet: Outlet, message: JsonObject, status: int) -> None:
        await right(incoming, outlet, message, status)
        token = incoming.meta.get("progressToken")
        if incoming.method == _CALL and token is not None:
            await outlet.send(
                notification(_PROGRESS, {"progressToken": token, "progress": 1_000_000})
            )

    return modern(wiring, deliver=deliver)


async def _deaf(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    result: JsonObject = {}
    with anyio.CancelScope(shield=True):
        result |= await METHODS[_CALL](incoming, outlet, parts)
    return result


def _deaf_to_cancellation(wiring: Wiring) -> Wiring:
    right = wiring.modern.deliver

    async def deliver(incoming: Incoming, outlet: Outlet, message: JsonObject, status: int) -> None:
        with anyio.CancelScope(shield=incoming.method == _CALL):
            await right(incoming, outlet, message, status)

    return modern(with_method(_CALL, _deaf)(wiring), deliver=deliver)


async def _acknowledge(incoming: Incoming, outlet: Outlet, _parts: ModernParts) -> JsonObject:
    tag = {META_SUBSCRIPTION: incoming.id}
    wanted = incoming.params.get("notifications", {})
    await outlet.send(notification(_ACKNOWLEDGED, {"_meta": tag, "notifications": wanted}))
    return {"_meta": tag}


def _hangs_up(wiring: Wiring) -> Wiring:
    wiring = with_method(_LISTEN, _acknowledge)(wiring)
    right = wiring.modern.deliver

    async def deliver(incoming: Incoming, outlet: Outlet, message: JsonObject, status: int) -> None:
        if incoming.method == _LISTEN and "result" in message and isinstance(outlet, HttpOutlet):
            await outlet.abandon()
        else:
            await right(incoming, outlet, message, status)

    return modern(wiring, deliver=deliver)


def _logging(parts: ModernParts) -> ModernParts:
    return replace(parts, capabilities={**parts.capabilities, "logging": {}})


async def _logs_undeclared(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    return await METHODS[_CALL](incoming, outlet, _logging(parts))


async def _logs_unasked(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    result = await METHODS[_CALL](incoming, outlet, parts)
    await outlet.send(_log_message("a call ended", {}))
    return result


async def _logs_headers(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    if META_LOG_LEVEL in incoming.meta and incoming.http is not None:
        header = incoming.http.value("authorization")
        await outlet.send(_log_message(f"a call with Authorization: {header}", {}))
    return await METHODS[_CALL](incoming, outlet, parts)


def _logs_credentials(wiring: Wiring) -> Wiring:
    declared = replace(wiring, modern=_logging(wiring.modern))
    return with_method(_CALL, _logs_headers)(declared)


DEFECTS = (
    Defect(
        "unwanted-change",
        "Every subscription hears of changes of the tools, asked for or not.",
        on_sent(_LISTEN, _unwanted),
        rules=("CW-SUB-001",),
    ),
    Defect(
        "acknowledgement-second",
        "A subscription hears of a change before it is acknowledged.",
        on_sent(_LISTEN, _late),
        rules=("CW-SUB-002",),
    ),
    Defect(
        "subscription-id-missing",
        "The notifications of a subscription do not carry its id.",
        on_sent(_LISTEN, _untagged),
        rules=("CW-SUB-003",),
    ),
    Defect(
        "request-cancelled-by-server",
        "The server sends notifications/cancelled ahead of the result of prompts/list.",
        deliver_with(
            "prompts/list", before=notification("notifications/cancelled", {"requestId": 0})
        ),
        rules=("CW-CAN-001",),
    ),
    Defect(
        "subscription-ends-silently",
        "The stream of a subscription ends after its acknowledgement, without a word.",
        _hangs_up,
        rules=("CW-CAN-002",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "cancelled-call-goes-on",
        "A call goes on after it was cancelled, and is answered.",
        _deaf_to_cancellation,
        rules=("CW-STD-003",),
        transports=STDIO_ONLY,
    ),
    Defect(
        "progress-at-a-standstill",
        "Every progress notification of a call has the same value.",
        on_sent(_CALL, _still),
        rules=("CW-PRG-001",),
    ),
    Defect(
        "progress-token-changed",
        "Progress notifications have another token than the request.",
        on_sent(_CALL, _renamed),
        rules=("CW-PRG-002",),
    ),
    Defect(
        "progress-after-response",
        "A call reports progress once more after its response.",
        _goes_on,
        rules=("CW-PRG-003",),
        transports=STDIO_ONLY,
    ),
    Defect(
        "log-without-capability",
        "Calls log where they are asked to, and logging is not declared.",
        with_method(_CALL, _logs_undeclared),
        rules=("CW-LOG-001",),
    ),
    Defect(
        "log-unasked",
        "Calls log whether or not the request has a log level.",
        with_method(_CALL, _logs_unasked),
        rules=("CW-LOG-002",),
    ),
    Defect(
        "log-on-subscription",
        "A log message comes on the stream of a subscription.",
        on_sent(_LISTEN, _logged_here),
        rules=("CW-LOG-003",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "log-repeats-credentials",
        "A log message repeats the Authorization header of the call; logging is deprecated, too.",
        _logs_credentials,
        rules=("CW-LOG-004", "MCP-DEP-005"),
        transports=HTTP_ONLY,
    ),
)
