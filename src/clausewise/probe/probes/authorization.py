"""Probes of rule group AUT about the MCP server: how it refuses, and its own metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from clausewise.core.vocabulary import Outcome
from clausewise.probe.authorization.issuers import is_issuer
from clausewise.probe.authorization.protection import (
    UNAUTHORIZED,
    Located,
    Place,
    Protection,
    protection,
    web_address,
)
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.wording import named
from clausewise.transport.addresses import names_loopback
from clausewise.transport.documents import Document
from clausewise.wire.authorization.canonical_uri import CanonicalUri, canonical
from clausewise.wire.authorization.challenges import Challenge

OFFLINE_ACCESS = "offline_access"
_NO_DOCUMENT = "there is no Protected Resource Metadata document (MCP-AUT-002)"


@probe("MCP-AUT-001", transports=HTTP_ONLY, impact="calls", outside=True)
async def refusal_leads_to_metadata(peer: Peer) -> Observation:
    """A request without a token is not refused so that a client finds the metadata.

    Why: a client learns from the 401 and the metadata where to get a token; without them it
    cannot authorize.

    Fix: answer 401 with `WWW-Authenticate: Bearer resource_metadata="<absolute URL>"`, or serve
    the document at /.well-known/oauth-protected-resource. Authorization of another kind than
    OAuth is free: leave these rules out with `--ignore MCP-AUT`.
    """
    seen = await protection(peer)
    if seen.outside is not None or seen.refusal is None:
        return seen.outside or not_applicable(seen.reason)
    refusal, found = seen.refusal, seen.metadata
    if found is not None and refusal.status != UNAUTHORIZED:
        return broke(
            "a request without a token is refused by another status than 401",
            seen=refusal.shown,
            expected="HTTP 401",
            evidence=refusal,
        )
    if found is not None and not seen.challenges:
        return broke(
            "the 401 has no challenge",
            seen="no WWW-Authenticate header",
            expected="WWW-Authenticate: Bearer …",
            severity=Outcome.WARN,
            evidence=refusal,
        )
    if found is not None:
        return held(note=_remark(seen, found))
    if seen.undecided is not None and not _names_no_url(seen):
        return inconclusive(seen.undecided)
    return broke(
        "neither the challenge nor a well-known URL leads to the metadata",
        seen=_nowhere(seen),
        expected="resource_metadata in the challenge, or the document at a well-known URL",
        evidence=refusal,
    )


def _names_no_url(seen: Protection) -> bool:
    """Whether the challenge's own `resource_metadata` can be no place of a document."""
    first = seen.located[0]
    return first.place is Place.CHALLENGE and web_address(first.document.url) is None


def _remark(seen: Protection, found: Located) -> str | None:
    if found.place is Place.CHALLENGE:
        return None
    if seen.located[0].place is Place.CHALLENGE:
        return f"the URL in the challenge gives no document; {found.place.value} does"
    return f"the challenge has no resource_metadata; {found.place.value} has the document"


def _nowhere(seen: Protection) -> str:
    tried = "; ".join(f"{one.place.value}: {one.document.fault}" for one in seen.located)
    bearer = seen.bearer
    if bearer is None or "resource_metadata" in bearer.parameters:
        return tried
    return f"no resource_metadata in the challenge; {tried}"


@probe("MCP-AUT-002", transports=HTTP_ONLY, impact="calls", outside=True)
async def resource_metadata_is_valid(peer: Peer) -> Observation:
    """Protected Resource Metadata is not served, or does not say what it must.

    Why: the document names the authorization servers; without it no client knows whom to ask.

    Fix: serve a JSON object as application/json, to everybody, with `resource` and a
    non-empty `authorization_servers` of https issuer URLs.
    """
    seen = await protection(peer)
    if seen.outside is not None:
        return seen.outside
    judged = _judged(seen)
    document = judged.document
    value = document.value
    if value is not None:
        return merged(_contents(document, value))
    if seen.undecided is not None and not _names_no_url(seen):
        return inconclusive(seen.undecided)
    status = document.answer.status if document.answer is not None else None
    locked = status in (401, 403)
    return broke(
        "the metadata itself needs a token" if locked else "the metadata is not served",
        seen=f"{judged.place.value}: {document.fault}",
        expected="HTTP 200, application/json, a JSON object, without a token",
        evidence=document,
    )


def _judged(seen: Protection) -> Located:
    """The document that a client takes: a URL in the challenge decides, else the first found."""
    first = seen.located[0]
    if first.place is Place.CHALLENGE:
        return first
    return seen.metadata or first


def _contents(document: Document, value: Mapping[str, Any]) -> Iterator[Observation]:
    resource = value.get("resource")
    if _is_resource(resource):
        yield held()
    else:
        yield broke(
            "the resource of the metadata is no resource identifier",
            seen=f"resource {named(resource)}" if "resource" in value else "no resource",
            expected="an absolute https URL without a fragment (http on loopback)",
            evidence=document,
        )
    servers = value.get("authorization_servers")
    if not isinstance(servers, list) or not servers:
        yield broke(
            "the metadata lists no authorization server",
            seen=f"authorization_servers {named(servers)}"
            if "authorization_servers" in value
            else "no authorization_servers",
            expected="an array with at least one issuer",
            evidence=document,
        )
        return
    wrong = next((s for s in servers if not (is_issuer(s) and _is_safe(s))), None)
    if wrong is None:
        yield held()
    else:
        yield broke(
            "an entry of authorization_servers is no issuer",
            seen=named(wrong),
            expected="an https URL without query and fragment (http on loopback)",
            evidence=document,
        )


