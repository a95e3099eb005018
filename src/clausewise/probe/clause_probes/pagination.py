"""Pagination: cursors that are asked for again, and cursors that were never issued."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from clausewise.probe.acquaintance import LIST_MEMBERS
from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    left_to_the_recording,
    merged,
    not_applicable,
    not_observed,
)

_UNKNOWN_CURSOR = "clausewise-never-issued"


@clause_probe("pagination.stable-cursors")
async def stable_cursors(peer: LegacyPeer) -> Observation:
    """The same cursor gives another page the second time, or a bad one ends the session.

    Why: a client that asks for a page again, after a lost answer, loses or repeats entries.

    Fix: let the cursor name a place in the list, not a state of the server that is used up;
    answer a cursor that you cannot read with an error, and go on.
    """
    methods = tuple(_lists_of(peer))
    if not methods:
        return not_applicable("the server declares no list")
    async with peer.session() as session:
        seen = [await _asked_twice(session, method) for method in methods]
        if not any(one.occasions for one in seen):
            return merged(seen)
        await _ask_unknown(session, methods[0], "pagination.stable-cursors")
        alive = await session.request("ping")
    return merged([*seen, _survived(alive)])


def _lists_of(peer: LegacyPeer) -> Iterator[str]:
    return (method for method in LIST_MEMBERS if peer.offers(method.partition("/")[0]))


async def _asked_twice(session: LegacySession, method: str) -> Observation:
    """The second page twice; the first page before and after shows whether the list changed."""
    before = await session.request(method)
    if not before.succeeded:
        return inconclusive(before.blocked or f"{method} got {before.shown}")
    cursor = before.fields.get("nextCursor")
    if not isinstance(cursor, str):
        return not_observed("no list has a second page")
    once = await session.request(method, {"cursor": cursor})
    # Tagged, for a client at the end of a list has no reason to ask on.
    again = await session.attempt(method, {"cursor": cursor}, rule="pagination.stable-cursors")
    after = await session.request(method)
    if _page(before, method) != _page(after, method):
        return inconclusive(f"{method} changes from one request to the next")
    if not once.succeeded:
        return inconclusive(once.blocked or f"the second page of {method} got {once.shown}")
    if _page(once, method) == _page(again, method):
        return held()
    return broke(
        "the same cursor gives another page the second time",
        seen=f"{again.shown} of {method} with other entries",
        expected="the page that it gave the first time",
        evidence=again,
    )


def _page(reply: Reply, method: str) -> Any:
    return reply.fields.get(LIST_MEMBERS[method])


def _survived(alive: Reply) -> Observation:
    if alive.succeeded:
        return held()
    return broke(
        "after a cursor that was never issued the session is gone",
        seen=f"ping got {alive.shown}",
        expected="an answer to ping",
        evidence=alive,
    )


@clause_probe("pagination.unknown-cursor")
async def unknown_cursor(peer: LegacyPeer) -> Observation:
    """A cursor that the server never issued is not refused with -32602.

    Why: the client takes what it gets for the right page, and loses or repeats entries.

    Fix: answer with error -32602 (Invalid params) when a cursor cannot be one of yours. Lists
    of one page, for which there are no cursors, are not asked.
    """
    methods = tuple(_lists_of(peer))
    if not methods:
        return not_applicable("the server declares no list")
    asked = False
    async with peer.session() as session:
        for method in methods:
            first = await session.request(method)
            if isinstance(first.fields.get("nextCursor"), str):
                await _ask_unknown(session, method, "pagination.unknown-cursor")
                asked = True
    return left_to_the_recording() if asked else not_observed("no list has a second page")


async def _ask_unknown(session: LegacySession, method: str, rule: str) -> Reply:
    return await session.attempt(method, {"cursor": _UNKNOWN_CURSOR}, rule=rule)
