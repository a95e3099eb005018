"""Pagination: the end of a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.ordering import Sent, sent
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.wording import shown

_METHODS = (
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "tasks/list",
    "tools/list",
)


@dataclass(slots=True)
class _LastPage:
    """The last page of a list that the client walked through by cursors, if just now.

    Attributes:
        method: of the list.
        cursor: with which the last page was asked for.
        page: where the page was recorded; None when the client has sent a request since.
    """

    method: str | None = None
    cursor: Any = None
    page: Sent | None = None


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
    if page is None or not _begun_after(message, page):
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif message.method == last.method and message.params.get("cursor") == last.cursor:
        out.broke(
            message,
            "the client asks on after the last page of a list",
            seen=f"cursor {shown(last.cursor)} again, after a page without nextCursor",
            expected="no further request for this list, or one without a cursor",
        )
    else:
        out.held(message)


@stops_at_the_end.on(*(f"server result:{method}" for method in _METHODS))
def _note_last_page(message: Message, session: Session, out: Sheet) -> None:
    request = message.request
    params = request.params if request is not None else None
    cursor = params.get("cursor") if isinstance(params, dict) else None
    if request is None or not isinstance(cursor, str) or not cursor or request.injected:
        return
    if message.result and message.result.get("nextCursor") is None:
        last = session.state(_LastPage)
        last.method, last.cursor, last.page = request.method, cursor, sent(message)


def _begun_after(message: Message, page: Sent) -> bool:
    """Whether the client had the page when it sent `message`: it was no retry of a lost answer."""
    exchange = message.exchange
    if exchange is None:
        return page.exchange is None
    head = exchange.head
    whole = page.exchange is not None and page.exchange.is_proven
    return whole and head is not None and head.seq > page.seq
