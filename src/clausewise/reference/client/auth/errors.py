"""Why the client cannot, or must not, go on with authorization."""

from __future__ import annotations

from typing import Any

from clausewise.core.errors import BarredError

_SHOWN = 200


class AuthorizationError(BarredError):
    """The flow ended without a token: something refused, or must not be trusted."""


def quoted(value: Any) -> str:
    """What a server sent, fit to be shown: escaped and clipped."""
    if value is None:
        return "nothing"
    text = value if isinstance(value, str) else repr(value)
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
