"""`subscriptions/listen`: acknowledge, deliver what was asked for, end with a result.

Source: basic/patterns/subscriptions.
"""

from __future__ import annotations

from typing import Any

from clausewise.reference.call import Outlet
from clausewise.reference.features.changes import Change
from clausewise.reference.messages import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    JsonObject,
    RpcError,
    notification,
)
from clausewise.reference.modern.parts import Incoming, ModernParts
from clausewise.wire.meta import META_SUBSCRIPTION

_LIST_FLAGS = {
    "toolsListChanged": "tools",
    "promptsListChanged": "prompts",
    "resourcesListChanged": "resources",
}
MAX_LISTENERS = 256
_MAX_URIS = 1000


async def listen(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    """Deliver changes until the server stops; a client's cancellation cancels this task.

    Raises:
        RpcError: the filter is ill-formed, or too many subscriptions are open.
    """
    wanted = _read_filter(incoming.params.get("notifications"))
    feed = parts.content.feed
    if feed.listener_count >= MAX_LISTENERS:
        raise RpcError(INTERNAL_ERROR, "too many open subscriptions", status=503)
    tag = {META_SUBSCRIPTION: incoming.id}
    with feed.listen() as changes:
        await outlet.send(
            notification(
                "notifications/subscriptions/acknowledged", {"_meta": tag, "notifications": wanted}
            )
        )
        async for change in changes:
            if _is_wanted(change, wanted):
                about = {} if change.uri is None else {"uri": change.uri}
                await outlet.send(
                    notification(f"notifications/{change.notification}", {"_meta": tag, **about})
                )
    await outlet.send(
        notification("notifications/cancelled", {"_meta": tag, "requestId": incoming.id})
    )
    return {"_meta": tag}


def _read_filter(value: Any) -> JsonObject:
    """The part of a notification filter that is honoured: all that is asked for."""
    if not isinstance(value, dict):
        raise RpcError(INVALID_PARAMS, "params.notifications must be an object")
    wanted: JsonObject = {}
    for flag in _LIST_FLAGS:
        if not isinstance(value.get(flag, False), bool):
            raise RpcError(INVALID_PARAMS, f"params.notifications.{flag} must be a boolean")
        if value.get(flag):
            wanted[flag] = True
    uris = value.get("resourceSubscriptions", [])
    if not isinstance(uris, list) or not all(isinstance(uri, str) for uri in uris):
        raise RpcError(INVALID_PARAMS, "resourceSubscriptions must be an array of URIs")
    if len(uris) > _MAX_URIS:
        raise RpcError(INVALID_PARAMS, f"resourceSubscriptions holds more than {_MAX_URIS} URIs")
    if uris:
        wanted["resourceSubscriptions"] = uris
    return wanted


def _is_wanted(change: Change, wanted: JsonObject) -> bool:
    if change.uri is not None:
        return change.uri in wanted.get("resourceSubscriptions", ())
    return any(wanted.get(flag) for flag, name in _LIST_FLAGS.items() if name == change.list_name)
