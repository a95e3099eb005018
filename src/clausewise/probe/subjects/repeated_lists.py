"""Whether a list depends on the connection, or on what was asked on it before."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from clausewise.probe.acquaintance import LIST_MEMBERS, Pages, ask_pages
from clausewise.probe.conversation.link import Link
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import Edits
from clausewise.probe.observation import Observation, broke, held, inconclusive, merged

_REPEATS = 3
_LISTS = (("tools", "tools/list"), ("prompts", "prompts/list"), ("resources", "resources/list"))

Definitions = Mapping[str, str]
"""The entries of one reading: canonical definitions by name or URI."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reading of the whole list."""

    pages: Pages

    @property
    def entries(self) -> Definitions:
        return {
            str(item.get("uri", item.get("name"))): json.dumps(item, sort_keys=True)
            for item in self.pages.items
        }

    @property
    def last(self) -> Reply:
        return self.pages.replies[-1]


class _Line:
    """A connection or process to read the list on: `link`, or the peer's own.

    Where the server has closed it, the peer's own is used, which is then opened anew.
    """

    def __init__(self, peer: Peer, method: str, link: Link | None = None) -> None:
        self.peer = peer
        self.method = method
        self._link = link

    @property
    def what(self) -> str:
        """What the list holds: `tools` of `tools/list`."""
        return LIST_MEMBERS[self.method]

    @property
    def expected(self) -> str:
        return f"the same {self.what} for the same credentials, whatever the connection carried"

    async def ask(
        self, method: str, params: Mapping[str, Any] | None = None, **edits: Unpack[Edits]
    ) -> Reply:
        if self._link is not None and self._link.alive:
            edits["link"] = self._link
        return await self.peer.request(method, params, **edits)

    async def read(self) -> _Reading:
        return _Reading(await ask_pages(self.method, self.ask))

    async def other_traffic(self) -> None:
        """What must not change the list: discovery, another list, an unknown method."""
        await self.ask("server/discover")
        offered = (method for name, method in _LISTS if self.peer.offers(name))
        other = next((method for method in offered if method != self.method), None)
        if other is not None:
            await self.ask(other)
        await self.ask("clausewise/unknown-method")


async def does_not_vary(peer: Peer, method: str) -> Observation:
    """Read a list on two connections and after other requests: it must be the same.

    Args:
        peer: the server; no other probe may be at work.
        method: `tools/list` or another list method.
    """
    first = _Line(peer, method)
    before = await first.read()
    async with peer.another() as other:
        second = _Line(peer, method, other)
        elsewhere = await second.read()
        await first.other_traffic()
        after = await first.read()
        for reading in (before, elsewhere, after):
            if reading.pages.blocked is not None:
                return inconclusive(reading.pages.blocked)
        between = held()
        if before.entries != elsewhere.entries:
            between = await _confirm_connections(first, second, before, elsewhere)
        effect = held()
        if before.entries != after.entries:
            effect = await _confirm_side_effect(first, before, after)
    return merged([between, effect])


async def _confirm_connections(
    first: _Line, second: _Line, before: _Reading, elsewhere: _Reading
) -> Observation:
    """The set may change over time: only a lasting difference, come back in turns, is a fault."""
    lasting = None
    for _ in range(_REPEATS):
        again, again_elsewhere = await first.read(), await second.read()
        if again.entries == again_elsewhere.entries:
            return inconclusive(f"two connections gave different {first.what} once, then the same")
        pair = (again.entries, again_elsewhere.entries)
        if lasting not in (None, pair):
            return inconclusive(_unsteady(first))
        lasting = pair
    return broke(
        f"two connections with the same credentials give different {first.what}",
        seen=_difference(before.entries, elsewhere.entries),
        expected=first.expected,
        evidence=elsewhere.last,
    )


async def _confirm_side_effect(first: _Line, before: _Reading, after: _Reading) -> Observation:
    """The same requests on new connections must change the list each time, and they alone."""
    for _ in range(_REPEATS):
        async with first.peer.fresh() as link:
            line = _Line(first.peer, first.method, link)
            fresh, still = await line.read(), await line.read()
            await line.other_traffic()
            changed = await line.read()
        if fresh.entries != still.entries:
            return inconclusive(_unsteady(first))
        if fresh.entries == changed.entries:
            return inconclusive(f"the {first.what} changed once after other requests, then no more")
    return broke(
        f"other requests on the connection change the {first.what}",
        seen=_difference(before.entries, after.entries),
        expected=first.expected,
        evidence=after.last,
    )


def _unsteady(line: _Line) -> str:
    return f"the {line.what} change from one listing to the next by themselves"


def _difference(one: Definitions, other: Definitions) -> str:
    gone, new = sorted(one.keys() - other.keys()), sorted(other.keys() - one.keys())
    if gone or new:
        return f"without {', '.join(gone) or 'none'}; with {', '.join(new) or 'none'} in addition"[
            :200
        ]
    changed = sorted(name for name in one if one[name] != other[name])
    return f"another definition of {', '.join(changed)}"[:200]
