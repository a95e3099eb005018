"""What a user tells the client about itself before it authorizes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from clausewise.core.errors import UsageError
from clausewise.transport.addresses import names_loopback

OWN_BEHALF = "io.modelcontextprotocol/oauth-client-credentials"
"""The extension by which a client asks for tokens for itself."""

DEFAULT_REDIRECT_URI = "http://127.0.0.1:33418/callback"


class Grant(StrEnum):
    """On whose behalf the client asks for a token (the values are those of `grant_type`)."""

    AUTHORIZATION_CODE = "authorization_code"
    """A user's."""
    CLIENT_CREDENTIALS = "client_credentials"
    """Its own."""


@dataclass(frozen=True, slots=True)
class RegisteredClient:
    """A client that an authorization server knows beforehand.

    Attributes:
        id: its `client_id`.
        issuer: the authorization server that knows it; None for the first that is met, and no
            other after that.
        secret: its secret, or None.
        key: its private key as PEM text, which signs assertions, or None.
        algorithm: the JWS algorithm of the key.
    """

    id: str
    issuer: str | None = None
    secret: str | None = field(default=None, repr=False)
    key: str | None = field(default=None, repr=False)
    algorithm: str = "ES256"


@dataclass(frozen=True, slots=True)
class AuthOptions:
    """Who the client is, and how it asks for tokens.

    Attributes:
        registered: the clients that authorization servers know beforehand, at most one for each.
        metadata_url: the URL of its Client ID Metadata Document, which is then its `client_id`
            wherever that is supported; None when it has none.
        redirect_uri: where authorization servers send the user back to. Nothing listens there:
            the client follows the redirects itself and stops before the last.
        grant: on whose behalf it asks.

    Raises:
        UsageError: a URL that cannot serve its purpose.
    """

    registered: tuple[RegisteredClient, ...] = ()
    metadata_url: str | None = None
    redirect_uri: str = DEFAULT_REDIRECT_URI
    grant: Grant = Grant.AUTHORIZATION_CODE

    @property
    def extensions(self) -> tuple[str, ...]:
        """The extensions that it uses, which a modern client has to declare.

        Source: extensions/auth/oauth-client-credentials.
        """
        return (OWN_BEHALF,) if self.grant is Grant.CLIENT_CREDENTIALS else ()

    def __post_init__(self) -> None:
        if self.metadata_url is not None and not _may_be_client_id(self.metadata_url):
            raise UsageError(
                f"{self.metadata_url!r} cannot be a client_id",
                "Give an https URL with a path, without query and fragment, where the client's "
                "metadata document is.",
            )
        if not _may_be_redirected_to(self.redirect_uri):
            raise UsageError(
                f"{self.redirect_uri!r} cannot be a redirect URI",
                "Give an https URL, or an http URL on loopback, without query and fragment.",
            )


def _may_be_client_id(url: str) -> bool:
    """Source: draft-ietf-oauth-client-id-metadata-document-00, section 3."""
    parts = urlsplit(url)
    segments = parts.path.split("/")
    is_plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    has_path = parts.path not in ("", "/") and not {".", ".."} & set(segments)
    return parts.scheme == "https" and bool(parts.hostname) and is_plain and has_path


def _may_be_redirected_to(url: str) -> bool:
    """Source: basic/authorization/security-considerations#communication-security."""
    parts = urlsplit(url)
    if not parts.hostname or "?" in url or "#" in url:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and names_loopback(parts.hostname))
