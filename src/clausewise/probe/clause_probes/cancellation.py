"""Cancellation: what a server does when a running request is cancelled."""

from __future__ import annotations

import anyio

from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import Called, LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    left_to_the_recording,
    not_observed,
)
from clausewise.probe.subjects.grouping import Sighting
from clausewise.probe.subjects.slow_tools import HEAD_START_S, NO_SLOW_TOOL, slow_call

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
    slow = slow_call(peer)
    if slow is None:
        return not_observed(NO_SLOW_TOOL)
    async with peer.session() as session:
        return await _cancel(session, slow)


async def _cancel(session: LegacySession, slow: Called) -> Observation:
    replies: list[Reply] = []
    times: list[float] = []
    request_id = "clausewise-cancelled"

    async def call() -> None:
        patience = slow.seconds + _GRACE_S
        params = slow.call.params
        replies.append(
            await session.attempt(
                "tools/call", params, id=request_id, beside=True, timeout_s=patience
            )
        )
        times.append(anyio.current_time())

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await anyio.sleep(HEAD_START_S)
        reason = {"requestId": request_id, "reason": "nobody wants the answer"}
        if replies:
            return not_observed(f"the tool {slow.call.name} ended before it could be cancelled")
        cancellation = await session.notify("notifications/cancelled", reason)
        cancelled = anyio.current_time()
    # Its answer shows, on stdio, that the cancellation was read.
    await session.request("ping")
    reply, seconds = replies[0], times[0] - cancelled
    if reply.response_event is None or seconds < _CROSSING_S:
        return left_to_the_recording()
    return broke(
        "a cancelled request is answered",
        seen=f"{reply.shown}, {seconds:.2g} s after the cancellation",
        expected="no answer",
        evidence=Sighting(reply.seq, session.overlapping(reply.request, cancellation.request)),
    )
