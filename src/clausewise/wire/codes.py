"""JSON-RPC error codes: the standard ones, those of MCP, and the ranges MCP divides."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """Codes with a defined meaning: JSON-RPC 2.0 section 5.1 and basic#error-codes."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    HEADER_MISMATCH = -32020
    MISSING_CLIENT_CAPABILITY = -32021
    UNSUPPORTED_VERSION = -32022
    RESOURCE_NOT_FOUND = -32002
    """Up to 2025-11-25 only."""
    URL_ELICITATION_REQUIRED = -32042
    """2025-11-25 only."""


RESERVED_CODES = range(-32099, -32019)
"""What 2026-07-28 reserves for the specification: -32099 to -32020."""

LEGACY_CODES = range(-32019, -31999)
"""What implementations took before that policy: -32019 to -32000."""
