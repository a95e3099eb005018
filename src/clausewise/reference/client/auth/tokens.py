"""Access tokens: asked for at the token endpoint, by a code, a refresh token, or the client itself.

Source: basic/authorization#access-token-usage, #refresh-tokens; OAuth 2.1
(draft-ietf-oauth-v2-1-13) sections 3.2, 4.1.3, 4.2, 4.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from clausewise.reference.client.auth.clients import Client, authenticate
from clausewise.reference.client.auth.code_request import CodeRequest
from clausewise.reference.client.auth.courier import Courier, Reply
from clausewise.reference.client.auth.errors import AuthorizationError, quoted
from clausewise.reference.client.auth.options import Grant
from clausewise.reference.client.auth.servers import AuthorizationServer

_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750, section 2.1
_LONGEST_LIFETIME_S = 10 * 365 * 86_400


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a token endpoint has given.

    Attributes:
        access: the access token.
        refresh: the refresh token, or None.
        lifetime_s: the seconds that it is good for, or None.
    """

    access: str = field(repr=False)
    refresh: str | None = field(default=None, repr=False)
    lifetime_s: float | None = None


@dataclass(frozen=True, slots=True)
class TokenDesk:
    """Asks one authorization server for tokens, as one client, for one resource."""

    server: AuthorizationServer
    client: Client
    resource: str
    courier: Courier

    async def redeem(self, request: CodeRequest, code: str) -> Tokens:
        """The tokens for an authorization code.

        Raises:
            AuthorizationError: there are none.
        """
        fields = {
            "grant_type": Grant.AUTHORIZATION_CODE.value,
            "code": code,
            "redirect_uri": request.redirect_uri,
            "code_verifier": request.verifier,
        }
        return await self._ask(fields)

    async def refresh(self, tokens: Tokens) -> Tokens:
        """Fresh tokens of the same scopes; the refresh token stays unless another is given.

        Raises:
            AuthorizationError: there are none.
        """
        assert tokens.refresh is not None
        fields = {"grant_type": "refresh_token", "refresh_token": tokens.refresh}
        fresh = await self._ask(fields)
        return replace(fresh, refresh=fresh.refresh or tokens.refresh)

    async def own(self, scopes: tuple[str, ...]) -> Tokens:
        """A token for the client itself.

        Raises:
            AuthorizationError: there is none.
        """
        fields = {"grant_type": Grant.CLIENT_CREDENTIALS.value}
        return await self._ask(fields | ({"scope": " ".join(scopes)} if scopes else {}))

    async def _ask(self, fields: Mapping[str, str]) -> Tokens:
        proof = authenticate(self.client, self.server)
        reply = await self.courier.post_form(
            self.server.token_endpoint,
            {**fields, "resource": self.resource, **proof.fields},
            proof.headers,
        )
        if reply.status != 200:
            raise _refused(reply, self.server.issuer)
        return _read(reply.value, self.server.issuer)


def _refused(reply: Reply, issuer: str) -> AuthorizationError:
    error, text = reply.value.get("error"), reply.value.get("error_description", "")
    if not isinstance(error, str):
        return AuthorizationError(f"{issuer} gives no token: HTTP {reply.status}")
    return AuthorizationError(f"{issuer} gives no token: {quoted(error)}, {quoted(text)}")


def _read(answer: Mapping[str, Any], issuer: str) -> Tokens:
    access, kind = answer.get("access_token"), answer.get("token_type")
    if not isinstance(access, str) or _TOKEN.fullmatch(access) is None:
        raise AuthorizationError(f"{issuer} gives no token that a header can carry")
    if not isinstance(kind, str) or kind.lower() != "bearer":
        raise AuthorizationError(f"{issuer} gives a token of type {quoted(kind)}, not Bearer")
    refresh = answer.get("refresh_token")
    return Tokens(
        access,
        refresh if isinstance(refresh, str) and refresh else None,
        _lifetime(answer.get("expires_in")),
    )


def _lifetime(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= _LONGEST_LIFETIME_S else None
