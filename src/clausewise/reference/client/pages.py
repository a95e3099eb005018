"""Follow a list from page to page.

Source: server/utilities/pagination of both revisions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clausewise.reference.client.call import Reply
from clausewise.reference.client.listing import MEMBERS
from clausewise.reference.messages import INVALID_PARAMS, JsonObject

if TYPE_CHECKING:
    from clausewise.reference.client.session import Session

MAX_PAGES = 1000


@dataclass(slots=True)
class Listing:
    """What a list gave: the entries of all pages in order, and the reply that ended it."""

    method: str
    entries: list[Any] = field(default_factory=list)
    pages: int = 0
    last: Reply = field(default_factory=Reply)
    fault: str = ""


async def list_all(session: Session, method: str, pages: int = MAX_PAGES, **how: Any) -> Listing:
    """The entries of at most `pages` pages; `how` are further members of each `Call`.

    A cursor that the server no longer takes makes the list begin anew, once.
    """
    listing = await _follow(session, method, pages, how)
    if listing.pages and listing.last.code == INVALID_PARAMS:
        listing = await _follow(session, method, pages, how)
    return listing


async def _follow(session: Session, method: str, pages: int, how: dict[str, Any]) -> Listing:
    listing = Listing(method)
    seen: set[str] = set()
    cursor: Any = None
    if method == "tools/list":
        session.tools.begin()
    while listing.pages < pages:
        params = None if cursor is None else {"cursor": cursor}
        listing.last = await session.request(method, params, **how)
        result = listing.last.result
        if result is None or listing.last.fault:
            break
        cursor = _take(session, listing, result)
        if cursor is None:
            break
        if not isinstance(cursor, str) or cursor in seen:
            listing.fault = f"the cursor {cursor!r} leads nowhere new"
            break
        seen.add(cursor)
    return listing


def _take(session: Session, listing: Listing, result: JsonObject) -> Any:
    """Add one page; gives the cursor of the next, or None."""
    listing.pages += 1
    if listing.method == "tools/list":
        listing.entries += session.tools.sound(result.get("tools"))
        return session.tools.take(result)
    entries = result.get(MEMBERS[listing.method])
    listing.entries += entries if isinstance(entries, list) else ()
    return result.get("nextCursor")
