"""Requests of several methods, known to be served, that a fault may be put into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import Edits
from clausewise.probe.subjects.named_requests import served_call, served_reads

_LISTS = (("tools", "tools/list"), ("prompts", "prompts/list"), ("resources", "resources/list"))


@dataclass(frozen=True, slots=True)
class Carrier:
    """A request that the server answers with a result, as long as nothing is wrong with it."""

    method: str
    params: Mapping[str, Any] | None = None

    async def send(self, peer: Peer, **edits: Unpack[Edits]) -> Reply:
        """Send it with `edits`."""
        return await peer.request(self.method, self.params, **edits)


DISCOVERY = Carrier("server/discover")


async def carriers(peer: Peer) -> tuple[Carrier, ...]:
    """Discovery, then a request of each list, read and call that is known to be served.

    A server may check some methods and forget others. That discovery is served is for the
    caller to find out.
    """
    lists = [method for name, method in _LISTS if peer.offers(name)]
    found = [DISCOVERY]
    found += [Carrier(one) for one in lists if (await peer.pages(one)).replies[0].succeeded]
    found += [Carrier(read.method, read.params) for read in await served_reads(peer)]
    call = await served_call(peer)
    if call is not None:
        found.append(Carrier(call.method, call.params))
    return tuple(found)
