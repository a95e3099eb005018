"""What is on every page of a list, each entry with the answer that it came in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.probe.acquaintance import LIST_MEMBERS, Pages
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, inconclusive, merged, not_applicable
from clausewise.probe.wording import named


@dataclass(frozen=True, slots=True)
class Listed:
    """An entry of a list as the server gave it, and the answer that it came in."""

    definition: Mapping[str, Any]
    reply: Reply

    @property
    def shown(self) -> str:
        """The name, for findings."""
        return named(self.definition.get("name"))


def entries(pages: Pages) -> Iterator[Listed]:
    """The entries that are objects, page by page."""
    for reply in pages.replies:
        found = reply.fields.get(LIST_MEMBERS[pages.method])
        for entry in found if isinstance(found, list) else ():
            if isinstance(entry, dict):
                yield Listed(entry, reply)


async def judge_tools(
    peer: Peer, judge: Callable[[Listed], Observation | None], nothing: str
) -> Observation:
    """Judge every listed tool.

    Args:
        peer: the server.
        judge: gives None for a tool that is no occasion of the rule.
        nothing: the reason where no tool is.
    """
    pages = await peer.pages("tools/list")
    parts = [seen for seen in map(judge, entries(pages)) if seen is not None]
    if pages.blocked is not None:
        parts.append(inconclusive(pages.blocked))
    return merged(parts) if parts else not_applicable(nothing)
