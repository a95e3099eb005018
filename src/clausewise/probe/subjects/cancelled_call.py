"""A call that is cancelled at once, on stdio, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clausewise.probe.conversation.link import Link, is_response
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.subjects.slow_tools import TRIES
from clausewise.probe.subjects.tour import Visit, tour
from clausewise.trace.events import Event

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
    """

    opening: Reply
    cancellation: Reply
    fence: Reply
    after: Reply

    @property
    def id(self) -> Any:
        return self.opening.id


async def cancelled_call(peer: Peer, link: Link) -> CancelledCall | None:
    """Cancel a call that takes a while, on `link`; None where no call is known to do so.

    One that ends too soon is tried again, for on a busy machine it may have been slow by chance.

    Nobody may use the link afterwards.
    """
    slow = max(await tour(peer), key=_seconds, default=None)
    if slow is None or _seconds(slow) < _SLOW_S:
        return None
    params = {**slow.request.params, "_meta": {"progressToken": TOKEN}}
    for _ in range(TRIES):
        call = await peer.request("tools/call", params, link=link, until=is_response, timeout_s=0)
        cancelled = {"requestId": call.id}
        ended = await peer.notify("notifications/cancelled", cancelled, link=link, timeout_s=0)
        fence = await peer.request("server/discover", link=link)
        if fence.answer.response_to(call.id) is None:
            break
    wait_s = min(0.3 + 1.5 * _seconds(slow), _LONGEST_WAIT_S)
    after = await peer.request("server/discover", link=link, until=_never, timeout_s=wait_s)
    return CancelledCall(call, ended, fence, after)


def _never(_: Event) -> bool:
    return False


def _seconds(visit: Visit) -> float:
    """How long a call took that gave a result; 0 for everything else."""
    events = visit.reply.answer.events
    if visit.request.method != "tools/call" or not visit.reply.succeeded:
        return 0.0
    first, last = events[0].ts, events[-1].ts
    return last - first if isinstance(first, float) and isinstance(last, float) else 0.0
