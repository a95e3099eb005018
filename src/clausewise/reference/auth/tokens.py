"""Access tokens of the bundled authorization server: signed JWTs (RFC 9068)."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeyParameters, RSAKey

from clausewise.reference.auth.claims import ALGORITHM, LIFETIME_S, Claims, InvalidTokenError
from clausewise.reference.auth.scopes import Scopes
from clausewise.reference.messages import JsonObject

_KEY_BITS = 2048
_ACCESS_TOKEN_TYPE = "at+jwt"


class TokenIssuer:
    """Signs and reads tokens with a key of its own, made when the server starts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._key_id = secrets.token_hex(8)
        parameters: KeyParameters = {"kid": self._key_id, "use": "sig", "alg": ALGORITHM}
        self._key = RSAKey.generate_key(_KEY_BITS, parameters)

    @property
    def key_set(self) -> JsonObject:
        """The public key as a JWK Set."""
        return {"keys": [dict(self._key.as_dict(private=False))]}

    def access_token(
        self, audience: str, scopes: Scopes, *, subject: str = "user", client: str = "client"
    ) -> str:
        """A new access token for the resource `audience`."""
        claims = {
            "sub": subject,
            "client_id": client,
            "aud": [audience],
            "scope": str(scopes),
            "jti": secrets.token_hex(8),
        }
        return self._signed(_ACCESS_TOKEN_TYPE, claims)

    def id_token(self, client: str, subject: str, nonce: str | None) -> str:
        """A new ID token for the client (OpenID Connect Core, section 2)."""
        claims = {"sub": subject, "aud": client}
        return self._signed("JWT", claims | ({} if nonce is None else {"nonce": nonce}))

    def read(self, token: str) -> Claims:
        """The claims of an access token of this issuer, signature and issuer checked.

        Raises:
            InvalidTokenError: it is none.
        """
        try:
            decoded = jwt.decode(token, self._key, algorithms=[ALGORITHM])
        except (JoseError, ValueError) as error:
            raise InvalidTokenError("the token is malformed or has a wrong signature") from error
        if decoded.header.get("typ") != _ACCESS_TOKEN_TYPE:
            raise InvalidTokenError("the token is no access token")
        if decoded.claims.get("iss") != self.name:
            raise InvalidTokenError("the token is of another issuer")
        return _claims(decoded.claims)

    def _signed(self, kind: str, claims: Mapping[str, Any]) -> str:
        now = int(time.time())
        header = {"alg": ALGORITHM, "typ": kind, "kid": self._key_id}
        whole = {"iss": self.name, "iat": now, "exp": now + LIFETIME_S, **claims}
        return jwt.encode(header, whole, self._key, algorithms=[ALGORITHM])


def _claims(claims: Mapping[str, Any]) -> Claims:
    audience = claims["aud"]
    return Claims(
        subject=claims["sub"],
        client=claims["client_id"],
        audience=(audience,) if isinstance(audience, str) else tuple(audience),
        scopes=Scopes.of(claims["scope"]),
        expires=claims["exp"],
    )
