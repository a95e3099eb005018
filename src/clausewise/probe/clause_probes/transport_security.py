"""Transports, security warning: foreign origins and hosts, and where the server listens."""

from __future__ import annotations

import socket
from dataclasses import dataclass, replace

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Outcome
from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import GET_STREAM, LegacySession
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY
from clausewise.probe.subjects.origins import FOREIGN_ORIGIN, look_alike, served_foreign_origin
from clausewise.transport.addresses import Neighbourhood, names_loopback, neighbourhood
from clausewise.transport.targets import HttpTarget

_RULE = "transport.foreign-origin-refused"
_FORBIDDEN = 403
_GLANCE_S = 1.0
_STREAM_S = 0.5
_FOREIGN_HOST = "evil.example"
_ELSEWHERE = (
    (socket.AF_INET, ("192.0.2.1", 9)),
    (socket.AF_INET6, ("2001:db8::1", 9)),
)
"""Addresses that no host has (RFC 5737, RFC 3849); a UDP socket sends nothing to connect there."""
_ANOTHER_LOOPBACK = "127.0.0.2"
"""Where a server bound to 127.0.0.1 alone does not answer, and one bound to 0.0.0.0 does."""


@dataclass(frozen=True, slots=True)
class _Refused:
    """What came of requests, by their foreign Origin; `failure` says why nothing can be told."""

    failure: str | None = None
    replies: tuple[tuple[str, Reply], ...] = ()


async def _with_foreign_origins(peer: LegacyPeer) -> _Refused:
    """POSTs and a GET, each after a control without Origin that is served."""

    async def ask() -> _Refused:
        async with peer.session() as session:
            control = await session.request("ping")
            if not control.succeeded:
                return _Refused(control.blocked or f"ping got {control.shown}")
            replies: list[tuple[str, Reply]] = []
            for origin in (FOREIGN_ORIGIN, look_alike(peer.http_target)):
                reply = await session.attempt("ping", headers={"Origin": origin}, rule=_RULE)
                replies.append((origin, reply))
            stream = await session.fetch("GET", headers=GET_STREAM, timeout_s=_STREAM_S)
            if stream.streamed:
                foreign = {**GET_STREAM, "Origin": FOREIGN_ORIGIN}
                reply = await session.fetch("GET", headers=foreign, rule=_RULE, timeout_s=_STREAM_S)
                replies.append((FOREIGN_ORIGIN, reply))
            return _Refused(replies=tuple(replies))

    return await peer.once("foreign origins", ask)


@clause_probe("transport.foreign-origin-refused", transports=HTTP_ONLY, same_as="MCP-SEC-001")
async def foreign_origin_refused(peer: LegacyPeer) -> Observation:
    """A request with a foreign `Origin` is served.

    Why: a web page that the user visits can then talk to the server through the browser, to
    one on localhost by DNS rebinding.

    Fix: compare `Origin`, where there is one, with a list of your own before anything else,
    for POST, GET and DELETE alike. CORS headers do not refuse a request.
    """
    asked = await _with_foreign_origins(peer)
    if asked.failure is not None:
        return inconclusive(asked.failure)
    seen = [await _served(peer, origin, reply) for origin, reply in asked.replies]
    broken = [one for one in seen if one.faults]
    return broken[0] if broken else merged(seen)


async def _served(peer: LegacyPeer, origin: str, reply: Reply) -> Observation:
    if reply.status is not None and 200 <= reply.status < 300:
        seconds = peer.limits.answer_s
        return await served_foreign_origin(peer.http_target, reply, seconds, origin)
    if reply.status is None or (reply.barred is not None and reply.status != _FORBIDDEN):
        return inconclusive(reply.barred or f"the foreign origin got {reply.shown}")
    return held()


@clause_probe("transport.foreign-origin-forbidden", transports=HTTP_ONLY, same_as="MCP-SEC-001")
async def foreign_origin_forbidden(peer: LegacyPeer) -> Observation:
    """A foreign `Origin` is refused with another status than 403.

    Why: a client cannot tell the refusal from an error of its own, and tries again.

    Fix: answer 403 Forbidden, with a JSON-RPC error without id or no body at all.
    """
    asked = await _with_foreign_origins(peer)
    if asked.failure is not None:
        return inconclusive(asked.failure)
    seen = [_forbidden(reply) for _, reply in asked.replies]
    broken = [one for one in seen if one.faults]
    return broken[0] if broken else merged(seen)


