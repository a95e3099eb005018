"""Find out how a server speaks: by its answers to a modern request and to `initialize`."""

from __future__ import annotations

import time
from dataclasses import dataclass

from clausewise.core.vocabulary import LEGACY_REVISIONS, Era, Revision, TransportKind
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.conversation.http_sse import begins_with_endpoint, get_stream
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.link import Links
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.era_signs import is_modern_answer, listed_versions, supported_versions
from clausewise.probe.refusal import http_sse_only, no_mcp
from clausewise.transport.targets import HttpTarget
from clausewise.wire.codes import ErrorCode

UNKNOWN_ERA = (
    "the server lets nobody in, so its era is unknown; what can be decided from outside is "
    "judged by 2026-07-28"
)
"""The remark on a run that was barred."""

_PATIENCE_S = 3.0
_SILENCE_S = 1.0
_LISTS = ("tools/list", "prompts/list", "resources/list")


@dataclass(frozen=True, slots=True)
class Detection:
    """The era of a server, remarks on how it is known, and the legacy session that showed it.

    The session is open; whoever gets it ends it.
    """

    era: Era
    notes: tuple[str, ...] = ()
    session: LegacySession | None = None

    @property
    def legacy_version(self) -> str | None:
        """The version that `initialize` negotiated, or None."""
        return self.session.version if self.session is not None else None

    @property
    def remarks(self) -> tuple[str, ...]:
        """The notes, and that a legacy session of another revision is not judged."""
        version = self.legacy_version
        if version is None or version == Revision.LEGACY.value:
            return self.notes
        unjudged = f"initialize negotiates {version}, so no clause of 2025-11-25 is judged"
        return (*self.notes, unjudged)

    def revisions(self, wanted: Revision | None) -> tuple[Revision, ...]:
        """The revisions that are spoken and can be judged; `wanted` is the only one wanted."""
        spoken: list[Revision] = []
        if self.legacy_version == Revision.LEGACY.value and wanted is not Revision.MODERN:
            spoken.append(Revision.LEGACY)
        if self.era.has_modern:
            spoken.append(Revision.MODERN)
        return tuple(spoken)


async def detect(links: Links, known: Acquaintance, revision: Revision | None = None) -> Detection:
    """The era of the server behind `links`, after basic/versioning and the binding pages.

    A `DiscoverResult`, or an error that only the modern era has, in answer to
    `server/discover` makes the server modern; `initialize`, on a connection or to a process
    of its own, tells whether it is legacy or dual.

    Args:
        links: opens connections or processes.
        known: learns the answers to `server/discover` and `initialize`.
        revision: the only revision wanted; legacy skips the modern request.

    Raises:
        TargetError: the server cannot be reached, speaks no MCP, or does not speak the
            revision wanted; the message says what came instead.
    """
    peer = Peer(links, known)
    try:
        return await _detect(peer, links, known, revision)
    finally:
        await peer.close()


async def _detect(
    peer: Peer, links: Links, known: Acquaintance, revision: Revision | None
) -> Detection:
    if revision is Revision.LEGACY:
        session, _ = await _initialize(links, known)
        if session is None:
            raise no_mcp(links.target, None, known.initialization, revision)
        return Detection(Era.LEGACY, session=session)
    on_stdio = links.transport is TransportKind.STDIO
    first, session = await (_ask_processes if on_stdio else _ask_endpoint)(peer, links, known)
    modern, notes = await _is_modern(peer, known, first)
    era = _era(modern, session is not None)
    if era is None or (revision is Revision.MODERN and era is Era.LEGACY):
        if session is not None:
            await session.end()
        await _raise_if_http_sse(peer, links)
        raise no_mcp(links.target, first, known.initialization, revision)
    return Detection(era, notes, session)


async def _ask_endpoint(
    peer: Peer, links: Links, known: Acquaintance
) -> tuple[Reply, LegacySession | None]:
    """Over HTTP: `server/discover`, then `initialize` unless a gate is in the way."""
    first = await _discover(peer, known, min(_PATIENCE_S, links.limits.answer_s))
    if first.status in (401, 403, 429):
        raise no_mcp(links.target, first, None, None)
    session, seconds = await _initialize(links, known)
    if session is not None and first.blocked and not is_modern_answer(first):
        # Silence marks a legacy server, but so does a slow start: ask again with the time
        # that its start is now known to take.
        first = await _discover(peer, known, min(links.limits.answer_s, 2 * seconds + 1))
    return first, session


