"""Tool calls that take long enough for something else to happen meanwhile."""

from __future__ import annotations

from itertools import cycle, islice

from clausewise.probe.conversation.legacy_peer import Called, LegacyPeer

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
    return next(iter(_long_calls(peer)), None)


def slow_tries(peer: LegacyPeer) -> tuple[Called, ...]:
    """The long calls to try one after the other: the longest first, each again if need be.

    On a busy machine even the longest may have been long by chance, or be over too soon.
    """
    return tuple(islice(cycle(_long_calls(peer)), TRIES))


def _long_calls(peer: LegacyPeer) -> list[Called]:
    answered = (one for one in peer.calls if one.reply.succeeded)
    long = (one for one in answered if one.seconds - one.usual_s >= LONG_S)
    return sorted(long, key=lambda one: one.seconds, reverse=True)
