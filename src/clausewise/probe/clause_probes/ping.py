"""Ping: answered while the server is busy."""

from __future__ import annotations

import anyio

from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import Called, LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_observed,
)
from clausewise.probe.subjects.slow_tools import HEAD_START_S, LONG_S, NO_SLOW_TOOL, slow_call


@clause_probe("ping.prompt-while-busy", needs=("tools",), impact="calls", alone=True)
async def prompt_while_busy(peer: LegacyPeer) -> Observation:
    """A ping is answered only when a running tool call has ended.

    Why: ping tells whether the other side still lives; a client that waits in vain closes the
    connection, and with it the call that was only slow.

    Fix: read on while a request is in progress, and answer `ping` at once.
    """
    slow = slow_call(peer)
    if slow is None:
        return not_observed(NO_SLOW_TOOL)
    async with peer.session() as session:
        return await _ping_meanwhile(session, slow)


async def _ping_meanwhile(session: LegacySession, slow: Called) -> Observation:
    calls: list[Reply] = []

    async def call() -> None:
        patience = slow.seconds + 2.0
        params = slow.call.params
        calls.append(await session.attempt("tools/call", params, beside=True, timeout_s=patience))

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await anyio.sleep(HEAD_START_S)
        began = anyio.current_time()
        pong = await session.attempt("ping", beside=True)
        seconds = anyio.current_time() - began
    (called,) = calls
    if pong.response_event is None:
        return inconclusive(pong.blocked or f"ping got {pong.shown}")
    if called.response_event is None or called.response_event.seq > pong.response_event.seq:
        return held()
    if seconds < LONG_S:
        return not_observed(f"the tool {slow.call.name} ended before the ping could wait for it")
    return broke(
        "ping waits for a running tool call",
        seen=f"an answer after {seconds:.2g} s, when {slow.call.name} had ended",
        expected="an answer at once",
        evidence=pong,
    )
