"""Defects of rule group ERR: error codes, statuses and data."""

from __future__ import annotations

from typing import Any

from clausewise.reference.call import Outlet
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import (
    on_error,
    recoded,
    with_check_first,
    with_data,
    with_method,
    with_status,
    without_check,
)
from clausewise.reference.features.tools import NAME_FORM
from clausewise.reference.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    JsonObject,
    RpcError,
)
from clausewise.reference.modern.methods import METHODS
from clausewise.reference.modern.parts import (
    MISSING_CLIENT_CAPABILITY,
    UNSUPPORTED_VERSION,
    Incoming,
    ModernParts,
)
from clausewise.wire.meta import META_CAPABILITIES, META_CLIENT_INFO

_NAMED_THINGS = frozenset({"tools/call", "prompts/get", "tools/list", "prompts/list"})


def _is_unsupported_version(_incoming: Incoming, error: RpcError) -> bool:
    return error.code == UNSUPPORTED_VERSION


def _is_unknown_method(_incoming: Incoming, error: RpcError) -> bool:
    return error.code == METHOD_NOT_FOUND


def _is_missing_capability(_incoming: Incoming, error: RpcError) -> bool:
    return error.code == MISSING_CLIENT_CAPABILITY


def _is_missing_resource(incoming: Incoming, error: RpcError) -> bool:
    return incoming.method == "resources/read" and error.message == "Resource not found"


def _is_missing_metadata(_incoming: Incoming, error: RpcError) -> bool:
    return error.code == INVALID_PARAMS and META_CAPABILITIES in error.message


def _is_unjudged(incoming: Incoming, error: RpcError) -> bool:
    """An unknown tool, prompt or cursor, or a removed method.

    No rule says which code the first three have, nor judges the last one's by its code.
    """
    return incoming.method == "logging/setLevel" or (
        error.code == INVALID_PARAMS
        and incoming.method in _NAMED_THINGS
        and error.message.startswith(("unknown ", "params.cursor"))
    )


def _require_client_info(incoming: Incoming, _parts: ModernParts) -> None:
    if META_CLIENT_INFO not in incoming.meta:
        raise RpcError(INVALID_PARAMS, f"params._meta must hold {META_CLIENT_INFO}")


async def _ask_anyway(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    """tools/call that asks for input whether or not the client can give it."""
    params = incoming.params
    capable = {**incoming.meta.get(META_CAPABILITIES, {}), "elicitation": {}}
    claimed = {**params, "_meta": {**incoming.meta, META_CAPABILITIES: capable}}
    believed = Incoming({**incoming.message, "params": claimed}, incoming.http, incoming.connection)
    return await METHODS["tools/call"](believed, outlet, parts)


def _as_array(data: Any) -> JsonObject:
    return {"requiredCapabilities": list(data["requiredCapabilities"])}


DEFECTS = (
    Defect(
        "unsupported-version-code",
        "An unsupported version is answered -32602 instead of -32022.",
        on_error(_is_unsupported_version, recoded(INVALID_PARAMS)),
        rules=("MCP-ERR-001",),
    ),
    Defect(
        "unsupported-version-unlisted",
        "The error for an unsupported version does not list the supported ones.",
        on_error(_is_unsupported_version, with_data(lambda data: {"requested": data["requested"]})),
        rules=("MCP-ERR-001",),
    ),
    Defect(
        "unknown-method-ok-status",
        "An unknown method is answered with HTTP status 200.",
        on_error(_is_unknown_method, with_status(200)),
        rules=("MCP-ERR-002",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "unknown-method-code",
        "An unknown method is answered -32600 instead of -32601.",
        on_error(_is_unknown_method, recoded(INVALID_REQUEST)),
        rules=("MCP-ERR-002",),
    ),
    Defect(
        "resource-not-found-retired-code",
        "A resource that does not exist is answered with the retired code -32002.",
        on_error(_is_missing_resource, recoded(-32002)),
        rules=("MCP-ERR-003",),
    ),
    Defect(
        "url-elicitation-code",
        "Unknown names and cursors and logging/setLevel are answered -32042.",
        on_error(_is_unjudged, recoded(-32042)),
        rules=("MCP-ERR-004",),
    ),
    Defect(
        "undefined-reserved-code",
        "Unknown names and cursors and logging/setLevel are answered -32050, which is reserved.",
        on_error(_is_unjudged, recoded(-32050)),
        rules=("MCP-ERR-005",),
    ),
    Defect(
        "missing-capabilities-accepted",
        "A request without clientCapabilities in _meta is served.",
        without_check("client-capabilities-named"),
        rules=("MCP-ERR-006",),
    ),
    Defect(
        "missing-capabilities-ok-status",
        "A request without clientCapabilities in _meta is refused with HTTP status 200.",
        on_error(_is_missing_metadata, with_status(200)),
        rules=("MCP-ERR-006",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "client-info-required",
        "A request without the optional clientInfo in _meta is refused.",
        with_check_first("client-info-named", _require_client_info),
        rules=("MCP-ERR-006",),
    ),
    Defect(
        "required-capabilities-array",
        "The error for a missing client capability lists names in an array.",
        on_error(_is_missing_capability, with_data(_as_array)),
        rules=("MCP-ERR-007",),
    ),
    Defect(
        "missing-capability-ignored",
        f"A tool asks for {NAME_FORM.key} though the client declared no elicitation.",
        with_method("tools/call", _ask_anyway),
        rules=("MCP-ERR-007",),
    ),
    Defect(
        "legacy-range-code",
        "Unknown names and cursors and logging/setLevel are answered -32000.",
        on_error(_is_unjudged, recoded(-32000)),
        rules=("MCP-ERR-008",),
    ),
)
