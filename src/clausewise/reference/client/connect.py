"""Find out which era the server speaks, and open a session of it.

Source: 2026-07-28, basic/versioning#backward-compatibility-with-initialization-based-versions,
and the same section of basic/transports/stdio and basic/transports/streamable-http.
"""

from __future__ import annotations

from typing import Any

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Era, Revision
from clausewise.reference.client.call import Reply
from clausewise.reference.client.channel import Channel
from clausewise.reference.client.legacy_session import (
    BARRED,
    SUPPORTED_VERSIONS,
    LegacySession,
    barred,
)
from clausewise.reference.client.modern_session import DISCOVER, ModernSession
from clausewise.reference.client.session import Session, Setup
from clausewise.wire.codes import ErrorCode

_PATIENCE_S = 5.0
"""After this long without an answer to `server/discover` the server may be legacy."""

_MODERN_ERRORS = frozenset(
    {
        ErrorCode.HEADER_MISMATCH,
        ErrorCode.MISSING_CLIENT_CAPABILITY,
        ErrorCode.UNSUPPORTED_VERSION,
    }
)


async def connect(setup: Setup, channel: Channel, era: Era) -> Session:
    """A session that is ready for use; `Era.DUAL` tries the modern era first.

    Raises:
        TargetError: the server cannot be reached, or speaks no version that is supported.
    """
    if era is not Era.LEGACY:
        session = ModernSession(setup, channel)
        patience = _PATIENCE_S if era is Era.DUAL else setup.seconds
        reply = await _discover(session, min(patience, setup.seconds))
        if reply.result is not None and not reply.fault and _is_modern(reply):
            session.learn(reply.result)
            return session
        _insist_on_legacy(reply, era)
    if not channel.alive and not await channel.restart():
        raise TargetError("the server exited when it was asked how it speaks", "See its stderr.")
    legacy = LegacySession(setup, channel)
    await legacy.open()
    return legacy


async def _discover(session: ModernSession, seconds: float) -> Reply:
    """Ask, and once more with a version that the server then names."""
    reply = await session.request(DISCOVER, seconds=seconds)
    if session.version in _named_versions(reply):
        reply = await session.request(DISCOVER, seconds=seconds)
    return reply


def _is_modern(reply: Reply) -> bool:
    """Whether a result is a modern server's that speaks our version."""
    result = reply.result or {}
    versions = result.get("supportedVersions")
    if isinstance(versions, list):
        return Revision.MODERN.value in versions
    return "resultType" in result


def _insist_on_legacy(reply: Reply, era: Era) -> None:
    """Raise unless falling back to `initialize` is right.

    Raises:
        TargetError: the server is modern and refuses, nobody is let in, or the modern era
            alone is wanted.
    """
    if reply.status in BARRED and reply.code not in _MODERN_ERRORS:
        raise barred(reply.status)
    if reply.response is None and reply.status is None and reply.fault.startswith("no connection"):
        raise TargetError(reply.fault, "Check that the server runs and listens there.")
    versions = _named_versions(reply)
    said = (reply.error or {}).get("message") or reply.fault or "no DiscoverResult"
    if reply.code in _MODERN_ERRORS and not set(versions) & set(SUPPORTED_VERSIONS):
        raise TargetError(
            f"the server refuses server/discover: {said}",
            f"It supports {', '.join(versions) or 'versions it does not name'}.",
        )
    if era is Era.MODERN:
        raise TargetError(
            f"the server does not speak {Revision.MODERN}: {said}", "Try --era auto or legacy."
        )


def _named_versions(reply: Reply) -> tuple[str, ...]:
    """The versions that an unsupported-version error lists."""
    data: Any = (reply.error or {}).get("data")
    listed = data.get("supported") if isinstance(data, dict) else None
    return tuple(v for v in listed if isinstance(v, str)) if isinstance(listed, list) else ()
