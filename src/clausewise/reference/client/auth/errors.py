"""Why the client cannot, or must not, go on with authorization."""

from __future__ import annotations

from typing import Any

from clausewise.core.errors import BarredError

_SHOWN = 200


class AuthorizationError(BarredError):
    """The flow ended without a token: something refused, or must not be trusted."""


class OAuthError(AuthorizationError):
    """An authorization server answered with an OAuth error (RFC 6749, section 5.2).

    `error` is its code.
    """

    def __init__(self, message: str, hint: str = "", error: str = "") -> None:
        super().__init__(message, hint)
        self.error = error


def quoted(value: Any) -> str:
    """What a server sent, fit to be shown: escaped and clipped."""
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else repr(value)
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
