"""Our rule about requests that were cancelled on stdio (CW-STD-003)."""

from __future__ import annotations

from typing import Any

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, broke, held, inconclusive, not_observed
from clausewise.probe.registration import STDIO_ONLY, Turn, probe
from clausewise.probe.subjects.cancelled_call import TOKEN, CancelledCall, cancelled_call
from clausewise.probe.subjects.grouping import Sighting, once_each
from clausewise.probe.subjects.received import Received, received_in
from clausewise.probe.subjects.subscription import listening, subscription_of
from clausewise.probe.wording import named
from clausewise.wire.jsonrpc import same_id


@probe("CW-STD-003", transports=STDIO_ONLY, turn=Turn.LAST, beside=True, impact="calls")
async def nothing_follows_a_cancellation(peer: Peer) -> Observation:
    """A message about a request follows after its cancellation was read.

    Why: the client has forgotten the request; it cannot place the message and may take it
    for a fault.

    Fix: stop the work when `notifications/cancelled` comes, and send neither a response nor
    further notifications of that request.
    """
    found = await listening(peer)
    parts: list[tuple[str, Observation]] = []
    if found is not None and found.cancelled:
        ended = zip(found.subscriptions, found.cancellations, strict=True)
        parts += [
            (s.id, _silence(peer, (s.opening, cancellation), found.cancelled[1:]))
            for s, cancellation in ended
        ]
    call = found.call if found is not None else await _cancelled_alone(peer)
    if call is not None:
        parts.append(("call", _after_call(peer, call)))
    if not parts:
        return not_observed("no call that may be made takes long enough to be cancelled")
    return once_each(parts)


async def _cancelled_alone(peer: Peer) -> CancelledCall | None:
    async with peer.another() as link:
        return await cancelled_call(peer, link)


def _after_call(peer: Peer, call: CancelledCall) -> Observation:
    """The fence shows when the cancellation was read."""
    if call.ended_too_soon or _belong((call.fence,), call.id):
        return inconclusive("the call had ended, or gone on, before its cancellation was read")
    if not call.fence.succeeded:
        return inconclusive(call.fence.blocked or f"server/discover got {call.fence.shown}")
    return _silence(peer, (call.opening, call.cancellation, call.fence), (call.after,))


def _silence(peer: Peer, ended: tuple[Reply, ...], later: tuple[Reply, ...]) -> Observation:
    """Whether what began with the first of `ended` is silent in `later`."""
    id_ = ended[0].id
    stray = next(iter(_belong(later, id_)), None)
    if stray is None:
        return held()
    what = stray.method or "a response"
    return broke(
        f"{what} follows for a request that was cancelled",
        seen=f"{what} for request {named(id_)} after a later request was answered",
        expected="no further message for it",
        evidence=Sighting(stray.event.seq, peer.replayed(*ended, later[0], in_turn=False)),
    )


def _belong(replies: tuple[Reply, ...], id_: Any) -> list[Received]:
    """The messages that belong to a request: its response, its progress, its subscription's."""
    return [
        one
        for reply in replies
        for one in received_in(reply)
        if (one.method is None and same_id(one.payload.get("id"), id_))
        or (isinstance(id_, int) and one.params.get("progressToken") == TOKEN)
        or (subscription_of(one) is not None and same_id(subscription_of(one), id_))
    ]
