"""What the protected server publishes about itself, and which scopes to ask for.

Source: basic/authorization/authorization-server-discovery, basic/authorization
#scope-selection-strategy; RFC 9728.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.reference.client.auth.courier import Courier
from clausewise.reference.client.auth.errors import AuthorizationError, quoted
from clausewise.transport.documents import Document
from clausewise.wire.authorization.canonical_uri import canonical
from clausewise.wire.authorization.challenges import Challenge, is_scope
from clausewise.wire.authorization.well_known import resource_metadata_urls

MAX_ISSUERS = 8
"""How many authorization servers of one list are looked at."""


@dataclass(frozen=True, slots=True)
class ProtectedResource:
    """The Protected Resource Metadata of an MCP server.

    Attributes:
        identifier: its `resource`, as published.
        issuers: its authorization servers, in order.
        scopes: its `scopes_supported`; empty when there are none.
    """

    identifier: str
    issuers: tuple[str, ...]
    scopes: tuple[str, ...]

    def scopes_for(self, challenge: Challenge | None) -> tuple[str, ...]:
        """What to ask for: what the challenge names, else all that the metadata lists.

        Source: basic/authorization#scope-selection-strategy.
        """
        named = challenge.scopes if challenge is not None else ()
        return named or self.scopes


async def find_resource(
    endpoint: str, challenge: Challenge | None, courier: Courier
) -> ProtectedResource:
    """The metadata of the server at `endpoint`: where the challenge says, else well-known.

    Raises:
        AuthorizationError: there is none, or it is not this server's.
    """
    named = challenge.parameters.get("resource_metadata") if challenge is not None else None
    urls = resource_metadata_urls(endpoint) if named is None else (named,)
    document = await _first(urls, courier)
    return _read(document.value or {}, document.url, endpoint)


async def _first(urls: tuple[str, ...], courier: Courier) -> Document:
    tried = []
    for url in urls:
        document = await courier.document(url)
        if document.value is not None:
            return document
        tried.append(f"{quoted(url)}: {document.fault}")
    raise AuthorizationError(
        f"the server wants authorization and publishes no metadata: {'; '.join(tried)}",
        "Ask its operator for Protected Resource Metadata (RFC 9728).",
    )


def _read(metadata: Mapping[str, Any], url: str, endpoint: str) -> ProtectedResource:
    identifier = metadata.get("resource")
    if not isinstance(identifier, str) or not _is_of(identifier, endpoint):
        raise AuthorizationError(
            f"the metadata at {quoted(url)} is of {quoted(identifier)}, not of {endpoint}",
            "A token for another server must not be asked for: have the metadata mended.",
        )
    listed = metadata.get("authorization_servers")
    issuers = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    if not issuers:
        raise AuthorizationError(f"the metadata at {quoted(url)} lists no authorization server")
    scopes = metadata.get("scopes_supported")
    return ProtectedResource(
        identifier,
        tuple(dict.fromkeys(issuers))[:MAX_ISSUERS],
        read_words(scopes),
    )


def read_words(value: Any) -> tuple[str, ...]:
    """The words in a JSON array (scopes and other such names), each once."""
    words = value if isinstance(value, list) else []
    return tuple(dict.fromkeys(word for word in words if isinstance(word, str) and is_scope(word)))


def _is_of(identifier: str, endpoint: str) -> bool:
    """Whether a resource identifier is the endpoint's own, or of all below it on its origin.

    RFC 9728, section 3.3 wants the identifier that the well-known URL was made of; at the root
    that is the whole origin.
    """
    if "#" in identifier:
        return False
    try:
        given, own = canonical(identifier), canonical(endpoint)
    except ValueError:
        return False
    return given.without_slash == own.without_slash or given.is_parent_of(own)
