"""Rules about serving every request by itself: sessions, cold starts (STL-001 to STL-004)."""

from __future__ import annotations

import re

from clausewise.core.vocabulary import Era, Outcome
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, Turn, passive, probe
from clausewise.probe.subjects.grouping import Sighting
from clausewise.probe.subjects.named_requests import NamedRequest
from clausewise.probe.subjects.tour import ALL_CAPABILITIES, tour
from clausewise.wire.codes import ErrorCode

SESSION_ID = "clausewise-0123456789abcdef"
"""A session id that no server gave out."""

_SESSION_HEADER = "Mcp-Session-Id"
_LISTS = (
    ("tools", "tools/list"),
    ("prompts", "prompts/list"),
    ("resources", "resources/list"),
)
_WANTS_SESSION = re.compile(
    r"session.?id|session.{0,20}(?:required|missing|needed|not found)"
    r"|(?:no|missing|invalid|unknown|without)\b.{0,20}session",
    re.IGNORECASE,
)
_WANTS_OPENING = re.compile(
    r"initiali[sz]|handshake|discover.{0,20}(?:first|before)", re.IGNORECASE
)


def listed_method(peer: Peer) -> str:
    """A list method that the server offers, else `server/discover`."""
    return next((method for name, method in _LISTS if peer.offers(name)), "server/discover")


@passive("MCP-STL-001", transports=HTTP_ONLY)
def session_ids_are_not_given(traffic: Traffic) -> Observation:
    """A response of the modern era carries an `Mcp-Session-Id` header.

    Why: clients may send it back, and then requests are bound to one instance again,
    which statelessness is to do away with.

    Fix: neither mint nor echo session ids in answers to requests of this revision.
    """
    answered = [reply for reply in traffic.replies if reply.status and reply.blocked is None]
    given = [reply for reply in answered if reply.header(_SESSION_HEADER) is not None]
    if not answered:
        return not_observed("no HTTP response came")
    if not given:
        return held(len(answered))
    echoed = sum(reply.header(_SESSION_HEADER) == SESSION_ID for reply in given)
    what = "echoes" if echoed == len(given) else "mints"
    fault = broke(
        f"the server {what} session ids in {len(given)} of {len(answered)} responses",
        seen=f"{_SESSION_HEADER} in the answer to {given[0].request.method}",
        expected=f"no {_SESSION_HEADER} header",
        evidence=given[0],
    )
    return Observation(fault.outcome, len(answered), faults=fault.faults)


@probe("MCP-STL-002", transports=HTTP_ONLY)
async def session_id_changes_nothing(peer: Peer) -> Observation:
    """A request fares differently with an `Mcp-Session-Id` header than without.

    Why: sessions are no part of this revision; a client of an older one may still send
    the header, and no client can know an id to send.

    Fix: ignore the header, and ask for none.
    """
    method = listed_method(peer)
    control = await peer.request(method)
    if not control.succeeded:
        if not _wants_session(control):
            return inconclusive(control.blocked or f"without the header: {control.shown}")
        return broke(
            "a request without a session id is refused",
            seen=control.shown,
            expected="the request served: there are no sessions",
            evidence=control,
        )
    # An older client may send the header: it is no fault of the request.
    reply = await peer.request(method, headers={_SESSION_HEADER: SESSION_ID})
    if reply.succeeded:
        return held(2)
    if reply.blocked is not None:
        return inconclusive(reply.blocked)
    return broke(
        "a request with an unknown session id is refused",
        seen=reply.shown,
        expected="the same result as without the header",
        severity=Outcome.WARN,
        evidence=reply,
    )


def _wants_session(reply: Reply) -> bool:
    """Whether an error asks for a session."""
    return bool(_WANTS_SESSION.search(_error_text(reply)))


def _wants_opening(reply: Reply) -> bool:
    """Whether an error asks for a session, a handshake or another request first."""
    return _wants_session(reply) or bool(_WANTS_OPENING.search(_error_text(reply)))


def _error_text(reply: Reply) -> str:
    if reply.error is not None:
        return str(reply.error)
    return reply.answer.body.decode("utf-8", "replace")


