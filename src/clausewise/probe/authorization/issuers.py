"""The metadata of the authorization servers that a server lists: fetched once per run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio

from clausewise.probe.authorization.protection import protection, web_address
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import Observation, inconclusive, not_applicable
from clausewise.transport.documents import Document
from clausewise.wire.authorization.well_known import issuer_metadata_urls

MAX_ISSUERS = 8
"""How many authorization servers of one list are asked; a longer list gets a remark."""


@dataclass(frozen=True, slots=True)
class Issuer:
    """One listed authorization server and what its metadata URLs gave, in the order of clients."""

    name: str
    documents: tuple[Document, ...]

    @property
    def chosen(self) -> Document | None:
        """The document that a client uses: the first whose `issuer` is identical."""
        return next(iter(self.usable), None)

    @property
    def usable(self) -> tuple[Document, ...]:
        """The documents whose `issuer` is identical to the listed one."""
        return tuple(
            document
            for document in self.documents
            if document.value is not None and document.value.get("issuer") == self.name
        )

    @property
    def undecided(self) -> str | None:
        """Why nobody can say that it has no metadata; None when one can, or when it has."""
        if self.chosen is not None:
            return None
        return next((u for document in self.documents if (u := document.undecided)), None)


@dataclass(frozen=True, slots=True)
class Issuers:
    """The authorization servers of the metadata document.

    `outside` is what a rule about them is where there are none to judge, else None.
    """

    listed: tuple[Issuer, ...] = ()
    total: int = 0
    outside: Observation | None = None

    @property
    def note(self) -> str | None:
        if self.total <= MAX_ISSUERS:
            return None
        return f"{self.total} authorization servers are listed; {MAX_ISSUERS} were asked"


async def issuers(peer: Peer) -> Issuers:
    """The authorization servers that the server lists, with their metadata; once per run."""
    return await peer.once("issuers", lambda: _find(peer))


async def _find(peer: Peer) -> Issuers:
    seen = await protection(peer)
    if seen.outside is not None:
        return Issuers(outside=seen.outside)
    if seen.metadata is None:
        if seen.undecided is not None:
            return Issuers(outside=inconclusive(seen.undecided))
        return Issuers(outside=not_applicable("there is no Protected Resource Metadata document"))
    names = issuer_names(seen.metadata.document.value or {})
    if not names:
        return Issuers(outside=not_applicable("the metadata lists no authorization server"))
    asked = names[:MAX_ISSUERS]
    found: dict[str, tuple[Document, ...]] = {}

    async def ask(name: str) -> None:
        found[name] = tuple([await peer.document(url) for url in issuer_metadata_urls(name)])

    async with anyio.create_task_group() as group:
        for name in asked:
            group.start_soon(ask, name)
    return Issuers(tuple(Issuer(name, found[name]) for name in asked), len(names))


def issuer_names(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The listed issuers that can be asked, each once; what else stands there is AUT-002's."""
    listed = metadata.get("authorization_servers")
    if not isinstance(listed, list):
        return ()
    return tuple(dict.fromkeys(name for name in listed if is_issuer(name)))


def is_issuer(value: Any) -> bool:
    """Whether `value` is an http(s) URL without query and fragment (RFC 8414, section 2)."""
    name = web_address(value)
    return name is not None and not urlsplit(name).query and "#" not in name
