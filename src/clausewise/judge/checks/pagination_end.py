"""Pagination: the end of a list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.ordering import Sent, sent
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.wording import shown

MAX_UNUSED = 1000
"""Cursors remembered that the client has not sent back yet."""

_METHODS = frozenset(
    {"prompts/list", "resources/list", "resources/templates/list", "tasks/list", "tools/list"}
)
_CHANGES = (
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/tools/list_changed",
)


@dataclass(slots=True)
class _LastPage:
    """The last page of a list that the client walked through by cursors, if just now.

    Attributes:
        method: of the list.
        cursor: with which the last page was asked for.
        page: where the page was recorded; None when the client has sent a request since, or
            had a reason to ask again.
        unused: how many pages gave each cursor of a list and were not followed yet. Listings
            that run side by side may have the same cursors.
    """

    method: str | None = None
    cursor: Any = None
    page: Sent | None = None
    unused: dict[tuple[str, str], int] = field(default_factory=dict)

    def follow(self, message: Message) -> bool:
        """Whether a request goes on from a page that none has gone on from; counts it."""
        method, cursor = message.method, message.params.get("cursor")
        if method not in _METHODS or not isinstance(cursor, str):
            return False
        key = (method, cursor)
        count = self.unused.pop(key, 0)
        if count > 1:
            self.unused[key] = count - 1
        return count > 0

    def give(self, method: str, cursor: str) -> None:
        """Take in that a page of a list gave this cursor."""
        key = (method, cursor)
        self.unused[key] = self.unused.get(key, 0) + 1
        if len(self.unused) > MAX_UNUSED:
            forget_older_half(self.unused)


@check(
    "pagination.stops-at-the-end",
    on="client request",
    subject="request after the last page of a list",
)
def stops_at_the_end(message: Message, session: Session, out: Sheet) -> None:
    """A client asks on with the last cursor after a page without nextCursor.

    Why: that page was the last; the client gets it again and again.
    Fix: stop when a page has no nextCursor; begin without a cursor to read the list anew.
    """
    last = session.state(_LastPage)
    page, last.page = last.page, None
    goes_on = bool(last.unused) and last.follow(message)
    if page is None or not _begun_after(message, page):
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif goes_on:
        out.held(message)
    elif message.method == last.method and message.params.get("cursor") == last.cursor:
        out.broke(
            message,
            "the client asks on after the last page of a list",
            seen=f"cursor {shown(last.cursor)} again, after a page without nextCursor",
            expected="no further request for this list, or one without a cursor",
        )
    else:
        out.held(message)


@stops_at_the_end.on(*(f"server result:{method}" for method in sorted(_METHODS)))
def _note_page(message: Message, session: Session, out: Sheet) -> None:
    request = message.request
    if request is None or request.method is None or request.injected:
        return
    if not session.knows_requests:
        # A listing that began before the recording may have the same cursors.
        return
    last, following = session.state(_LastPage), message.result.get("nextCursor")
    if isinstance(following, str):
        last.give(request.method, following)
    cursor = request.params.get("cursor") if isinstance(request.params, dict) else None
    if not isinstance(cursor, str) or not cursor or request.cancellation is not None:
        # A client that cancels does not wait for the page, and asks again.
        return
    if message.result and following is None:
        last.method, last.cursor, last.page = request.method, cursor, sent(message)


@stops_at_the_end.on(*(f"server notification:{method}" for method in _CHANGES))
def _note_change(_message: Message, session: Session, out: Sheet) -> None:
    session.state(_LastPage).page = None


def _begun_after(message: Message, page: Sent) -> bool:
    """Whether the client had the page when it sent `message`: it was no retry of a lost answer."""
    exchange = message.exchange
    if exchange is None:
        return page.exchange is None
    head = exchange.head
    whole = page.exchange is not None and page.exchange.is_proven
    return whole and head is not None and head.seq > page.seq
