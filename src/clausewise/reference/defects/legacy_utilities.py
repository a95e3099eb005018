"""Defects against the utilities of 2025-11-25: ping, cancellation, progress, lists, logging."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import anyio

from clausewise.reference.call import Outlet
from clausewise.reference.defects.legacy_rewiring import (
    after_legacy_response,
    around_legacy_method,
    before_legacy_response,
    forgiving_legacy,
    legacy,
    legacy_defect,
    legacy_stdio_defect,
    on_legacy_error,
    on_legacy_result,
    undeclared,
)
from clausewise.reference.defects.outlets import ChangingOutlet
from clausewise.reference.defects.rewiring import Rewire, recoded
from clausewise.reference.legacy.parts import Handle, LegacyParts
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import INTERNAL_ERROR, JsonObject, RpcError, notification
from clausewise.reference.wiring import Wiring

_PROGRESS = "notifications/progress"


def _one_by_one(wiring: Wiring) -> Wiring:
    """Answer a session's requests one after the other, `ping` included."""
    locks: dict[str, anyio.Lock] = {}

    def waiting(right: Handle) -> Handle:
        async def handle(
            message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
        ) -> JsonObject:
            async with locks.setdefault(session.id, anyio.Lock()):
                return await right(message, outlet, session, parts)

        return handle

    for method in ("tools/call", "ping"):
        wiring = around_legacy_method(method, waiting)(wiring)
    return wiring


def _deaf_to_cancellation(wiring: Wiring) -> Wiring:
    """Let the tool `wait` end, and answer it, whatever the client says meanwhile."""
    right = wiring.legacy.deliver

    def is_deaf(message: JsonObject) -> bool:
        return bool(message.get("params", {}).get("name") == "wait")

    def shielded(handle: Handle) -> Handle:
        async def run(message: JsonObject, *others: Any) -> JsonObject:
            with anyio.CancelScope(shield=is_deaf(message)):
                result = await handle(message, *others)
            return result  # noqa: RET504 - mypy wants it outside the scope

        return run

    async def deliver(
        message: JsonObject, outlet: Outlet, session: LegacySession, response: JsonObject
    ) -> None:
        with anyio.CancelScope(shield=is_deaf(message)):
            await right(message, outlet, session, response)

    deaf = around_legacy_method("tools/call", shielded)(wiring)
    return legacy(deaf, deliver=deliver)


def _on_progress(**changes: Any) -> Rewire:
    """Change the parameters of progress notifications."""

    def change(message: JsonObject) -> JsonObject:
        if message.get("method") != _PROGRESS:
            return message
        return {**message, "params": {**message["params"], **changes}}

    def around(right: Handle) -> Handle:
        async def handle(
            message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
        ) -> JsonObject:
            return await right(message, ChangingOutlet(outlet, change), session, parts)

        return handle

    return around_legacy_method("tools/call", around)


def _late_progress(_session: LegacySession, message: JsonObject) -> tuple[JsonObject, ...]:
    token = message["params"].get("_meta", {}).get("progressToken")
    if token is None:
        return ()
    return (notification(_PROGRESS, {"progressToken": token, "progress": 1000}),)


def _cancelled_unknown(_session: LegacySession) -> tuple[JsonObject, ...]:
    return (notification("notifications/cancelled", {"requestId": "never-sent"}),)


def _in(*methods: str) -> Callable[[JsonObject, RpcError], bool]:
    return lambda message, _error: message["method"] in methods


def _shrinking(right: Handle) -> Handle:
    """A later page lacks its first entry every second time that it is asked for."""
    asked: Counter[Any] = Counter()

    async def handle(
        message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
    ) -> JsonObject:
        result = await right(message, outlet, session, parts)
        cursor = message.get("params", {}).get("cursor")
        asked[cursor] += 1
        if cursor is None or asked[cursor] % 2:
            return result
        return {**result, "tools": result["tools"][1:]}

    return handle


DEFECTS = (
    legacy_defect(
        "ping-result-with-member",
        "The result of ping is not empty.",
        on_legacy_result("ping", lambda _result: {"pong": True}),
        "PING-001",
    ),
    legacy_defect(
        "ping-behind-tools",
        "A ping waits until a running tool has ended.",
        _one_by_one,
        "PING-001",
    ),
    legacy_defect(
        "cancellation-ignored",
        "A cancelled tool call runs to its end and is answered.",
        _deaf_to_cancellation,
        "CANC-021",
    ),
    legacy_defect(
        "cancellation-of-nothing",
        "The server cancels a request that it never sent.",
        before_legacy_response("tools/list", _cancelled_unknown),
        "CANC-018",
    ),
    legacy_defect(
        "progress-token-fractional",
        "Progress is told for the token 1.5.",
        _on_progress(progressToken=1.5),
        "PROG-009",
    ),
    legacy_defect(
        "progress-stands-still",
        "The progress value is the same in every notification.",
        _on_progress(progress=1),
        "PROG-011",
    ),
    legacy_defect(
        "progress-token-unknown",
        "Progress is told for a token that no request had.",
        _on_progress(progressToken="never-given"),
        "PROG-013",
    ),
    legacy_stdio_defect(
        "progress-after-the-end",
        "Progress is told after the response.",
        after_legacy_response("tools/call", _late_progress),
        "PROG-013",
        "PROG-019",
    ),
    legacy_defect(
        "unknown-cursor-accepted",
        "A cursor that was never issued gives an empty page.",
        forgiving_legacy("tools/list", lambda error: "ursor" in error.message, {"tools": []}),
        "PAGE-003",
    ),
    legacy_defect(
        "page-shrinks",
        "A page of tools/list loses an entry every second time that it is asked for.",
        around_legacy_method("tools/list", _shrinking),
        "PAGE-004",
    ),
    legacy_defect(
        "logging-undeclared",
        "The server sends log messages and does not declare logging.",
        undeclared("logging"),
        "LIFE-009",
        "LOG-001",
    ),
    legacy_defect(
        "unknown-level-accepted",
        "A log level that does not exist is accepted.",
        forgiving_legacy("logging/setLevel", lambda _error: True, {}),
        "LOG-003",
    ),
    legacy_defect(
        "completions-undeclared",
        "The server completes arguments and does not declare completions.",
        undeclared("completions"),
        "COMP-001",
    ),
    legacy_defect(
        "unknown-completion-internal-error",
        "A completion for an unknown prompt is refused with -32603.",
        on_legacy_error(_in("completion/complete"), recoded(INTERNAL_ERROR)),
        "COMP-003",
    ),
)
