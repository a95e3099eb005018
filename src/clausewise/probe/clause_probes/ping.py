"""Ping: answered while the server is busy."""

from __future__ import annotations

import anyio

from clausewise.core.vocabulary import Outcome
from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import Called, LegacyPeer
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_observed,
)
from clausewise.probe.subjects.running_requests import running
from clausewise.probe.subjects.slow_tools import HEAD_START_S, NO_SLOW_TOOL, TRIES, slow_tries

_NOTICED_S = 0.1
"""An answer that takes less has not waited for anything."""


@clause_probe(
    "ping.prompt-while-busy", needs=("tools",), impact="calls", walked=True, again_alone=True
)
async def prompt_while_busy(peer: LegacyPeer) -> Observation:
    """A ping is answered only when a running tool call has ended.

    Why: ping tells whether the other side still lives; a client that waits in vain closes the
    connection, and with it the call that was only slow.

    Fix: read on while a request is in progress, and answer `ping` at once.
    """
    tries = await slow_tries(peer)
    if not tries:
        return not_observed(NO_SLOW_TOOL)
    async with peer.session() as session:
        for slow in tries:
            seen = await _ping_meanwhile(session, slow)
            if seen.outcome is not Outcome.NOT_OBSERVED:
                break
        if not seen.faults:
            return seen
        # A busy machine may have held up the answer: what is so each time is no chance.
        for _ in range(TRIES):
            again = await _ping_meanwhile(session, slow)
            if again.outcome is Outcome.PASS:
                return again
    return seen


async def _ping_meanwhile(session: LegacySession, slow: Called) -> Observation:
    patience = slow.seconds + 2.0
    async with running(session, "tools/call", slow.call.params, timeout_s=patience) as call:
        await anyio.sleep(HEAD_START_S)
        began = anyio.current_time()
        pong = await session.attempt("ping", beside=True)
        seconds = anyio.current_time() - began
    called = call.reply
    if pong.response_event is None:
        return inconclusive(pong.blocked or f"ping got {pong.shown}")
    if called.response_event is None or called.response_event.seq > pong.response_event.seq:
        return held()
    if seconds < _NOTICED_S:
        return not_observed(f"the tool {slow.call.name} ended before the ping could wait for it")
    return broke(
        "ping waits for a running tool call",
        seen=f"an answer after {seconds:.2g} s, when {slow.call.name} had ended",
        expected="an answer at once",
        evidence=pong,
    )
