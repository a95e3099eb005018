"""The wiring of the protected mode: every part that a defect may replace."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clausewise.reference.auth.claims import Claims
from clausewise.reference.auth.codes import CodeStore
from clausewise.reference.http_layer import HttpHead
from clausewise.reference.messages import JsonObject

if TYPE_CHECKING:
    from clausewise.reference.auth.tokens import TokenIssuer

ISSUER_PATH = "/issuer"
AUTHORIZE_PATH = ISSUER_PATH + "/authorize"
TOKEN_PATH = ISSUER_PATH + "/token"
KEYS_PATH = ISSUER_PATH + "/keys"
RESOURCE_METADATA_PATH = "/.well-known/oauth-protected-resource"


class DeniedError(Exception):
    """A request that is not let through.

    Attributes:
        status: 401, 403 or 400.
        scope: the scopes that the request needs.
        error: the OAuth error; None where no token was sent (RFC 6750, section 3.1).
        description: the error in words.
    """

    def __init__(
        self, status: int, scope: str, error: str | None = None, description: str = ""
    ) -> None:
        super().__init__(description or "a token is needed")
        self.status = status
        self.scope = scope
        self.error = error
        self.description = description


TokenCheck = Callable[[Claims, "AuthParts"], None]
"""Raises DeniedError if a token must not be accepted."""


@dataclass(frozen=True, slots=True)
class AuthParts:
    """What makes a server protected.

    Attributes:
        origin: scheme, host and port of the server.
        resource: the URL of the MCP endpoint, which is the resource identifier.
        issuer: the bundled authorization server's tokens.
        codes: its authorization codes.
        checks: what a token must satisfy whatever it is used for, in order.
        deny: the head of the answer to a denied request.
        resource_metadata: Protected Resource Metadata by path.
        server_metadata: authorization server metadata by path.
    """

    origin: str
    resource: str
    issuer: TokenIssuer
    codes: CodeStore
    checks: Mapping[str, TokenCheck]
    deny: Callable[[DeniedError, AuthParts], HttpHead]
    resource_metadata: Mapping[str, JsonObject]
    server_metadata: Mapping[str, JsonObject]
