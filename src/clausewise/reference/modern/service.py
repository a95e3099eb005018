"""Answers modern messages, one request at a time and each on its own."""

from __future__ import annotations

from clausewise.reference.call import Outlet
from clausewise.reference.features.content import Content
from clausewise.reference.features.tools import GREETINGS, GREETINGS_SETTINGS
from clausewise.reference.messages import (
    INVALID_PARAMS,
    JsonObject,
    ResourceNotFoundError,
    RpcError,
    error_response,
    result_response,
)
from clausewise.reference.modern.call import InputRequired
from clausewise.reference.modern.checks import CHECKS
from clausewise.reference.modern.methods import METHODS
from clausewise.reference.modern.parts import VERSION, Incoming, ModernParts
from clausewise.reference.modern.results import dress

CAPABILITIES: JsonObject = {
    "tools": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "extensions": {GREETINGS: GREETINGS_SETTINGS},
}


async def deliver(_incoming: Incoming, outlet: Outlet, message: JsonObject, status: int) -> None:
    """Send the response as it is."""
    await outlet.finish(message, status)


def name_versions(incoming: Incoming, error: RpcError) -> RpcError:
    """An error that answers `initialize` tells the versions that the server speaks.

    Source: basic/versioning#backward-compatibility-with-initialization-based-versions.
    """
    if incoming.method == "initialize":
        error.message = f"{error.message}; this server supports protocol version {VERSION}"
        error.data = {"supported": [VERSION]} | (error.data or {})
    return error


def modern_parts(content: Content, state_key: bytes, *, logging: bool) -> ModernParts:
    """The correct wiring of the modern era."""
    return ModernParts(
        content=content,
        versions=(VERSION,),
        capabilities=CAPABILITIES | ({"logging": {}} if logging else {}),
        checks=CHECKS,
        methods=METHODS,
        result=dress,
        error=name_versions,
        deliver=deliver,
        notice=lambda _message: None,
        state_key=state_key,
    )


async def serve(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> None:
    """Answer one request: a result, or an error with its HTTP status.

    The message must have passed `check_envelope`.
    """
    try:
        result = await _run(incoming, outlet, parts)
    except RpcError as error:
        final = parts.error(incoming, error)
        message = error_response(incoming.id, final)
        await parts.deliver(incoming, outlet, message, final.status)
        return
    message = result_response(incoming.id, parts.result(incoming, result))
    await parts.deliver(incoming, outlet, message, 200)


async def _run(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    try:
        for check in parts.checks.values():
            check(incoming, parts)
        return await parts.methods[incoming.method](incoming, outlet, parts)
    except InputRequired as pause:
        return pause.result
    except ResourceNotFoundError as missing:
        raise RpcError(INVALID_PARAMS, "Resource not found", {"uri": missing.uri}) from None
