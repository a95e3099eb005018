"""Elicitations: their modes, which of them a client supports, and the error that lists them."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Direction, Party
from clausewise.judge.session.handshake import Handshake
from clausewise.judge.session.messages import Message
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.wording import ABSENT
from clausewise.wire.codes import ErrorCode

ELICIT = "elicitation/create"
FORM = "form"
URL = "url"


def mode_of(params: Any) -> Any:
    """The mode of an elicitation request; "form" where the member is left out."""
    return params.get("mode", FORM) if isinstance(params, dict) else FORM


def supported_modes(handshake: Handshake) -> frozenset[str] | None:
    """The modes that the client declared; empty without elicitation, None if unknown.

    A declaration that names neither mode means form mode.
    """
    declared = handshake.declares(Party.CLIENT, "elicitation")
    if declared is None:
        return None
    if not declared:
        return frozenset()
    modes = (m for m in (FORM, URL) if handshake.declares(Party.CLIENT, f"elicitation.{m}"))
    return frozenset(modes) or frozenset({FORM})


def is_url_required(message: Message) -> bool:
    """Whether `message` is the server's URLElicitationRequiredError."""
    return (
        message.direction is Direction.SERVER_TO_CLIENT
        and error_code(message) == ErrorCode.URL_ELICITATION_REQUIRED
    )


def listed_elicitations(message: Message) -> Any:
    """`error.data.elicitations` of an error response, ABSENT if it has none."""
    error = message.member("error")
    data = error.get("data") if isinstance(error, dict) else None
    return data.get("elicitations", ABSENT) if isinstance(data, dict) else ABSENT
