"""Defects of rule group AUT: how a protected server refuses, and what it publishes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from clausewise.reference.auth.admission import INSUFFICIENT_SCOPE, INVALID_TOKEN
from clausewise.reference.auth.parts import AuthParts, DeniedError
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import Rewire
from clausewise.reference.http_layer import HttpHead
from clausewise.reference.messages import JsonObject
from clausewise.reference.wiring import Wiring

ChangeDenied = Callable[[DeniedError], DeniedError]
_ELSEWHERE = "https://elsewhere.example/mcp"


def _auth(wiring: Wiring, **changes: Any) -> Wiring:
    return replace(wiring, auth=replace(wiring.protection, **changes))


def _on_resource(change: Callable[[JsonObject], JsonObject]) -> Rewire:
    """Change the Protected Resource Metadata."""
    return lambda wiring: _auth(
        wiring, resource_metadata=_changed(wiring.protection.resource_metadata, change)
    )


def _on_server(change: Callable[[JsonObject], JsonObject]) -> Rewire:
    """Change the metadata of the authorization server."""
    return lambda wiring: _auth(
        wiring, server_metadata=_changed(wiring.protection.server_metadata, change)
    )


def _changed(
    documents: Mapping[str, JsonObject], change: Callable[[JsonObject], JsonObject]
) -> Mapping[str, JsonObject]:
    return {path: change(document) for path, document in documents.items()}


def _without(member: str) -> Callable[[JsonObject], JsonObject]:
    return lambda document: {name: v for name, v in document.items() if name != member}


def _on_challenge(
    applies: Callable[[DeniedError], bool], change: Callable[[HttpHead], HttpHead]
) -> Rewire:
    """Change the answers to the denied requests that `applies` picks."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.protection.deny

        def deny(denied: DeniedError, parts: AuthParts) -> HttpHead:
            head = right(denied, parts)
            return change(head) if applies(denied) else head

        return _auth(wiring, deny=deny)

    return rewire


def _has_no_token(denied: DeniedError) -> bool:
    return denied.error is None


def _lacks_scope(denied: DeniedError) -> bool:
    return denied.error == INSUFFICIENT_SCOPE


def _has_no_valid_token(denied: DeniedError) -> bool:
    """Whether there is a Bearer token that is none of this issuer's."""
    return denied.error == INVALID_TOKEN and not _is_malformed(denied)


def _is_malformed(denied: DeniedError) -> bool:
    return denied.description.endswith("has no Bearer token")


def _challenging(text: str) -> Callable[[HttpHead], HttpHead]:
    """Replaces the challenge, keeps the status."""
    return lambda head: replace(head, headers=(("WWW-Authenticate", text),))


def _with_status(status: int) -> Callable[[HttpHead], HttpHead]:
    return lambda head: replace(head, status=status)


def _unpublished(wiring: Wiring) -> Wiring:
    wiring = _on_challenge(_has_no_token, _challenging('Bearer scope="mcp:read"'))(wiring)
    return _auth(wiring, resource_metadata={})


def _any_audience(wiring: Wiring) -> Wiring:
    checks = dict(wiring.protection.checks)
    del checks["for-this-resource"]
    return _auth(wiring, checks=checks)


def _misnamed_issuer(document: JsonObject) -> JsonObject:
    return {**document, "issuer": document["issuer"] + "/"}


def _defect(
    name: str, summary: str, apply: Rewire, *rules: str, clauses: tuple[str, ...] = ()
) -> Defect:
    """A defect of a protected server."""
    return Defect(name, summary, apply, rules, clauses, transports=HTTP_ONLY, protected=True)


DEFECTS = (
    _defect(
        "invalid-token-forbidden",
        "A token that is none is refused with 403.",
        _on_challenge(_has_no_valid_token, _with_status(403)),
        "CW-AUT-001",
        clauses=("AUTH-045", "AUTH-049"),
    ),
    _defect(
        "token-endpoint-in-the-clear",
        "The authorization server's metadata lists a token endpoint that has no TLS.",
        _on_server(lambda document: {**document, "token_endpoint": "http://as.example/token"}),
        "CW-AUT-002",
    ),
    _defect(
        "malformed-authorization-forbidden",
        "An Authorization header without a Bearer token is refused with 403.",
        _on_challenge(_is_malformed, _with_status(403)),
        "CW-AUT-003",
    ),
    _defect(
        "resource-metadata-unpublished",
        "A challenge names no metadata, and no well-known URL has it.",
        _unpublished,
        "MCP-AUT-001",
        "MCP-AUT-002",
    ),
    _defect(
        "missing-token-forbidden",
        "A request without a token is refused with 403.",
        _on_challenge(_has_no_token, _with_status(403)),
        "MCP-AUT-001",
    ),
    _defect(
        "missing-token-unchallenged",
        "The 401 for a request without a token has no challenge.",
        _on_challenge(_has_no_token, lambda head: replace(head, headers=())),
        "MCP-AUT-001",
    ),
    _defect(
        "resource-metadata-without-issuers",
        "Protected Resource Metadata lists no authorization server.",
        _on_resource(_without("authorization_servers")),
        "MCP-AUT-002",
    ),
    _defect(
        "resource-metadata-of-another",
        "Protected Resource Metadata is about a resource elsewhere.",
        _on_resource(lambda document: {**document, "resource": _ELSEWHERE}),
        "MCP-AUT-003",
    ),
    _defect(
        "issuer-metadata-misnamed",
        "The authorization server's metadata has a slash more in its issuer.",
        _on_server(_misnamed_issuer),
        "MCP-AUT-004",
    ),
    _defect(
        "issuer-parameter-unannounced",
        "The authorization server sends iss and does not announce it.",
        _on_server(_without("authorization_response_iss_parameter_supported")),
        "MCP-AUT-005",
    ),
    _defect(
        "challenge-without-scope",
        "The challenge for a missing token names no scope.",
        _on_challenge(
            _has_no_token,
            lambda head: _challenging(head.headers[0][1].partition(", scope=")[0])(head),
        ),
        "MCP-AUT-006",
        clauses=("AUTH-014",),
    ),
    _defect(
        "little-scope-unauthorized",
        "A token with too little scope is refused as an invalid one.",
        _on_challenge(
            _lacks_scope,
            lambda _: HttpHead(401, (("WWW-Authenticate", 'Bearer scope="mcp:write"'),)),
        ),
        "MCP-AUT-007",
    ),
    _defect(
        "any-audience-accepted",
        "A token for another resource is accepted.",
        _any_audience,
        "MCP-AUT-008",
    ),
    _defect(
        "offline-access-listed",
        "Protected Resource Metadata lists the scope offline_access.",
        _on_resource(
            lambda document: {
                **document,
                "scopes_supported": [*document["scopes_supported"], "offline_access"],
            }
        ),
        "MCP-AUT-009",
    ),
    _defect(
        "pkce-unannounced",
        "The authorization server does not announce its code challenge methods.",
        _on_server(_without("code_challenge_methods_supported")),
        "MCP-AUT-010",
    ),
    _defect(
        "client-documents-unsupported",
        "The authorization server announces no Client ID Metadata Documents.",
        _on_server(_without("client_id_metadata_document_supported")),
        "MCP-AUT-011",
    ),
)
