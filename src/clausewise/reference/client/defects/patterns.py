"""Defects against progress, cancellation and pagination in 2025-11-25."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clausewise.reference.client.defects.changing import (
    Apply,
    changed,
    is_method,
    legacy_defect,
    message_like,
    notice,
    preceded,
)
from clausewise.reference.client.outgoing import Outgoing
from clausewise.reference.client.wiring import ClientWiring
from clausewise.reference.messages import request

_LIST = is_method("tools/list")


def _token(value: Any) -> Apply:
    return changed(_wants_progress, lambda one: one.with_params(_meta={"progressToken": value}))


def _wants_progress(outgoing: Outgoing) -> bool:
    params = (outgoing.message or {}).get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and "progressToken" in meta


def _is_next_page(outgoing: Outgoing) -> bool:
    params = (outgoing.message or {}).get("params")
    return _LIST(outgoing) and isinstance(params, dict) and "cursor" in params


def _invented_cursor(like: Outgoing) -> tuple[Outgoing, ...]:
    cursor = (like.message or {})["params"]["cursor"]
    params = {"cursor": f"{cursor}0"}
    return (message_like(like, request("invented", "tools/list") | {"params": params}),)


def _last_cursor_again(wiring: ClientWiring) -> ClientWiring:
    """Remembers the cursor of tools/list, and asks for that page again before what follows."""
    cursors: list[Any] = []

    def send(outgoing: Outgoing) -> tuple[Outgoing, ...]:
        if _is_next_page(outgoing):
            cursors.append((outgoing.message or {})["params"]["cursor"])
        elif cursors and outgoing.is_request:
            params = {"cursor": cursors.pop()}
            message = request("once-more", "tools/list") | {"params": params}
            cursors.clear()
            return (replace(message_like(outgoing, message), beside=True), outgoing)
        return (outgoing,)

    return replace(wiring, send=send)


def _task_cancelled(wiring: ClientWiring) -> ClientWiring:
    """Remembers the request that asked for a task, and cancels it ahead of tasks/get."""
    asked: list[Any] = []

    def send(outgoing: Outgoing) -> tuple[Outgoing, ...]:
        message = outgoing.message or {}
        if "task" in (message.get("params") or {}):
            asked.append(message["id"])
        elif asked and outgoing.method == "tasks/get":
            params = {"requestId": asked.pop()}
            (cancelled,) = notice("notifications/cancelled", params)(outgoing)
            return (replace(cancelled, beside=True), outgoing)
        return (outgoing,)

    return replace(wiring, send=send)


DEFECTS = (
    legacy_defect(
        "progress-token-fractional",
        "Progress tokens are 1.5.",
        _token(1.5),
        "PROG-009",
    ),
    legacy_defect(
        "progress-token-shared",
        "All requests in progress have one progress token.",
        _token("shared"),
        "PROG-010",
    ),
    legacy_defect(
        "progress-without-token",
        "Progress of a token that the server never gave goes ahead of tools/list.",
        preceded(
            _LIST, notice("notifications/progress", {"progressToken": "invented", "progress": 1})
        ),
        "PROG-013",
    ),
    legacy_defect(
        "unknown-request-cancelled",
        "A request that was never sent is cancelled ahead of tools/list.",
        preceded(_LIST, notice("notifications/cancelled", {"requestId": "never-sent"})),
        "CANC-018",
    ),
    legacy_defect(
        "task-cancelled-by-notification",
        "A request that has become a task is cancelled by a notification.",
        _task_cancelled,
        "CANC-020",
    ),
    legacy_defect(
        "cursor-invented",
        "A cursor that no page gave goes ahead of the right one.",
        preceded(_is_next_page, _invented_cursor),
        "PAGE-002",
    ),
    legacy_defect(
        "last-page-asked-again",
        "The last cursor of tools/list is sent again after a page without nextCursor.",
        _last_cursor_again,
        "PAGE-005",
    ),
)
