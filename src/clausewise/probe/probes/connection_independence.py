"""The rule that a list does not depend on the connection (STL-008)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from clausewise.probe.acquaintance import Pages, ask_pages
from clausewise.probe.conversation.link import Link
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import Edits
from clausewise.probe.observation import Observation, broke, held, inconclusive, merged
from clausewise.probe.registration import Turn, probe

_REPEATS = 3
_EXPECTED = "the same tools for the same credentials, whatever the connection carried before"

Definitions = Mapping[str, str]
"""The tools of one reading: canonical definitions by name."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reading of the whole list."""

    pages: Pages

    @property
    def tools(self) -> Definitions:
        return {
            str(item.get("name")): json.dumps(item, sort_keys=True) for item in self.pages.items
        }

    @property
    def last(self) -> Reply:
        return self.pages.replies[-1]


class _Line:
    """A connection or process to read the list on: `link`, or the peer's own.

    Where the server has closed it, the peer's own is used, which is then opened anew.
    """

    def __init__(self, peer: Peer, link: Link | None = None) -> None:
        self._peer = peer
        self._link = link

    async def ask(
        self, method: str, params: Mapping[str, Any] | None = None, **edits: Unpack[Edits]
    ) -> Reply:
        if self._link is not None and self._link.alive:
            edits["link"] = self._link
        return await self._peer.request(method, params, **edits)

    async def read(self) -> _Reading:
        return _Reading(await ask_pages("tools/list", self.ask))

    async def other_traffic(self) -> None:
        """What must not change the list: discovery, another list, an unknown method."""
        await self.ask("server/discover")
        if self._peer.offers("prompts"):
            await self.ask("prompts/list")
        await self.ask("clausewise/unknown-method")


@probe("MCP-STL-008", needs=("tools",), turn=Turn.ALONE, beside=True)
async def tools_do_not_depend_on_the_connection(peer: Peer) -> Observation:
    """`tools/list` gives other tools on another connection, or after other requests.

    Why: requests of one client may travel over any connection; a tool that is there on
    one and not on another cannot be relied on.

    Fix: derive the set of tools from the credentials alone, not from the connection or
    from what was asked before.
    """
    first = _Line(peer)
    before = await first.read()
    async with peer.another() as other:
        second = _Line(peer, other)
        elsewhere = await second.read()
        await first.other_traffic()
        after = await first.read()
        for reading in (before, elsewhere, after):
            if reading.pages.blocked is not None:
                return inconclusive(reading.pages.blocked)
        between = held()
        if before.tools != elsewhere.tools:
            between = await _confirm_connections(first, second, before, elsewhere)
        effect = held()
        if before.tools != after.tools:
            effect = await _confirm_side_effect(peer, before, after)
    return merged([between, effect])


async def _confirm_connections(
    first: _Line, second: _Line, before: _Reading, elsewhere: _Reading
) -> Observation:
    """The set may change over time: only a difference that comes back in turns is a fault."""
    for _ in range(_REPEATS):
        again, again_elsewhere = await first.read(), await second.read()
        if again.tools == again_elsewhere.tools:
            return inconclusive("two connections gave different tools once, then the same")
    return broke(
        "two connections with the same credentials give different tools",
        seen=_difference(before.tools, elsewhere.tools),
        expected=_EXPECTED,
        evidence=elsewhere.last,
    )


async def _confirm_side_effect(peer: Peer, before: _Reading, after: _Reading) -> Observation:
    """The same requests on new connections must change the list each time."""
    for _ in range(_REPEATS):
        async with peer.fresh() as link:
            line = _Line(peer, link)
            fresh = await line.read()
            await line.other_traffic()
            changed = await line.read()
        if fresh.tools == changed.tools:
            return inconclusive("the tools changed once after other requests, then no more")
    return broke(
        "other requests on the connection change the tools",
        seen=_difference(before.tools, after.tools),
        expected=_EXPECTED,
        evidence=after.last,
    )


def _difference(one: Definitions, other: Definitions) -> str:
    gone, new = sorted(one.keys() - other.keys()), sorted(other.keys() - one.keys())
    if gone or new:
        return f"without {', '.join(gone) or 'none'}; with {', '.join(new) or 'none'} in addition"[
            :200
        ]
    changed = sorted(name for name in one if one[name] != other[name])
    return f"another definition of {', '.join(changed)}"[:200]
