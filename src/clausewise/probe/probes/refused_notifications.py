"""Our rules about notifications that a server does not know (CW-RES-004 and CW-RES-006)."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_observed,
)
from clausewise.probe.probes.results import silent
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.control import failed_control

_KNOWN = "notifications/cancelled"
_UNKNOWN = "notifications/clausewise/unknown"
_TOLD = "every notification is answered: MCP-RES-004's finding"


@dataclass(frozen=True, slots=True)
class _Noticed:
    """What came of a notification that the server does not know.

    `fence` is the answer to the request sent after it. `reason` says why the answers decide
    nothing, or is None.
    """

    reply: Reply
    fence: Reply
    reason: str | None


async def _noticed(peer: Peer) -> _Noticed:
    async def notify() -> _Noticed:
        known = await peer.notify(_KNOWN, {"requestId": "clausewise-none"}, rule="CW-RES-004")
        control = await peer.request("server/discover")
        reply = await peer.notify(_UNKNOWN, {}, rule="CW-RES-004")
        fence = await peer.request("server/discover")
        answered = _is_answered(known) or bool(silent(known, control).faults)
        return _Noticed(reply, fence, _TOLD if answered else None)

    return await peer.once("unknown notification", notify)


def _is_answered(reply: Reply) -> bool:
    """Whether a notification over HTTP got a message with a status that says it was accepted."""
    return _is_success(reply) and bool(reply.answer.messages)


def _is_success(reply: Reply) -> bool:
    return reply.status is not None and 200 <= reply.status < 300


@probe("CW-RES-004")
async def unknown_notification_gets_no_response(peer: Peer) -> Observation:
    """A notification that the server does not know is answered with a response.

    Why: a notification has no id, so a response to it belongs to nothing; some clients close
    the connection over it.

    Fix: ignore unknown notifications on stdio; over HTTP refuse them with an error status.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    seen = await _noticed(peer)
    if seen.reason is not None:
        return not_observed(seen.reason)
    if peer.transport is TransportKind.STDIO:
        return silent(seen.reply, seen.fence)
    reply = seen.reply
    if reply.status is None or reply.barred is not None:
        return inconclusive(reply.barred or f"the notification got {reply.shown}")
    if not any("result" in event.payload for event in reply.answer.messages):
        return held()
    return broke(
        "a notification is answered with a result",
        seen=reply.shown,
        expected="an empty 202, or an error status",
        evidence=reply,
    )


@probe("CW-RES-006", transports=HTTP_ONLY)
async def refused_notification_gets_an_error_status(peer: Peer) -> Observation:
    """A notification is refused with an error in the body and a status that says success.

    Why: whoever reads the status alone, such as a gateway or a client that sends and forgets,
    believes that the notification was accepted.

    Fix: answer a notification that is not accepted with an HTTP error status such as 400.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    seen = await _noticed(peer)
    if seen.reason is not None:
        return not_observed(seen.reason)
    reply = seen.reply
    if reply.status is None or reply.barred is not None:
        return inconclusive(reply.barred or f"the notification got {reply.shown}")
    if not _is_success(reply):
        return held()
    if not any("error" in event.payload for event in reply.answer.messages):
        return not_observed(f"the server accepts the notification (HTTP {reply.status})")
    return broke(
        "a refused notification has a status of success",
        seen=reply.shown,
        expected="an HTTP error status",
        evidence=reply,
    )
