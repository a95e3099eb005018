"""The challenges of a recorded response."""

from __future__ import annotations

from clausewise.trace.events import Event
from clausewise.wire.authorization.challenges import Challenge, read_challenges


def challenges_of(head: Event) -> tuple[Challenge, ...]:
    """The challenges of a response head, in order; what is no challenge is passed over."""
    return read_challenges(head.header_values("www-authenticate"))
