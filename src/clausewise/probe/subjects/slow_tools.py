"""Tool calls that take long enough for something else to happen meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle, islice
from typing import Any

import anyio

from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import Called, LegacyPeer
from clausewise.probe.conversation.reply import Reply

HEAD_START_S = 0.1
"""How long a server gets to begin with a call before something else is sent."""

LONG_S = 0.2
"""How many seconds longer than a quick answer a long call takes: twice the head start."""

NO_SLOW_TOOL = (
    f"no tool that may be called takes {LONG_S:g} seconds; name a slow one with --call-tool"
)


TRIES = 3
"""How often what must happen during a slow call is tried before it counts as not to be had."""


def slow_call(peer: LegacyPeer) -> Called | None:
    """The longest of the walk's long calls that were answered, or None.

    A shorter one may have been long by chance; the walk waits for none longer than bearable.
    """
    return next(iter(_longest_first(peer.calls)), None)


async def slow_tries(peer: LegacyPeer) -> tuple[Called, ...]:
    """The long calls to try one after the other: the longest first, each again if need be.

    On a busy machine even the longest may have been long by chance, or be over too soon.
    """
    long = _longest_first(peer.calls) or _longest_first(await _made_again(peer))
    return tuple(islice(cycle(long), TRIES))


def _longest_first(calls: Iterable[Called]) -> list[Called]:
    long = (one for one in calls if one.reply.succeeded and one.seconds - one.usual_s >= LONG_S)
    return sorted(long, key=_seconds, reverse=True)


async def _made_again(peer: LegacyPeer) -> list[Called]:
    """Calls that took long when quick answers did, too, made and timed once more."""
    doubtful = [one for one in peer.calls if one.reply.succeeded and one.seconds >= LONG_S]
    if not doubtful:
        return []
    made = []
    async with peer.session() as session:
        _, usual_s = await _timed(session, "ping", {}, peer.tool_s)
        for one in sorted(doubtful, key=_seconds, reverse=True)[:TRIES]:
            reply, seconds = await _timed(session, "tools/call", one.call.params, peer.tool_s)
            made.append(Called(one.call, reply, seconds, usual_s))
    return made


async def _timed(
    session: LegacySession, method: str, params: Mapping[str, Any], most_s: float
) -> tuple[Reply, float]:
    """The answer to a request, and the seconds until it came or was given up."""
    began = anyio.current_time()
    reply = await session.request(method, params, timeout_s=most_s)
    return reply, anyio.current_time() - began


def _seconds(one: Called) -> float:
    return one.seconds
