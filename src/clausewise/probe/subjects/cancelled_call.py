"""A call that is cancelled at once, on stdio, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

from clausewise.core.vocabulary import Direction
from clausewise.probe.conversation.link import Link, is_response
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.subjects.slow_tools import TRIES
from clausewise.probe.subjects.tour import Visit, tour
from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import same_id

TOKEN = "clausewise-cancelled"

_LONGEST_WAIT_S = 2.0
_SLOW_S = 0.015
"""A call that took so long may be under way still when its cancellation is read."""


@dataclass(frozen=True, slots=True)
class CancelledCall:
    """A call and what came after its cancellation.

    Attributes:
        opening: what came before the cancellation; the call's progress token is `TOKEN`.
        cancellation: what was read before the fence was sent.
        fence: the answer to a request sent after the cancellation, and what came before it.
        after: what came after that answer.
        ended_too_soon: whether the call's response came before the fence was answered.
    """

    opening: Reply
    cancellation: Reply
    fence: Reply
    after: Reply
    ended_too_soon: bool

    @property
    def id(self) -> Any:
        return self.opening.id


async def cancelled_call(peer: Peer, link: Link) -> CancelledCall | None:
    """Cancel a call that takes a while, on `link`; None where no call is known to do so.

    Where one ends too soon the next slowest is tried, and each again: the first call of a
    process, or any on a busy machine, may have been slow by chance.

    Nobody may use the link afterwards.
    """
    slowest = sorted(await tour(peer), key=_seconds, reverse=True)
    slow = [visit for visit in slowest if _seconds(visit) >= _SLOW_S]
    if not slow:
        return None
    for number, visit in enumerate(islice(cycle(slow), TRIES)):
        params = {**visit.request.params, "_meta": {"progressToken": TOKEN}}
        call = await peer.request("tools/call", params, link=link, until=is_response, timeout_s=0)
        cancelled = {"requestId": call.id}
        ended = await peer.notify("notifications/cancelled", cancelled, link=link, timeout_s=0)
        fence = await _fence(peer, link, f"{TOKEN}-{number}")
        too_soon = _is_answered(peer, call.id, fence)
        if not too_soon:
            break
    wait_s = min(0.3 + 1.5 * _seconds(visit), _LONGEST_WAIT_S)
    after = await peer.request("server/discover", link=link, until=_never, timeout_s=wait_s)
    return CancelledCall(call, ended, fence, after, too_soon)


def _is_answered(peer: Peer, id_: Any, fence: Reply) -> bool:
    """Whether a response is recorded up to the fence; it may have come between two requests."""
    last = fence.seq or 0
    came = (event for event in peer.recording if event.seq <= last and is_response(event))
    return any(
        event.direction is Direction.SERVER_TO_CLIENT and same_id(event.payload.get("id"), id_)
        for event in came
    )


async def _fence(peer: Peer, link: Link, id_: str) -> Reply:
    """The answer to this request, not that of the call, which may come before it."""

    def answers(event: Event) -> bool:
        return is_response(event) and same_id(event.payload.get("id"), id_)

    return await peer.request("server/discover", link=link, id=id_, until=answers)


def _never(_: Event) -> bool:
    return False


def _seconds(visit: Visit) -> float:
    """How long a call took that gave a result; 0 for everything else."""
    events = visit.reply.answer.events
    if visit.request.method != "tools/call" or not visit.reply.succeeded:
        return 0.0
    first, last = events[0].ts, events[-1].ts
    return last - first if isinstance(first, float) and isinstance(last, float) else 0.0
