"""Rules about what older clients may still send: GET, DELETE, Last-Event-ID (STL-005 to 007)."""

from __future__ import annotations

from clausewise.core.vocabulary import Outcome
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, broke, held, inconclusive, merged
from clausewise.probe.probes.statelessness import SESSION_ID
from clausewise.probe.registration import HTTP_ONLY, probe

_NOT_ALLOWED = 405
_GET_STREAM = {"Accept": "text/event-stream"}
_LAST_EVENT_ID = "42"


@probe("MCP-STL-005", transports=HTTP_ONLY, needs=("modern-only",))
async def get_is_not_allowed(peer: Peer) -> Observation:
    """A GET of the endpoint is not answered with 405.

    Why: an older client that opens its stream this way needs to learn that there is none.

    Fix: answer GET on the MCP endpoint with 405 and `Allow: POST`.
    """
    return _not_allowed(await peer.fetch("GET", _GET_STREAM))


@probe("MCP-STL-006", transports=HTTP_ONLY, needs=("modern-only",))
async def delete_is_not_allowed(peer: Peer) -> Observation:
    """A DELETE of the endpoint is not answered with 405.

    Why: an older client that ends its session this way needs to learn that there is none.

    Fix: answer DELETE on the MCP endpoint with 405 and `Allow: POST`, whatever session id
    comes with it.
    """
    with_id = _not_allowed(await peer.fetch("DELETE", {"Mcp-Session-Id": SESSION_ID}))
    without = _not_allowed(await peer.fetch("DELETE", {}))
    if with_id.faults and without.faults:
        return Observation(Outcome.FAIL, 2, faults=with_id.faults)
    return merged([with_id, without])


def _not_allowed(reply: Reply) -> Observation:
    verb = reply.request.verb
    if reply.status == _NOT_ALLOWED:
        lacks_allow = reply.header("allow") is None
        note = f"405 to {verb} comes without an Allow header (RFC 9110 section 15.5.6)"
        return held(note=note if lacks_allow else None)
    if reply.status is None or reply.barred is not None:
        return inconclusive(reply.barred or f"{verb} got {reply.shown}")
    return broke(
        f"{verb} on the endpoint is not answered with 405",
        seen=f"HTTP {reply.status} {reply.media_type or ''}".rstrip(),
        expected="HTTP 405",
        evidence=reply,
    )


@probe("MCP-STL-007", transports=HTTP_ONLY, needs=("modern-only",))
async def last_event_id_changes_nothing(peer: Peer) -> Observation:
    """A `Last-Event-ID` header is not ignored.

    Why: streams are not resumable in this revision; an older client that reconnects must
    not be refused for asking, nor sent events again.

    Fix: ignore the header on every request.
    """
    resuming = {"Last-Event-ID": _LAST_EVENT_ID}
    control = await peer.discover()
    if not control.succeeded:
        return inconclusive(control.blocked or f"server/discover got {control.shown}")
    posted = await peer.request("server/discover", headers=resuming)
    fetched = await peer.fetch("GET", {**_GET_STREAM, **resuming})
    return merged([_ignored(posted), *_not_replayed(fetched)])


def _ignored(reply: Reply) -> Observation:
    if reply.succeeded:
        return held()
    if reply.blocked is not None:
        return inconclusive(reply.blocked)
    return broke(
        "a request with Last-Event-ID is refused",
        seen=reply.shown,
        expected="the same result as without the header",
        evidence=reply,
    )


def _not_replayed(reply: Reply) -> list[Observation]:
    """Whether events came again; any other answer to GET than 405 is MCP-STL-005's finding."""
    if reply.status == _NOT_ALLOWED:
        return [held()]
    if not reply.streamed or not reply.answer.messages:
        return []
    return [
        broke(
            "a GET with Last-Event-ID replays events",
            seen=f"{len(reply.answer.messages)} messages on a stream",
            expected="HTTP 405",
            evidence=reply,
        )
    ]
