"""What an access token of the bundled authorization server says."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.reference.auth.scopes import Scopes

ALGORITHM = "RS256"
LIFETIME_S = 3600


class InvalidTokenError(Exception):
    """A text that is no access token of this issuer; the message says why."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Whom an access token is about, what for, where, and how long."""

    subject: str
    client: str
    audience: tuple[str, ...]
    scopes: Scopes
    expires: float

    @property
    def principal(self) -> str:
        """The user and the client it acts through, as one name."""
        return f"{self.subject} {self.client}"
