"""Authorization servers and their metadata: where it is, and which of it must not be used.

Source: basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery,
basic/authorization/security-considerations; RFC 8414, OpenID Connect Discovery 1.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.reference.client.auth.courier import Courier, checked_url
from clausewise.reference.client.auth.errors import AuthorizationError, quoted
from clausewise.reference.client.auth.resource import read_words
from clausewise.wire.authorization.well_known import issuer_metadata_urls

_DEFAULT_METHODS = ("client_secret_basic",)  # RFC 8414, section 2


@dataclass(frozen=True, slots=True)
class AuthorizationServer:
    """An authorization server whose metadata names it as the one that was looked for.

    Attributes:
        issuer: its identifier.
        token_endpoint: where tokens are asked for.
        authorization_endpoint: where users agree; None if there is none.
        registration_endpoint: where clients register; None if they cannot.
        scopes: its `scopes_supported`.
        authentication_methods: how clients may authenticate at the token endpoint.
        challenge_methods: its `code_challenge_methods_supported`.
        names_itself: whether it promises `iss` in authorization responses (RFC 9207).
        takes_documents: whether it supports Client ID Metadata Documents.
    """

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    scopes: tuple[str, ...] = ()
    authentication_methods: tuple[str, ...] = _DEFAULT_METHODS
    challenge_methods: tuple[str, ...] = ()
    names_itself: bool = False
    takes_documents: bool = False


async def find_server(issuer: str, courier: Courier) -> AuthorizationServer:
    """The authorization server `issuer`, by the first of its documents that is its own.

    Raises:
        AuthorizationError: there is none, or what there is must not be used.
    """
    checked_url(issuer, "an authorization server")
    tried = []
    for url in issuer_metadata_urls(issuer):
        document = await courier.document(url)
        if document.value is None:
            tried.append(f"{url}: {document.fault}")
        elif document.value.get("issuer") != issuer:
            tried.append(f"{url}: the issuer is {quoted(document.value.get('issuer'))}")
        else:
            return _read(document.value, issuer)
    raise AuthorizationError(
        f"the authorization server {issuer} has no metadata of its own: {'; '.join(tried)}",
        "The issuer in the metadata must be the one that the MCP server lists, to the letter.",
    )


def _read(metadata: Mapping[str, Any], issuer: str) -> AuthorizationServer:
    methods = metadata.get("token_endpoint_auth_methods_supported")
    return AuthorizationServer(
        issuer,
        token_endpoint=checked_url(
            metadata.get("token_endpoint"), f"the token endpoint of {issuer}"
        ),
        authorization_endpoint=_optional_url(metadata, "authorization_endpoint", issuer),
        registration_endpoint=_optional_url(metadata, "registration_endpoint", issuer),
        scopes=read_words(metadata.get("scopes_supported")),
        authentication_methods=_DEFAULT_METHODS if methods is None else read_words(methods),
        challenge_methods=read_words(metadata.get("code_challenge_methods_supported")),
        names_itself=metadata.get("authorization_response_iss_parameter_supported") is True,
        takes_documents=metadata.get("client_id_metadata_document_supported") is True,
    )


def _optional_url(metadata: Mapping[str, Any], name: str, issuer: str) -> str | None:
    value = metadata.get(name)
    what = f"the {name.replace('_', ' ')} of {issuer}"
    return None if value is None else checked_url(value, what)
