"""Probes of rule group AUT about the authorization servers that an MCP server lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from clausewise.probe.authorization.issuers import Issuer, issuers
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
)
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.wording import named
from clausewise.transport.documents import Document

S256 = "S256"
_ISS_SUPPORTED = "authorization_response_iss_parameter_supported"
_CLIENT_DOCUMENTS = "client_id_metadata_document_supported"
_CHALLENGE_METHODS = "code_challenge_methods_supported"
_AT_AUTHORIZATION_ENDPOINT = frozenset({"authorization_code", "implicit"})

JudgeDocument = Callable[[Issuer, Document, Mapping[str, Any]], Observation]
"""What a rule says about the document of an issuer that a client uses."""


@probe("MCP-AUT-004", transports=HTTP_ONLY, impact="calls", outside=True)
async def issuers_publish_metadata(peer: Peer) -> Observation:
    """A listed authorization server publishes no metadata that a client may use.

    Why: the client finds the authorization and token endpoints there alone, and must not
    use a document whose `issuer` is not the listed one.

    Fix: serve RFC 8414 or OpenID Connect metadata at a well-known URL of the issuer, with
    `issuer` byte for byte as in `authorization_servers`.
    """
    known = await issuers(peer)
    if known.outside is not None:
        return known.outside
    found = merged(_published(issuer) for issuer in known.listed)
    return found if known.note is None else replace(found, notes=(*found.notes, known.note))


def _published(issuer: Issuer) -> Observation:
    if issuer.chosen is not None:
        return _complete(issuer, issuer.chosen)
    if issuer.undecided is not None:
        return inconclusive(issuer.undecided)
    foreign = next((d for d in issuer.documents if d.value is not None), None)
    if foreign is not None:
        return broke(
            f"the metadata of {issuer.name} names another issuer",
            seen=f"issuer {named((foreign.value or {}).get('issuer'))}",
            expected=f"issuer {named(issuer.name)}",
            evidence=foreign,
        )
    tried = "; ".join(f"{d.url}: {d.fault}" for d in issuer.documents)
    return broke(
        f"the authorization server {issuer.name} publishes no metadata",
        seen=tried,
        expected="a JSON document at one of these URLs",
        evidence=issuer.documents[0],
    )


def _complete(issuer: Issuer, document: Document) -> Observation:
    value = document.value or {}
    grants = value.get("grant_types_supported")
    interactive = not isinstance(grants, list) or not _AT_AUTHORIZATION_ENDPOINT.isdisjoint(
        grant for grant in grants if isinstance(grant, str)
    )
    due = [("token_endpoint", str), ("response_types_supported", list)]
    if interactive:
        due.append(("authorization_endpoint", str))
    lacking = [name for name, kind in due if not isinstance(value.get(name), kind)]
    if not lacking:
        return held()
    return broke(
        f"the metadata of {issuer.name} lacks {' and '.join(lacking)}",
        seen=", ".join(
            f"{name} {named(value[name])}" if name in value else f"no {name}" for name in lacking
        ),
        expected=f"{' and '.join(lacking)} (RFC 8414, section 2)",
        evidence=document,
    )


@probe("MCP-AUT-005", transports=HTTP_ONLY, impact="calls", outside=True)
async def issuers_name_themselves(peer: Peer) -> Observation:
    """An authorization server does not announce that its responses carry `iss`.

    Why: the client compares `iss` with the issuer it asked; that stops mix-up attacks.

    Fix: have the authorization server send `iss` in each authorization response and set
    `authorization_response_iss_parameter_supported` to true.
    """

    def judge(issuer: Issuer, document: Document, value: Mapping[str, Any]) -> Observation:
        return _is_true(issuer, document, value, _ISS_SUPPORTED)

    return await _each(peer, judge)


@probe("MCP-AUT-010", transports=HTTP_ONLY, impact="calls", outside=True)
async def issuers_support_pkce(peer: Peer) -> Observation:
    """An authorization server does not announce PKCE with S256.

    Why: without `code_challenge_methods_supported` a client must refuse to go on; S256 is
    the method that each of them uses.

    Fix: set `code_challenge_methods_supported` to an array with `S256` in each metadata
    document of the authorization server.
    """
    return await _each(peer, _supports_s256)


def _supports_s256(issuer: Issuer, document: Document, value: Mapping[str, Any]) -> Observation:
    grants = value.get("grant_types_supported")
    if isinstance(grants, list) and grants and "authorization_code" not in grants:
        return not_applicable(f"{issuer.name} gives no authorization codes")
    methods = value.get(_CHALLENGE_METHODS)
    if isinstance(methods, list) and S256 in methods:
        others = [d.url for d in issuer.usable if not _lists_s256(d)]
        note = f"{', '.join(others)}: no S256, unlike {document.url}" if others else None
        return held(note=note)
    present = _CHALLENGE_METHODS in value
    return broke(
        f"{issuer.name} announces no PKCE with S256",
        seen=f"{_CHALLENGE_METHODS} {_listed(methods)}" if present else f"no {_CHALLENGE_METHODS}",
        expected=f'an array with "{S256}" (OAuth 2.1, section 4.1.1)',
        evidence=document,
    )


def _lists_s256(document: Document) -> bool:
    methods = (document.value or {}).get(_CHALLENGE_METHODS)
    return isinstance(methods, list) and S256 in methods


def _listed(value: Any) -> str:
    """An array with its first members, anything else in a few words."""
    if not isinstance(value, list) or not value:
        return named(value)
    shown = ", ".join(named(member) for member in value[:5])
    return f"[{shown}{', …' if len(value) > 5 else ''}]"


@probe("MCP-AUT-011", transports=HTTP_ONLY, impact="calls", outside=True)
async def issuers_accept_client_documents(peer: Peer) -> Observation:
    """An authorization server does not support Client ID Metadata Documents.

    Why: clients and servers that never met have no other way to register than the
    deprecated Dynamic Client Registration.

    Fix: let the authorization server accept an https URL as client_id and set
    `client_id_metadata_document_supported` to true.
    """

    def judge(issuer: Issuer, document: Document, value: Mapping[str, Any]) -> Observation:
        registers = "registration_endpoint" in value
        extra = "only Dynamic Client Registration" if registers else "and no other registration"
        return _is_true(issuer, document, value, _CLIENT_DOCUMENTS, extra)

    return await _each(peer, judge)


async def _each(peer: Peer, judge: JudgeDocument) -> Observation:
    """Judge the document of each listed issuer that a client uses."""
    known = await issuers(peer)
    if known.outside is not None:
        return known.outside
    parts: list[Observation] = []
    for issuer in known.listed:
        document = issuer.chosen
        if document is not None:
            parts.append(judge(issuer, document, document.value or {}))
        elif issuer.undecided is not None:
            parts.append(inconclusive(issuer.undecided))
        else:
            why = f"{issuer.name} has no metadata that a client may use (MCP-AUT-004)"
            parts.append(not_applicable(why))
    return merged(parts)


def _is_true(
    issuer: Issuer, document: Document, value: Mapping[str, Any], member: str, extra: str = ""
) -> Observation:
    if value.get(member) is True:
        return held()
    seen = f"{member} {named(value[member])}" if member in value else f"no {member}"
    return broke(
        f"{issuer.name} does not announce {member}",
        seen=f"{seen}, {extra}" if extra else seen,
        expected=f"{member} true",
        evidence=document,
    )
