"""Authorization codes: each redeemed once, within a minute, by who can prove the challenge."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from dataclasses import dataclass

from clausewise.reference.auth.scopes import Scopes

CODE_LIFETIME_S = 60.0
MAX_CODES = 1000


@dataclass(frozen=True, slots=True)
class Grant:
    """What the user has agreed to.

    Attributes:
        client: the client's id.
        redirect_uri: where the code was sent.
        challenge: the S256 code challenge (RFC 7636).
        resource: the resource that the token will be for (RFC 8707).
        scopes: what it will allow.
        nonce: for the ID token, or None.
    """

    client: str
    redirect_uri: str
    challenge: str
    resource: str
    scopes: Scopes
    nonce: str | None = None

    def is_proven_by(self, verifier: str) -> bool:
        """Whether `verifier` is the one that the challenge was made of."""
        digest = hashlib.sha256(verifier.encode("ascii", "replace")).digest()
        made = base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii")
        return secrets.compare_digest(made.encode(), self.challenge.encode())


class CodeStore:
    """The codes that were given out and not yet redeemed; the oldest makes room for a new one."""

    def __init__(self) -> None:
        self._grants: dict[str, tuple[float, Grant]] = {}

    def issue(self, grant: Grant) -> str:
        """A new code for `grant`."""
        while len(self._grants) >= MAX_CODES:
            del self._grants[next(iter(self._grants))]
        code = secrets.token_urlsafe(32)
        self._grants[code] = (time.monotonic() + CODE_LIFETIME_S, grant)
        return code

    def redeem(self, code: str) -> Grant | None:
        """The grant of `code`, which is then used up; None when it is unknown or too old."""
        expires, grant = self._grants.pop(code, (0.0, None))
        return grant if time.monotonic() < expires else None
