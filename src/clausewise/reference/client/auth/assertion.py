"""JWTs by which a client that has a key shows who it is.

Source: RFC 7523, section 3. Apart, since few clients have a key and the library takes its time.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

from clausewise.reference.client.auth.errors import AuthorizationError

LIFETIME_S = 300
_KEY_TYPES: Mapping[str, type[ECKey | RSAKey | OKPKey]] = {
    "ES": ECKey,
    "RS": RSAKey,
    "PS": RSAKey,
    "Ed": OKPKey,
}
"""The kind of key by the first letters of the algorithm."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A client and its private key: PEM text, and the JWS algorithm that fits it."""

    client_id: str
    key: str = field(repr=False)
    algorithm: str


def signed_assertion(signer: Signer, audience: str) -> str:
    """A JWT by which a client names itself to `audience` alone, for a short while.

    Raises:
        AuthorizationError: the key cannot sign.
    """
    now = int(time.time())
    claims = {
        "iss": signer.client_id,
        "sub": signer.client_id,
        "aud": audience,
        "jti": secrets.token_hex(16),
        "iat": now,
        "exp": now + LIFETIME_S,
    }
    header = {"alg": signer.algorithm, "typ": "JWT"}
    try:
        key = _KEY_TYPES[signer.algorithm[:2]].import_key(signer.key)
        return jwt.encode(header, claims, key, algorithms=[signer.algorithm])
    except (JoseError, KeyError, ValueError):
        raise AuthorizationError(
            f"the key of the client {signer.client_id} cannot sign with {signer.algorithm}",
            "Give a private key in PEM, and the algorithm that fits it.",
        ) from None
