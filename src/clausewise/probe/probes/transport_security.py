"""Probe of rule group SEC about the endpoint's TLS."""

from __future__ import annotations

import shlex
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from clausewise.core.errors import CertificateError, TargetError
from clausewise.core.vocabulary import Outcome
from clausewise.probe.authorization.protection import Stance, protection
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_applicable,
)
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.grouping import Sighting
from clausewise.transport.addresses import (
    Neighbourhood,
    look_up,
    names_loopback,
    neighbourhood,
)
from clausewise.transport.targets import HttpTarget

_HTTPS_PORT = 443
_LOOK_UP_S = 5.0
_GLANCE_S = 3.0
_UNKNOWN_AUTHORITY = frozenset({18, 19, 20, 21})
"""OpenSSL's verify codes for a chain that ends at no trusted authority."""


@probe("MCP-SEC-002", transports=HTTP_ONLY, impact="calls", outside=True)
async def endpoint_is_secure(peer: Peer) -> Observation:
    """The endpoint is not reached over HTTPS with a valid certificate.

    Why: whoever is on the way can read tokens and change what tools return.

    Fix: serve the endpoint over https with an unexpired certificate for its host name, the
    intermediate certificates included.
    """
    target = peer.http_target
    if names_loopback(target.host):
        return not_applicable("the endpoint is on loopback")
    if not target.is_tls:
        return await _plain(peer, target)
    try:
        async with peer.at(replace(target, verify=True)):
            pass
    except CertificateError as error:
        return await _untrusted(target, error)
    return held(note=await _served_in_the_clear(peer, target))


async def _plain(peer: Peer, target: HttpTarget) -> Observation:
    takes_tokens = peer.authorized or (await protection(peer)).stance is Stance.OAUTH
    return broke(
        "tokens go to the endpoint in the clear"
        if takes_tokens
        else "the endpoint is reached over plain HTTP",
        seen=f"http at {target.authority}",
        expected="https",
        severity=None if takes_tokens else Outcome.WARN,
        evidence=_handshake(target),
    )


async def _untrusted(target: HttpTarget, error: CertificateError) -> Observation:
    if error.verify_code in _UNKNOWN_AUTHORITY and target.ca_file is None:
        known = await look_up(target.host, target.port, _LOOK_UP_S)
        if all(neighbourhood(address) is not Neighbourhood.PUBLIC for address in known):
            return inconclusive(
                f"{error.message}: in a private network its authority may be a private one; "
                "name it with --ca-file"
            )
    return broke(
        "the certificate of the endpoint is not valid",
        seen=error.message,
        expected="an unexpired certificate for this host from a trusted authority",
        evidence=_handshake(target),
    )


async def _served_in_the_clear(peer: Peer, target: HttpTarget) -> str | None:
    """A remark when MCP is served without TLS, too; the request carries none of the headers."""
    if target.port != _HTTPS_PORT:
        return None
    plain = HttpTarget(urlunsplit(("http", *urlsplit(target.url)[1:])))
    try:
        async with peer.at(HttpTarget(plain.url)) as link:
            reply = await peer.request("server/discover", link=link, timeout_s=_GLANCE_S)
    except TargetError:
        return None
    return "MCP is served over plain HTTP as well" if reply.succeeded else None


def _handshake(target: HttpTarget) -> Sighting:
    """The command that shows the connection without sending anything secret."""
    return Sighting(None, f"curl -sSIv {shlex.quote(target.public_url)}")
