"""Cancellation: what a server does when a running request is cancelled."""

from __future__ import annotations

import anyio

from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import Called, LegacyPeer
from clausewise.probe.observation import (
    Observation,
    broke,
    left_to_the_recording,
    not_observed,
)
from clausewise.probe.subjects.grouping import Sighting
from clausewise.probe.subjects.running_requests import running
from clausewise.probe.subjects.slow_tools import HEAD_START_S, NO_SLOW_TOOL, slow_tries

_ID = "clausewise-cancelled"
_CROSSING_S = 0.1
"""An answer within so many seconds may have been on its way when the cancellation came."""
_GRACE_S = 0.25


@clause_probe("cancellation.takes-effect", needs=("tools",), impact="calls", alone=True)
async def takes_effect(peer: LegacyPeer) -> Observation:
    """A cancelled request runs to its end and is answered.

    Why: the server goes on with work that nobody wants, and its sender has forgotten the id.

    Fix: read on while a request is in progress, stop the work at `notifications/cancelled`,
    and send nothing for the request.
    """
    why = NO_SLOW_TOOL
    for slow in slow_tries(peer):
        async with peer.session() as session:
            seen = await _cancel(session, slow)
        if seen is not None:
            return seen
        why = f"the tool {slow.call.name} ended before it could be cancelled"
    return not_observed(why)


async def _cancel(session: LegacySession, slow: Called) -> Observation | None:
    """What came of the cancelled call, or None if it ended too soon."""
    patience, params = slow.seconds + _GRACE_S, slow.call.params
    async with running(session, "tools/call", params, id=_ID, timeout_s=patience) as call:
        await anyio.sleep(HEAD_START_S)
        if call.is_over:
            return None
        reason = {"requestId": _ID, "reason": "nobody wants the answer"}
        cancellation = await session.notify("notifications/cancelled", reason)
        cancelled = anyio.current_time()
    # Its answer shows, on stdio, that the cancellation was read.
    await session.request("ping")
    reply, seconds = call.reply, call.ended - cancelled
    if reply.response_event is None or seconds < _CROSSING_S:
        return left_to_the_recording()
    return broke(
        "a cancelled request is answered",
        seen=f"{reply.shown}, {seconds:.2g} s after the cancellation",
        expected="no answer",
        evidence=Sighting(reply.seq, session.overlapping(reply.request, cancellation.request)),
    )
