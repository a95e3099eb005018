"""What one party of a session sent: its requests, open and answered, and the ids it used."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Request
from clausewise.judge.session.used_ids import UsedIds
from clausewise.wire.jsonrpc import IdKey, MessageClass

MAX_OPEN_REQUESTS = 10_000
"""Unanswered requests remembered a side; older ones are forgotten."""

MAX_HIDDEN = 64
"""Unanswered requests with one and the same id among which the answered one is looked for."""


@dataclass(slots=True, eq=False)
class Side:
    """What one party sent in a session.

    Attributes:
        open: its unanswered requests by id.
        answered: its requests that were answered lately, by id.
        answered_to: seq of the latest request of the other side that it answered, so that
            on an ordered channel it has read whatever came before; -1 if there is none.
        used: the ids of its requests.
        forgetful: whether open requests had to be forgotten.
        unreadable: how many inputs it sent whose id nobody could read, not yet answered.
        last: class of its last message; None before there is one or after a raw input.
        has_injected: whether a test driver sent a deliberate fault in its name.
        was_odd: whether its last input was raw or a message with a faulty envelope.
    """

    open: dict[IdKey, Request] = field(default_factory=dict)
    answered: dict[IdKey, Request] = field(default_factory=dict)
    answered_to: int = -1
    used: UsedIds = field(default_factory=UsedIds)
    forgetful: bool = False
    unreadable: int = 0
    last: MessageClass | None = None
    has_injected: bool = False
    was_odd: bool = False

    def issue(self, request: Request, *, counts: bool) -> None:
        """Open `request`; with `counts` its id is taken from now on."""
        key = request.key
        if counts:
            request.earlier = self.used.take(key, request.seq)
        opened = self.open
        if key in opened:
            self._hide(opened.pop(key), request)
        opened[key] = request
        if len(opened) > MAX_OPEN_REQUESTS:
            forget_older_half(opened)
            self.forgetful = True

    def _hide(self, older: Request, newer: Request) -> None:
        """Keep the requests that `newer` hides, but not without end."""
        newer.older, newer.hides = older, older.hides + 1
        if newer.hides > MAX_HIDDEN:
            older.older, newer.hides = None, 1
            self.forgetful = True

    def settle(self, key: IdKey, asked: Request | None = None) -> Request | None:
        """Take an open request with this id off the table: `asked`, else the most recent."""
        latest = self.open.pop(key, None)
        if latest is None or latest.older is None:
            return latest
        newer = latest
        for _ in range(MAX_HIDDEN):
            older = newer.older
            if older is None or asked is latest:
                break
            if older is asked:
                newer.older = older.older
                self.open[key] = latest
                return older
            newer = older
        self.open[key] = latest.older
        return latest

    def withdraw(self, request: Request) -> bool:
        """Undo `issue` if the request is still unanswered; says whether it was."""
        if self.open.get(request.key) is not request:
            return False
        self.settle(request.key)
        self.used.release(request.key, request.seq)
        return True

    def reopen(self, request: Request) -> None:
        """Undo that `request` was answered, unless its id is open again."""
        if request.key not in self.open:
            request.answered, request.answered_on = None, None
            self.open[request.key] = request