async def _ask_processes(
    peer: Peer, links: Links, known: Acquaintance
) -> tuple[Reply, LegacySession | None]:
    """On stdio: both requests to processes that start side by side.

    `initialize` goes first, for its answer shows how long a start takes: a process that is
    as old and says nothing to `server/discover` for a second more is silent, not slow.
    """
    await peer.own_link()
    session, seconds = await _initialize(links, known)
    patience = seconds + _SILENCE_S if session is not None else _PATIENCE_S
    first = await _discover(peer, known, min(patience, links.limits.answer_s))
    return first, session


def _era(modern: bool, legacy: bool) -> Era | None:
    if modern:
        return Era.DUAL if legacy else Era.MODERN
    return Era.LEGACY if legacy else None


async def _discover(peer: Peer, known: Acquaintance, seconds: float) -> Reply:
    reply = await peer.request("server/discover", timeout_s=seconds)
    if is_modern_answer(reply):
        known.learn(reply)
    return reply


async def _is_modern(peer: Peer, known: Acquaintance, reply: Reply) -> tuple[bool, tuple[str, ...]]:
    """Whether the answer to `server/discover` is a modern server's, with remarks."""
    if reply.code == ErrorCode.UNSUPPORTED_VERSION:
        return await _is_modern_at_our_version(peer, known, reply)
    if is_modern_answer(reply):
        if await _disowns_our_version(peer, reply):
            shown = ", ".join(listed_versions(reply))
            return False, (f"server/discover is answered, but lists only {shown}",)
        return True, ()
    undecided = reply.code == ErrorCode.METHOD_NOT_FOUND or reply.succeeded
    if undecided and await _lists_are_modern(peer):
        known.learn(reply)
        return True, ("server/discover is missing or wrong; lists are served in the modern era",)
    return False, ()


async def _is_modern_at_our_version(
    peer: Peer, known: Acquaintance, reply: Reply
) -> tuple[bool, tuple[str, ...]]:
    """Retry when the server refuses our version although it lists it; else it is not ours."""
    supported = supported_versions(reply)
    if Revision.MODERN.value not in supported:
        shown = ", ".join(supported) or "none"
        return False, (f"the server refuses 2026-07-28; versions it names: {shown}",)
    again = await _discover(peer, known, peer.answer_s)
    return is_modern_answer(again), ("the server refused 2026-07-28 once although it lists it",)


async def _disowns_our_version(peer: Peer, reply: Reply) -> bool:
    """Whether a server answers `server/discover` only to say that it is legacy.

    Its list lacks our version, and another request of that version is refused for it.
    """
    listed = listed_versions(reply)
    if not listed or Revision.MODERN.value in listed:
        return False
    other = await peer.request(_LISTS[0], timeout_s=min(_PATIENCE_S, peer.answer_s))
    return other.code == ErrorCode.UNSUPPORTED_VERSION


async def _lists_are_modern(peer: Peer) -> bool:
    """Whether a list is served with `resultType`, which no legacy result has."""
    for method in _LISTS:
        reply = await peer.request(method, timeout_s=min(_PATIENCE_S, peer.answer_s))
        if reply.blocked:
            return False
        if is_modern_answer(reply):
            return True
    return False


async def _raise_if_http_sse(peer: Peer, links: Links) -> None:
    if isinstance(links.target, HttpTarget) and begins_with_endpoint(await get_stream(peer)):
        raise http_sse_only(links.target)


async def _initialize(links: Links, known: Acquaintance) -> tuple[LegacySession | None, float]:
    """A legacy session, or None when it is refused, and how many seconds that took."""
    began = time.monotonic()
    session = LegacySession(links, await links.open(), "legacy")
    known.initialization = await session.initialize()
    seconds = time.monotonic() - began
    if session.version in LEGACY_REVISIONS:
        return session, seconds
    await session.end()
    return None, seconds