def _forbidden(reply: Reply) -> Observation:
    if reply.status == _FORBIDDEN:
        return held()
    if reply.status is not None and 200 <= reply.status < 300:
        return not_observed("a foreign Origin is not refused at all: TRAN-002 tells")
    if reply.status is None or reply.barred is not None:
        return inconclusive(reply.barred or f"the foreign origin got {reply.shown}")
    return broke(
        "a foreign Origin is refused with another status than 403",
        seen=reply.shown,
        expected="HTTP 403",
        evidence=reply,
    )


@clause_probe("transport.foreign-host-refused", transports=HTTP_ONLY)
async def foreign_host_refused(peer: LegacyPeer) -> Observation:
    """A server on loopback serves a request with a foreign `Host`.

    Why: after DNS rebinding a page of the attacker reads the server as its own origin, so its
    GET requests carry no `Origin` at all; the attacker's name in `Host` is all that tells.

    Fix: refuse, with 403 or 421, any `Host` that is not localhost or the address you serve.
    """
    target = peer.http_target
    if not names_loopback(target.host):
        return not_applicable("the endpoint is not on loopback")
    plain = tuple(pair for pair in target.headers if pair[0].lower() != "host")
    elsewhere = replace(target, headers=(*plain, ("Host", f"{_FOREIGN_HOST}:{target.port}")))
    async with peer.session() as session, peer.at(elsewhere) as link:
        control = await session.request("ping")
        if not control.succeeded:
            return inconclusive(control.blocked or f"ping got {control.shown}")
        reply = await session.attempt("ping", link=link, rule="transport.foreign-host-refused")
    if reply.status is None:
        return inconclusive(reply.blocked or f"the foreign Host got {reply.shown}")
    if reply.succeeded:
        return broke(
            "a request with a foreign Host is served",
            seen=f"{reply.shown}, for Host {_FOREIGN_HOST}",
            expected="a refusal, though the page asks for a look at Origin only",
            severity=Outcome.INFO,
            evidence=reply,
        )
    return held()


@clause_probe("transport.bound-to-loopback", transports=HTTP_ONLY)
async def bound_to_loopback(peer: LegacyPeer) -> Observation:
    """A server that runs locally listens on all network interfaces.

    Why: everybody in the same network can use it, and the user thinks that nobody can.

    Fix: bind to 127.0.0.1 (and ::1) unless the user asks for more; never to 0.0.0.0 by default.
    """
    target = peer.http_target
    if not names_loopback(target.host):
        return not_applicable("the endpoint is not on loopback, so others are meant to reach it")
    async with peer.session() as session:
        tried = [await _answers_at(peer, session, one) for one in _other_addresses()]
    broken = [one for one in tried if one.faults]
    return broken[0] if broken else merged(tried)


def _other_addresses() -> tuple[str, ...]:
    """Addresses of this machine at which a server on 127.0.0.1 or ::1 must not answer."""
    own = [_own_address(family, there) for family, there in _ELSEWHERE]
    found = [one for one in own if one and neighbourhood(one) is not Neighbourhood.LOOPBACK]
    return (*found, _ANOTHER_LOOPBACK)


def _own_address(family: socket.AddressFamily, there: tuple[str, int]) -> str | None:
    """The address this machine would send from."""
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(there)
        except OSError:
            return None
        return str(probe.getsockname()[0])


async def _answers_at(peer: LegacyPeer, session: LegacySession, address: str) -> Observation:
    """Whether the server of the session answers at another address, too.

    The request names the session, so another server at that address would not serve it.
    """
    target: HttpTarget = replace(peer.http_target, address=address)
    try:
        async with peer.at(target) as link:
            reply = await session.attempt("ping", link=link, timeout_s=_GLANCE_S)
    except TargetError:
        return held()
    if not reply.succeeded:
        return held()
    return broke(
        "the server answers on an address that is not loopback alone",
        seen=f"{reply.shown} at {address} port {target.port}",
        expected="no connection",
        evidence=reply,
    )
