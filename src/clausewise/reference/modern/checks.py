"""What a modern request must satisfy before its method runs, on either transport."""

from __future__ import annotations

from collections.abc import Mapping

from clausewise.reference.call import LOG_LEVELS
from clausewise.reference.messages import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from clausewise.reference.modern import headers
from clausewise.reference.modern.parts import UNSUPPORTED_VERSION, Check, Incoming, ModernParts
from clausewise.wire.meta import META_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL, META_VERSION


def version_named(incoming: Incoming, _parts: ModernParts) -> None:
    """Source: basic#_meta (per-request protocol fields)."""
    if not isinstance(incoming.meta.get(META_VERSION), str):
        raise RpcError(INVALID_PARAMS, f"params._meta must hold the string {META_VERSION}")


def client_capabilities_named(incoming: Incoming, _parts: ModernParts) -> None:
    """Source: basic#_meta (per-request protocol fields)."""
    if not isinstance(incoming.meta.get(META_CAPABILITIES), dict):
        raise RpcError(INVALID_PARAMS, f"params._meta must hold the object {META_CAPABILITIES}")


def client_info_well_formed(incoming: Incoming, _parts: ModernParts) -> None:
    """`clientInfo` may be absent; if present it is an Implementation."""
    info = incoming.meta.get(META_CLIENT_INFO)
    if META_CLIENT_INFO in incoming.meta and not (
        isinstance(info, dict)
        and isinstance(info.get("name"), str)
        and isinstance(info.get("version"), str)
    ):
        raise RpcError(INVALID_PARAMS, f"{META_CLIENT_INFO} must hold name and version")


def version_supported(incoming: Incoming, parts: ModernParts) -> None:
    """Source: basic/versioning#protocol-version-negotiation."""
    requested = incoming.meta.get(META_VERSION)
    if requested not in parts.versions:
        data = {"supported": list(parts.versions), "requested": requested}
        raise RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def method_exists(incoming: Incoming, parts: ModernParts) -> None:
    """Source: basic/transports/streamable-http#protocol-version-header."""
    if incoming.method not in parts.methods:
        raise RpcError(METHOD_NOT_FOUND, "Method not found", status=404)


def log_level_known(incoming: Incoming, _parts: ModernParts) -> None:
    """Source: server/utilities/logging#error-handling."""
    if META_LOG_LEVEL in incoming.meta and incoming.meta[META_LOG_LEVEL] not in LOG_LEVELS:
        raise RpcError(INVALID_PARAMS, f"{META_LOG_LEVEL} must be one of {', '.join(LOG_LEVELS)}")


CHECKS: Mapping[str, Check] = {
    "version-header-present": headers.version_present,
    "method-header-present": headers.method_present,
    "version-named": version_named,
    "client-capabilities-named": client_capabilities_named,
    "client-info-well-formed": client_info_well_formed,
    "version-header-matches": headers.version_matches,
    "method-header-matches": headers.method_matches,
    "version-supported": version_supported,
    "method-exists": method_exists,
    "name-header": headers.name_matches,
    "parameter-headers": headers.parameters_match,
    "log-level-known": log_level_known,
}
"""In the order they run; the names are those that a defect removes or replaces."""
