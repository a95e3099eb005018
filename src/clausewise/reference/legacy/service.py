"""Answers legacy messages within a session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio

from clausewise.reference.call import Outlet
from clausewise.reference.features.content import Content
from clausewise.reference.legacy.background import Background
from clausewise.reference.legacy.methods import METHODS
from clausewise.reference.legacy.parts import VERSION, LegacyParts
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.legacy.tasks import TaskStore
from clausewise.reference.legacy.visits import Visits
from clausewise.reference.messages import (
    METHOD_NOT_FOUND,
    JsonObject,
    ResourceNotFoundError,
    RpcError,
    error_response,
    notification,
    result_response,
)
from clausewise.wire.jsonrpc import id_key

RESOURCE_NOT_FOUND = -32002

CAPABILITIES: JsonObject = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
    "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
}


async def deliver(
    _message: JsonObject, outlet: Outlet, _session: LegacySession, response: JsonObject
) -> None:
    """Send the response as it is."""
    await outlet.finish(response)


def legacy_parts(content: Content, ask_s: float) -> LegacyParts:
    """The correct wiring of the legacy era."""
    return LegacyParts(
        content=content,
        versions=(VERSION,),
        capabilities=CAPABILITIES,
        methods=METHODS,
        result=lambda _message, result: result,
        error=lambda _message, error: error,
        deliver=deliver,
        ask_s=ask_s,
        tasks=TaskStore(),
        visits=Visits(),
        background=Background(),
    )


async def serve(
    message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> bool:
    """Answer one request; False if the client cancelled it, so that nothing was sent.

    The message must be a JSON-RPC request of right shape.
    """
    key = id_key(message["id"])
    with anyio.CancelScope() as scope:
        if message["method"] != "initialize":
            session.in_progress[key] = scope
        try:
            response = await _respond(message, outlet, session, parts)
        finally:
            if session.in_progress.get(key) is scope:
                del session.in_progress[key]
        await parts.deliver(message, outlet, session, response)
    session.answered(message["id"])
    return not scope.cancelled_caught


async def _respond(
    message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    try:
        result = await _run(message, outlet, session, parts)
    except RpcError as error:
        return error_response(message["id"], parts.error(message, error))
    return result_response(message["id"], parts.result(message, result))


async def _run(
    message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    handle = parts.methods.get(message["method"])
    if handle is None:
        raise RpcError(METHOD_NOT_FOUND, "Method not found")
    try:
        return await handle(message, outlet, session, parts)
    except ResourceNotFoundError as missing:
        raise RpcError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": missing.uri}) from None


def take_notification(message: JsonObject, session: LegacySession) -> None:
    """Act on a client's notification; one that is unknown or ill-formed is ignored."""
    params = message.get("params")
    if message["method"] == "notifications/initialized":
        session.initialized = True
    elif message["method"] == "notifications/cancelled" and isinstance(params, dict):
        session.cancel(params.get("requestId"))


async def relay_changes(
    session: LegacySession, parts: LegacyParts, send: Callable[[JsonObject], Awaitable[None]]
) -> None:
    """Send the session's client what changes, and let others send through it, until the end."""
    session.send = send
    try:
        with parts.content.feed.listen() as changes:
            async for change in changes:
                method = f"notifications/{change.notification}"
                if change.uri is None:
                    await session.post(notification(method))
                elif change.uri in session.subscriptions:
                    await session.post(notification(method, {"uri": change.uri}))
    finally:
        if session.send is send:
            session.send = None
