"""Look a server up in an MCP registry, and find the server.json of a run.

Source: docs/registry/registry-aggregators.
"""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import Observation, broke, inconclusive, not_observed
from clausewise.probe.registry_entry.server_json import (
    NoServerJsonError,
    ServerJson,
    read_server_json,
)
from clausewise.probe.supplied import HOW_TO_GIVE, Supply
from clausewise.trace.tape import Tape
from clausewise.transport.addresses import AddressGuard, Neighbourhood
from clausewise.transport.documents import Document, Fetcher
from clausewise.transport.targets import HttpTarget


@dataclass(frozen=True, slots=True)
class Published:
    """The server.json of a run, or what a rule about it is where there is none.

    `listing` is the registry's answer where it was looked up there.
    """

    entry: ServerJson | None = None
    outside: Observation | None = None
    listing: Document | None = None


def public_fetcher(peer: Peer) -> Fetcher:
    """Fetches from the registry, which the user chose, and from public addresses.

    What is said there is no part of the conversation with the server: it is not recorded.
    """
    home = HttpTarget(peer.supplied.registry_entry.registry)
    guard = AddressGuard(frozenset({Neighbourhood.PUBLIC}))
    return Fetcher(home, guard, Tape(keep=False), peer.limits)


async def published(peer: Peer) -> Published:
    """The server.json that the user gave or named; found once per run."""
    return await peer.once("server.json", lambda: _find(peer))


async def listing(peer: Peer, name: str) -> Document:
    """What the registry says of the latest version of `name`; asked once per run."""
    base = peer.supplied.registry_entry.registry.rstrip("/")
    url = f"{base}/v0.1/servers/{quote(name, safe='')}/versions/latest"
    return await peer.once(f"GET {url}", lambda: public_fetcher(peer).get(url))


async def _find(peer: Peer) -> Published:
    given = peer.supplied.registry_entry
    if given.text is not None:
        return _read(given.text, given.source)
    if given.name is None:
        return Published(outside=not_observed(HOW_TO_GIVE[Supply.SERVER_JSON]))
    document = await listing(peer, given.name)
    if document.value is not None and document.answer is not None:
        found = _read(document.answer.body, document.url)
        return Published(found.entry, found.outside, document)
    if document.is_absent:
        return Published(outside=not_observed(f"the registry lists no server {given.name}"))
    return Published(outside=inconclusive(f"{document.url}: {document.fault}"))


def _read(text: bytes, source: str) -> Published:
    try:
        return Published(read_server_json(text, source))
    except NoServerJsonError as error:
        return Published(
            outside=broke(
                "the server.json cannot be read",
                seen=f"{source}: {error}",
                expected="a JSON object in UTF-8",
            )
        )
