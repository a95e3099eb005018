"""What in an answer tells the modern era from the legacy one."""

from __future__ import annotations

from typing import Any

from clausewise.probe.conversation.reply import Reply
from clausewise.wire.codes import ErrorCode

MODERN_ERRORS = frozenset(
    {
        ErrorCode.HEADER_MISMATCH,
        ErrorCode.MISSING_CLIENT_CAPABILITY,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)
"""Error codes that only the modern era has. -32601 and -32602 tell nothing: legacy servers
answer an unknown method with either."""


def is_modern_answer(reply: Reply) -> bool:
    """Whether only a modern server that speaks our version answers a request like this."""
    if reply.code in MODERN_ERRORS:
        return reply.code != ErrorCode.UNSUPPORTED_VERSION
    if not reply.succeeded:
        return False
    return "resultType" in reply.fields or "supportedVersions" in reply.fields


def listed_versions(reply: Reply) -> tuple[str, ...]:
    """The versions that a `DiscoverResult` lists."""
    return _texts(reply.fields.get("supportedVersions"))


def supported_versions(reply: Reply) -> tuple[str, ...]:
    """The versions that an unsupported-version error lists."""
    data = reply.error.get("data") if reply.error is not None else None
    return _texts(data.get("supported")) if isinstance(data, dict) else ()


def _texts(listed: Any) -> tuple[str, ...]:
    return tuple(v for v in listed if isinstance(v, str)) if isinstance(listed, list) else ()
