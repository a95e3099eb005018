"""The request methods of the legacy era."""

from __future__ import annotations

from collections.abc import Mapping

from clausewise.reference.call import LOG_LEVELS, Outlet, text_param
from clausewise.reference.features import resources
from clausewise.reference.features.methods import SHARED_METHODS, Method
from clausewise.reference.identity import INSTRUCTIONS, SERVER_INFO
from clausewise.reference.legacy import task_methods
from clausewise.reference.legacy.call import LegacyCall
from clausewise.reference.legacy.parts import Handle, LegacyParts
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError


def negotiate(params: JsonObject, parts: LegacyParts) -> str:
    """The protocol version for a session that `initialize` with `params` opens.

    Source: basic/lifecycle#version-negotiation.

    Raises:
        RpcError: a required parameter is missing or ill-typed (invalid params).
    """
    requested = text_param(params, "protocolVersion")
    for name in ("capabilities", "clientInfo"):
        if not isinstance(params.get(name), dict):
            raise RpcError(INVALID_PARAMS, f"params.{name} must be an object")
    return requested if requested in parts.versions else parts.versions[0]


async def initialize(
    _message: JsonObject, _outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """Source: basic/lifecycle#initialization; the session has been negotiated."""
    return {
        "protocolVersion": session.version,
        "capabilities": parts.capabilities,
        "serverInfo": SERVER_INFO,
        "instructions": INSTRUCTIONS,
    }


async def ping(
    _message: JsonObject, _outlet: Outlet, _session: LegacySession, _parts: LegacyParts
) -> JsonObject:
    """Source: basic/utilities/ping."""
    return {}


async def set_level(
    message: JsonObject, _outlet: Outlet, session: LegacySession, _parts: LegacyParts
) -> JsonObject:
    """Source: server/utilities/logging#setting-log-level."""
    level = text_param(message.get("params", {}), "level")
    if level not in LOG_LEVELS:
        raise RpcError(INVALID_PARAMS, f"params.level must be one of {', '.join(LOG_LEVELS)}")
    session.log_level = level
    return {}


async def subscribe(
    message: JsonObject, _outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """Source: server/resources#subscriptions; as many subscriptions as there are resources."""
    uri = text_param(message.get("params", {}), "uri")
    content = parts.content
    resources.read(uri, content.resources, content.templates, content.feed)
    session.subscriptions.add(uri)
    return {}


async def unsubscribe(
    message: JsonObject, _outlet: Outlet, session: LegacySession, _parts: LegacyParts
) -> JsonObject:
    """Source: server/resources#subscriptions."""
    session.subscriptions.discard(text_param(message.get("params", {}), "uri"))
    return {}


def shared(method: Method) -> Handle:
    """A method of both eras as one of the legacy era."""

    async def handle(
        message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
    ) -> JsonObject:
        return await method(LegacyCall(message, outlet, session, parts), parts.content)

    return handle


METHODS: Mapping[str, Handle] = {
    "initialize": initialize,
    "ping": ping,
    "logging/setLevel": set_level,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
    **{name: shared(method) for name, method in SHARED_METHODS.items()},
    "tools/list": task_methods.list_tools,
    "tools/call": task_methods.call_tool,
    "tasks/get": task_methods.get,
    "tasks/result": task_methods.result,
    "tasks/list": task_methods.list_tasks,
    "tasks/cancel": task_methods.cancel,
}
