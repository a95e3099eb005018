"""Transports, session management and the version header: requests that must be refused."""

from __future__ import annotations

from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Evidence,
    Observation,
    broke,
    held,
    inconclusive,
    left_to_the_recording,
    not_applicable,
)
from clausewise.probe.registration import HTTP_ONLY
from clausewise.probe.subjects.grouping import Sighting

_BAD_REQUEST, _NOT_FOUND, _NOT_ALLOWED = 400, 404, 405
_NO_VERSION = "1999-01-01"


@clause_probe("transport.session-id-required", transports=HTTP_ONLY)
async def session_id_required(peer: LegacyPeer) -> Observation:
    """A request without the session's id is refused with another status than 400.

    Why: a client that lost its id takes 404 for an ended session and 401 for a lost login.

    Fix: answer 400 Bad Request to requests without `Mcp-Session-Id`, `initialize` apart.
    """
    async with peer.session() as session:
        if session.session_id is None:
            return not_applicable("the server gives its sessions no id")
        failure = await failed_ping(session)
        if failure is not None:
            return inconclusive(failure)
        reply = await session.attempt(
            "ping", headers={"Mcp-Session-Id": None}, rule="transport.session-id-required"
        )
    if reply.status is None:
        return inconclusive(reply.blocked or f"the request got {reply.shown}")
    if 200 <= reply.status < 300:
        return not_applicable("the server does not require the session's id")
    return _refused(reply, _BAD_REQUEST, "a request without the session's id")


@clause_probe("transport.unsupported-version", transports=HTTP_ONLY)
async def unsupported_version(peer: LegacyPeer) -> Observation:
    """A version that does not exist in `MCP-Protocol-Version` is not refused with 400.

    Why: the server then reads a message by rules that its sender does not mean.

    Fix: compare the header with the versions you speak, and answer 400 to any other.
    """
    async with peer.session() as session:
        failure = await failed_ping(session)
        if failure is not None:
            return inconclusive(failure)
        version = {"MCP-Protocol-Version": _NO_VERSION}
        await session.attempt("ping", headers=version, rule="transport.unsupported-version")
    return left_to_the_recording()


@clause_probe("transport.ended-session-gone", transports=HTTP_ONLY)
async def ended_session_gone(peer: LegacyPeer) -> Observation:
    """A request in a session that was ended is not answered with 404.

    Why: 404 is what tells a client to open a new session; at anything else it goes on with
    the old one.

    Fix: forget the session at DELETE, and answer 404 Not Found to its id from then on.
    """
    async with peer.session() as session:
        name = session.session_id
        if name is None:
            return not_applicable("the server gives its sessions no id")
        deleted = await session.terminate()
        if deleted.status == _NOT_ALLOWED:
            return not_applicable("the server does not let clients end sessions")
        if deleted.status is None or not 200 <= deleted.status < 300:
            return inconclusive(deleted.blocked or f"DELETE got {deleted.shown}")
        reply = await session.attempt(
            "ping", headers={"Mcp-Session-Id": name}, rule="transport.ended-session-gone"
        )
    if reply.status is None:
        return inconclusive(reply.blocked or f"the request got {reply.shown}")
    if reply.status in (401, 403, 429):
        return inconclusive(reply.blocked or reply.shown)
    what = "a request in a session that was ended"
    command = session.overlapping(deleted.request, reply.request)
    return _refused(reply, _NOT_FOUND, what, Sighting(reply.seq, command))


def _refused(reply: Reply, due: int, what: str, evidence: Evidence | None = None) -> Observation:
    if reply.status == due:
        return held()
    return broke(
        f"{what} is not refused with HTTP {due}",
        seen=reply.shown,
        expected=f"HTTP {due}",
        evidence=evidence or reply,
    )


async def failed_ping(session: LegacySession) -> str | None:
    """Why a refusal proves nothing: the conforming ping is refused, too; or None."""
    control = await session.request("ping")
    if control.succeeded:
        return None
    return control.blocked or f"the conforming ping got {control.shown}"
