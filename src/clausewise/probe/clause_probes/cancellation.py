"""Cancellation: what a server does when a running request is cancelled."""

from __future__ import annotations

from dataclasses import dataclass

import anyio

from clausewise.core.vocabulary import Outcome
from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy_peer import Called, LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    left_to_the_recording,
    not_observed,
)
from clausewise.probe.subjects.grouping import Sighting
from clausewise.probe.subjects.running_requests import running
from clausewise.probe.subjects.slow_tools import HEAD_START_S, NO_SLOW_TOOL, slow_tries

_CROSSING_S = 0.1
"""An answer within so many seconds may have been on its way when the cancellation came."""
_ID = "clausewise-cancelled"
_PROMPT_S = 0.03
"""An answer that comes within so many seconds, at two different moments of a call, is brought
forth by its cancellation."""
_LONG_ENOUGH_S = 0.5
"""From how many seconds on a call has a second moment, well after the first."""
_GRACE_S = 0.25


@clause_probe("cancellation.takes-effect", needs=("tools",), impact="calls", alone=True)
async def takes_effect(peer: LegacyPeer) -> Observation:
    """A cancelled request runs to its end and is answered.

    Why: the server goes on with work that nobody wants, and its sender has forgotten the id.

    Fix: read on while a request is in progress, stop the work at `notifications/cancelled`,
    and send nothing for the request.
    """
    why = NO_SLOW_TOOL
    for number, slow in enumerate(await slow_tries(peer)):
        seen = await _cancelled(peer, slow, f"{_ID}-{number}", HEAD_START_S)
        if seen is None:
            why = f"the tool {slow.call.name} ended before it could be cancelled"
        elif seen.is_late:
            # A busy machine may be late to read what had crossed: not each time.
            again = await _cancelled(peer, slow, f"{_ID}-again", HEAD_START_S)
            if again is not None and again.is_late:
                return _answered(again, f"{again.seconds:.2g} s after the cancellation")
            return left_to_the_recording()
        elif seen.is_prompt and slow.seconds >= _LONG_ENOUGH_S:
            later = await _cancelled(peer, slow, f"{_ID}-later", slow.seconds / 2)
            if later is not None and later.is_prompt:
                return _answered(later, "whenever it is cancelled, at once")
            return left_to_the_recording()
        else:
            return left_to_the_recording()
    return not_observed(why)


@dataclass(frozen=True, slots=True)
class _Cancelled:
    """What came of a call, how long after its cancellation, and the command for both.

    Over HTTP a server without sessions may not know the call, and may ignore a cancellation of
    what it does not know.
    """

    reply: Reply
    seconds: float
    command: str
    may_be_unknown: bool

    @property
    def is_answered(self) -> bool:
        return self.reply.response_event is not None

    @property
    def is_late(self) -> bool:
        return self.is_answered and self.seconds >= _CROSSING_S

    @property
    def is_prompt(self) -> bool:
        return self.is_answered and self.seconds < _PROMPT_S


async def _cancelled(
    peer: LegacyPeer, slow: Called, id_: str, head_start_s: float
) -> _Cancelled | None:
    """Cancel a call that has been at work for a while; None if it ended too soon.

    `id_` is the call's; a process has one session, so no other call may have it.
    """
    patience, params = slow.seconds + _GRACE_S, slow.call.params
    async with peer.session() as session:
        async with running(session, "tools/call", params, id=id_, timeout_s=patience) as call:
            await anyio.sleep(head_start_s)
            if call.is_over:
                return None
            sent = anyio.current_time()
            reason = {"requestId": id_, "reason": "nobody wants the answer"}
            cancellation = await session.notify("notifications/cancelled", reason)
        # Its answer shows, on stdio, that the cancellation was read.
        await session.request("ping")
        command = session.overlapping(call.reply.request, cancellation.request)
        sessionless = call.reply.status is not None and session.session_id is None
        return _Cancelled(call.reply, call.ended - sent, command, sessionless)


def _answered(seen: _Cancelled, when: str) -> Observation:
    return broke(
        "a cancelled request is answered",
        seen=f"{seen.reply.shown}, {when}",
        expected="no answer"
        + (", if the server without sessions knows the call" if seen.may_be_unknown else ""),
        severity=Outcome.INFO if seen.may_be_unknown else None,
        evidence=Sighting(seen.reply.seq, seen.command),
    )