def _is_resource(value: Any) -> bool:
    url = web_address(value)
    return url is not None and "#" not in url and _is_safe(url)


def _is_safe(url: str) -> bool:
    """Whether a URL is https, or http to loopback."""
    parts = urlsplit(url)
    return parts.scheme == "https" or names_loopback(parts.hostname or "")


@probe("MCP-AUT-003", transports=HTTP_ONLY, impact="calls", outside=True)
async def resource_is_the_endpoint(peer: Peer) -> Observation:
    """The `resource` of the metadata is not the URL of this server.

    Why: a client must not use metadata about another resource, and its token would have
    the wrong audience.

    Fix: set `resource` to the URL by which clients reach the MCP endpoint.
    """
    seen = await protection(peer)
    if seen.outside is not None:
        return seen.outside
    if seen.metadata is None:
        undecided = seen.undecided
        return not_applicable(_NO_DOCUMENT) if undecided is None else inconclusive(undecided)
    document = seen.metadata.document
    resource = web_address((document.value or {}).get("resource"))
    if resource is None or "#" in resource:
        return not_observed("the resource of the metadata is no identifier (MCP-AUT-002)")
    return _compared(canonical(resource), canonical(peer.url), seen.metadata)


def _compared(resource: CanonicalUri, endpoint: CanonicalUri, located: Located) -> Observation:
    if resource == endpoint:
        return held()
    if resource.without_slash == endpoint.without_slash:
        return held(note="resource and endpoint differ in a trailing slash")
    if resource == endpoint.without_query:
        return held(note="resource is the endpoint's URL without its query")
    if located.place is Place.ROOT and resource.without_slash == endpoint.root:
        return held(note="resource is the origin, as for a document at the root")
    shown = f"resource {resource}"
    if resource.origin != endpoint.origin:
        message = "the metadata is about a resource on another origin"
        severity = None
    elif resource.is_parent_of(endpoint):
        message = "the metadata is about a parent of the endpoint"
        severity = Outcome.WARN
    else:
        message = "the metadata is about another resource of this origin"
        severity = None
    return broke(
        message,
        seen=shown,
        expected=f"resource {endpoint}",
        severity=severity,
        evidence=located.document,
    )


@probe("MCP-AUT-006", transports=HTTP_ONLY, impact="calls", outside=True)
async def challenge_names_scopes(peer: Peer) -> Observation:
    """The Bearer challenge of a 401 does not say which scopes are needed.

    Why: a client then asks for every scope that the metadata lists, more than it needs.

    Fix: add the scopes that the request needs to the challenge: `scope="files:read"`.
    """
    seen = await protection(peer)
    if seen.outside is not None:
        return seen.outside
    bearer = seen.bearer
    if bearer is None:
        return not_applicable("no request got a 401 with a Bearer challenge")
    if bearer.names_scopes:
        return held()
    scope = bearer.parameters.get("scope")
    return broke(
        "the challenge names no scopes",
        seen="no scope parameter" if scope is None else f"scope {named(scope)}",
        expected='scope="…" with the scopes that are needed, separated by spaces',
        evidence=seen.refusal,
    )


@probe("MCP-AUT-009", transports=HTTP_ONLY, impact="calls", outside=True)
async def offline_access_is_not_asked_for(peer: Peer) -> Observation:
    """The server asks for the scope `offline_access`.

    Why: a refresh token is the client's wish, not something that a resource needs; the
    user is asked for more than the server uses.

    Fix: leave `offline_access` out of the challenge's scope and of `scopes_supported`.
    """
    seen = await protection(peer)
    if seen.outside is not None:
        return seen.outside
    parts = [*_asked_by_challenge(seen), *_asked_by_metadata(seen)]
    if not parts:
        return not_applicable("there is neither a Bearer challenge nor a metadata document")
    return merged(parts)


def _asked_by_challenge(seen: Protection) -> Iterator[Observation]:
    bearer: Challenge | None = seen.bearer
    if bearer is None:
        return
    if OFFLINE_ACCESS not in bearer.parameters.get("scope", "").split():
        yield held()
        return
    yield broke(
        "the challenge asks for offline_access",
        seen=f"scope {named(bearer.parameters['scope'])}",
        expected="scopes that the resource needs",
        evidence=seen.refusal,
    )


def _asked_by_metadata(seen: Protection) -> Iterator[Observation]:
    if seen.metadata is None:
        return
    document = seen.metadata.document
    scopes = (document.value or {}).get("scopes_supported")
    if not isinstance(scopes, list) or OFFLINE_ACCESS not in scopes:
        yield held()
        return
    yield broke(
        "the metadata of the resource lists offline_access",
        seen=f"{OFFLINE_ACCESS} in scopes_supported",
        expected="scopes that the resource needs",
        evidence=document,
    )
