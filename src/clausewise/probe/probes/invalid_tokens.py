"""Our rules about tokens that are none, and where tokens come from (CW-AUT-001 to 003)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from clausewise.probe.authorization.issuers import issuers
from clausewise.probe.authorization.protection import Protection, Stance, protection
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, broke, held, inconclusive, not_observed
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.wording import named
from clausewise.transport.addresses import names_loopback
from clausewise.transport.documents import Document

_UNAUTHORIZED, _BAD_REQUEST = 401, 400
_NO_TOKENS = ("not-a-token", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJjbGF1c2V3aXNlIiwiZXhwIjoxfQ.")
"""A word, and a JSON Web Token that is unsigned and has expired in 1970."""

_MALFORMED = ("Bearer", "Bearer one two", "clausewise")
_ENDPOINTS = (
    "authorization_endpoint",
    "token_endpoint",
    "registration_endpoint",
    "jwks_uri",
    "revocation_endpoint",
    "introspection_endpoint",
)


@probe("CW-AUT-001", transports=HTTP_ONLY, impact="calls", outside=True)
async def invalid_token_is_unauthorized(peer: Peer) -> Observation:
    """A token that is none is not refused with 401.

    Why: by the 401 clients know that they need another token; by any other status they do
    not know what to mend.

    Fix: answer every token that does not validate with 401 and `error="invalid_token"`.
    """
    seen = await _protected(peer)
    if isinstance(seen, Observation):
        return seen
    parts = []
    for token in _NO_TOKENS:
        reply = await _with(peer, seen, f"Bearer {token}", "CW-AUT-001")
        message = "a token that is none is not refused with 401"
        parts.append((reply.status, _due(reply, message, (_UNAUTHORIZED,))))
    return once_each(parts)


@probe("CW-AUT-003", transports=HTTP_ONLY, impact="calls", outside=True)
async def malformed_authorization_is_refused(peer: Peer) -> Observation:
    """A malformed `Authorization` header is answered neither 400 nor 401.

    Why: clients tell a header that they built wrongly from a token that they lack by the
    status.

    Fix: answer a header that cannot be parsed with 400, or with 401 as where there is none.
    """
    seen = await _protected(peer)
    if isinstance(seen, Observation):
        return seen
    parts = []
    for value in _MALFORMED:
        reply = await _with(peer, seen, value, "CW-AUT-003")
        message = "a malformed Authorization header is not refused as it must be"
        parts.append((reply.status, _due(reply, message, (_BAD_REQUEST, _UNAUTHORIZED))))
    return once_each(parts)


async def _protected(peer: Peer) -> Protection | Observation:
    """The protection of a server that refuses requests without a token as it must."""
    seen = await protection(peer)
    if seen.stance is not Stance.OAUTH or seen.refusal is None:
        return seen.outside or not_observed(seen.reason)
    if seen.refusal.status != _UNAUTHORIZED:
        return not_observed("a missing token is not refused with 401: MCP-AUT-001's finding")
    return seen


async def _with(peer: Peer, seen: Protection, authorization: str, rule: str) -> Reply:
    """The refused request again, with this Authorization header."""
    target = peer.http_target
    others = tuple(pair for pair in target.headers if pair[0].lower() != "authorization")
    headers = (*others, ("Authorization", authorization))
    assert seen.refusal is not None
    request = seen.refusal.request
    params = {name: v for name, v in (request.params or {}).items() if name != "_meta"}
    async with peer.at(replace(target, headers=headers)) as link:
        return await peer.request(str(request.method), params or None, link=link, rule=rule)


def _due(reply: Reply, message: str, statuses: tuple[int, ...]) -> Observation:
    if reply.status in statuses:
        return held()
    if reply.status is None or reply.status == 429 or 300 <= reply.status < 400:
        return inconclusive(reply.blocked or reply.shown)
    if reply.status >= 500 and reply.message is None:
        return inconclusive(reply.shown)
    return broke(
        message,
        seen=reply.shown,
        expected=" or ".join(f"HTTP {status}" for status in statuses),
        evidence=reply,
    )


@probe("CW-AUT-002", transports=HTTP_ONLY, impact="calls", outside=True)
async def authorization_endpoints_use_https(peer: Peer) -> Observation:
    """An endpoint of a listed authorization server is not served over https.

    Why: codes and tokens travel to these endpoints; in the clear anybody on the way has them.

    Fix: serve every endpoint over https and list it so in the metadata.
    """
    known = await issuers(peer)
    if known.outside is not None:
        return known.outside
    parts: list[tuple[str, Observation]] = []
    local = False
    for issuer in known.listed:
        for document in issuer.usable[:1]:
            for member, url in _endpoints(document.value or {}):
                if _is_local(url):
                    local = True
                else:
                    parts.append((member, _secure(document, member, url)))
    if parts:
        return once_each(parts)
    return not_observed(
        "all endpoints are on a loopback address" if local else "no metadata lists an endpoint"
    )


def _endpoints(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for member in _ENDPOINTS:
        value = metadata.get(member)
        if isinstance(value, str):
            yield member, value


def _is_local(url: str) -> bool:
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return False
    return host is not None and names_loopback(host)


def _secure(document: Document, member: str, url: str) -> Observation:
    if url.lower().startswith("https:"):
        return held()
    return broke(
        f"the {member} is not served over https",
        seen=named(url),
        expected="an https URL",
        evidence=document,
    )
