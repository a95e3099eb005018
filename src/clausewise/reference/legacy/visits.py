"""Which users have done what a page that they were sent to is for.

There is no real page: each visit is taken as made shortly after the user was sent.
"""

from __future__ import annotations

VISIT_S = 0.05
"""How long a visit takes."""

_MAX_KEPT = 1000


class Visits:
    """Visits made and not yet used, by user and key; each is good for one call."""

    def __init__(self) -> None:
        self._made: set[tuple[str, str]] = set()

    def make(self, user: str, key: str) -> None:
        """The user has made the visit `key`."""
        if len(self._made) < _MAX_KEPT:
            self._made.add((user, key))

    def use(self, user: str, key: str) -> bool:
        """Use up the visit `key` of the user; whether there was one."""
        made = (user, key) in self._made
        self._made.discard((user, key))
        return made