@probe("MCP-STL-003", beside=True)
async def first_request_is_served(peer: Peer) -> Observation:
    """The first request on a connection is not served unless another came before it.

    Why: requests may reach any instance at any time; a client need not open anything.

    Fix: serve each request from what it carries itself; take version and capabilities
    from its `_meta`.
    """
    method = listed_method(peer)
    async with peer.fresh(passed_on=True) as link:
        cold = await peer.request(method, link=link)
    if cold.succeeded:
        return held()
    if cold.code == ErrorCode.UNSUPPORTED_VERSION or cold.status in (401, 403, 429):
        return inconclusive(cold.blocked or f"{method} got {cold.shown}")
    warm = await _after_discover(peer, method)
    if warm.succeeded or _wants_opening(cold):
        return broke(
            f"{method} is refused as the first request on a connection",
            seen=cold.shown,
            expected="a result, as after server/discover" if warm.succeeded else "a result",
            evidence=cold,
        )
    return inconclusive(f"{method} got {cold.shown}, and after server/discover {warm.shown}")


async def _after_discover(peer: Peer, method: str) -> Reply:
    async with peer.fresh() as link:
        await peer.request("server/discover", link=link)
        return await peer.request(method, link=link)


@probe("MCP-STL-004", impact="calls", turn=Turn.LAST)
async def nothing_is_remembered(peer: Peer) -> Observation:
    """The server fills in what a request lacks from an earlier one on the connection.

    Why: connections are shared and pooled; what one request declared says nothing about
    the next, which may come from another client.

    Fix: take version, identity and capabilities from the request's own `_meta` alone.
    """
    capability = await _capability_is_forgotten(peer)
    return merged([await _version_is_forgotten(peer), capability])


async def _version_is_forgotten(peer: Peer) -> Observation:
    method = listed_method(peer)
    link = await peer.own_link()
    before = await peer.request(method, link=link)
    if not before.succeeded:
        return inconclusive(f"{method} got {before.shown}")
    if not link.alive:
        return not_observed("the server closes the connection after each answer")
    reply = await peer.request(method, without_meta=True, link=link, rule="MCP-STL-004")
    # A server of both eras may take the process for a legacy client's from now on.
    await link.close()
    if reply.succeeded:
        return await _is_served_from_memory(peer, before, reply)
    if reply.code == ErrorCode.INVALID_PARAMS:
        return held()
    if reply.error is None or peer.era is Era.DUAL:
        return inconclusive(f"without _meta: {reply.blocked or reply.shown}")
    return held()


async def _is_served_from_memory(peer: Peer, before: Reply, reply: Reply) -> Observation:
    """Served after a request with `_meta`: only where it is refused without one is that memory."""
    async with peer.fresh() as link:
        cold = await peer.request(
            listed_method(peer), without_meta=True, link=link, rule="MCP-STL-004"
        )
    if cold.succeeded:
        return inconclusive("requests without _meta are always served (MCP-ERR-006)")
    if cold.blocked is not None:
        return inconclusive(cold.blocked)
    return broke(
        "a request without _meta is served after one with it",
        seen="a result, though it is refused where it is the first on a connection",
        expected=f"error {ErrorCode.INVALID_PARAMS.value}, whatever came before",
        evidence=Sighting(reply.seq, peer.replayed(before, reply)),
    )


async def _capability_is_forgotten(peer: Peer) -> Observation:
    call = await _asking_call(peer)
    if call is None:
        return not_observed("no tool that may be called asks the client for input")
    link = await peer.own_link()
    before = await peer.request("tools/call", call.params, capabilities=ALL_CAPABILITIES, link=link)
    if not link.alive:
        return not_observed("the server closes the connection after each answer")
    reply = await peer.request("tools/call", call.params, link=link)
    remembered = asked_methods(reply)
    if reply.message is None:
        return inconclusive(reply.blocked or f"tools/call got {reply.shown}")
    if not remembered:
        return held()
    async with peer.fresh() as link:
        cold = await peer.request("tools/call", call.params, link=link)
    if asked_methods(cold):
        return inconclusive("the tool asks undeclared clients on any connection (MCP-ERR-007)")
    return broke(
        "the server asks for input that this request declares no capability for",
        seen=f"input requests {', '.join(sorted(remembered))} after a call that declared them",
        expected=f"error {ErrorCode.MISSING_CLIENT_CAPABILITY.value}, or no input request",
        evidence=Sighting(reply.seq, peer.replayed(before, reply)),
    )


async def _asking_call(peer: Peer) -> NamedRequest | None:
    """The first of a few harmless tools that asks for input when it may."""
    for visit in await tour(peer):
        if visit.request.method == "tools/call" and asked_methods(visit.reply):
            return visit.request
    return None


def asked_methods(reply: Reply) -> frozenset[str]:
    """The methods of the input requests in a result."""
    asked = reply.fields.get("inputRequests")
    if not isinstance(asked, dict):
        return frozenset()
    methods = (request.get("method") for request in asked.values() if isinstance(request, dict))
    return frozenset(method for method in methods if isinstance(method, str))
