"""Tool calls that take long enough for something else to happen meanwhile."""

from __future__ import annotations

from clausewise.probe.conversation.legacy_peer import Called, LegacyPeer

HEAD_START_S = 0.1
"""How long a server gets to begin with a call before something else is sent."""

LONG_S = 0.2
"""From how many seconds on a call is long: twice the head start."""

NO_SLOW_TOOL = (
    f"no tool that may be called takes {LONG_S:g} seconds; name a slow one with --call-tool"
)


def slow_call(peer: LegacyPeer) -> Called | None:
    """The longest of the walk's long calls that were answered, or None.

    A shorter one may have been long by chance; the walk waits for none longer than bearable.
    """
    long = (one for one in peer.calls if one.seconds >= LONG_S and one.reply.succeeded)
    return max(long, key=lambda one: one.seconds, default=None)
