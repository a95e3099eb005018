"""What a run has learnt about its server: discovery, lists, and every exchange so far."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio

from clausewise.core.results import Implementation
from clausewise.core.vocabulary import Era, TransportKind
from clausewise.judge.subjects.annotations import is_sound, parameter_headers
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic, is_modern
from clausewise.probe.offered import ToolCall, harmless_calls
from clausewise.probe.supplied import NOTHING_SUPPLIED, Supplied
from clausewise.wire.meta import META_SERVER_INFO

T = TypeVar("T")

Ask = Callable[..., Awaitable[Reply]]
"""A way to send a conforming request: `Peer.request`."""

LIST_MEMBERS: Mapping[str, str] = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
"""The member of the result that holds the items, by list method."""

MAX_PAGES = 50


@dataclass(frozen=True, slots=True)
class Pages:
    """All pages of one list.

    `items` are the entries that are objects; `blocked` says why the list is incomplete,
    or is None.
    """

    method: str
    items: tuple[Mapping[str, Any], ...]
    replies: tuple[Reply, ...]
    blocked: str | None


async def ask_pages(method: str, ask: Ask, max_pages: int = MAX_PAGES) -> Pages:
    """Follow `nextCursor` to the end of a list, at most `max_pages` pages."""
    items: list[Mapping[str, Any]] = []
    replies: list[Reply] = []
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        reply = await ask(method, None if cursor is None else {"cursor": cursor})
        replies.append(reply)
        if not reply.succeeded:
            blocked = reply.blocked or f"{method} answered {reply.shown}"
            return Pages(method, tuple(items), tuple(replies), blocked)
        entries = reply.fields.get(LIST_MEMBERS[method])
        if isinstance(entries, list):
            items += [entry for entry in entries if isinstance(entry, dict)]
        next_cursor = reply.fields.get("nextCursor")
        if not isinstance(next_cursor, str):
            return Pages(method, tuple(items), tuple(replies), None)
        if next_cursor in seen or len(replies) >= max_pages:
            blocked = f"{method} does not end: {len(replies)} pages read"
            return Pages(method, tuple(items), tuple(replies), blocked)
        seen.add(next_cursor)
        cursor = next_cursor


class Acquaintance:
    """What all probes of a run share about one server.

    Attributes:
        era: how it speaks; modern until the era is detected.
        initialization: the answer to a legacy client's `initialize`, once it was asked.
        supplied: what the user gave beside the target.
    """

    def __init__(
        self,
        transport: TransportKind,
        era: Era,
        call_tools: frozenset[str] = frozenset(),
        supplied: Supplied = NOTHING_SUPPLIED,
    ) -> None:
        self.era = era
        self.supplied = supplied
        self.initialization: Reply | None = None
        self._transport = transport
        self._call_tools = call_tools
        self._ids = itertools.count(1)
        self._replies: list[Reply] = []
        self._discovery: Reply | None = None
        self._pages: dict[str, Pages] = {}
        self._found: dict[str, Any] = {}
        self._locks: dict[str, anyio.Lock] = {}

    def fresh_id(self) -> int:
        """A request id that this run has not used."""
        return next(self._ids)

    def met(self, reply: Reply) -> None:
        """Keep an exchange for the passive rules."""
        self._replies.append(reply)

    def learn(self, reply: Reply) -> None:
        """Keep the answer to a conforming `server/discover`."""
        self._discovery = reply

    @property
    def traffic(self) -> Traffic:
        """The modern exchanges so far."""
        modern = tuple(r for r in self._replies if is_modern(r.request, self._transport, self.era))
        return Traffic(self._transport, self.era, modern)

    @property
    def declared(self) -> Mapping[str, Any] | None:
        """The capabilities of the `DiscoverResult`, or None when there are none."""
        found = self._discovery.fields.get("capabilities") if self._discovery else None
        return found if isinstance(found, dict) else None

    @property
    def capabilities(self) -> Mapping[str, Any]:
        return self.declared or {}

    @property
    def versions(self) -> tuple[str, ...]:
        found = self._discovery.fields.get("supportedVersions") if self._discovery else None
        return tuple(v for v in found if isinstance(v, str)) if isinstance(found, list) else ()

    @property
    def server(self) -> Implementation | None:
        """What the server says it is: in its `DiscoverResult`, else its `InitializeResult`."""
        meta = self._discovery.fields.get("_meta") if self._discovery else None
        modern = implementation(meta.get(META_SERVER_INFO)) if isinstance(meta, dict) else None
        if modern is not None or self.initialization is None:
            return modern
        return implementation(self.initialization.fields.get("serverInfo"))

    async def discover(self, ask: Ask) -> Reply:
        """The answer to `server/discover`; asked again only while it was blocked."""
        async with self._lock("server/discover"):
            if self._discovery is None or self._discovery.blocked:
                self._discovery = await ask("server/discover")
            return self._discovery

    async def pages(self, method: str, ask: Ask) -> Pages:
        """All pages of `method`; asked again only while that was blocked."""
        async with self._lock(method):
            pages = self._pages.get(method)
            if pages is None or pages.replies[-1].blocked:
                pages = self._pages[method] = await ask_pages(method, ask)
            return pages

    async def once(self, key: str, find: Callable[[], Awaitable[T]]) -> T:
        """What `find` gives, found once per run under `key`."""
        async with self._lock(key):
            if key not in self._found:
                self._found[key] = await find()
            found: T = self._found[key]
            return found

    def callable_tools(self, tools: Pages) -> tuple[ToolCall, ...]:
        """The tools that may be called and whose arguments can be made up.

        Over HTTP a client must not offer a tool whose `x-mcp-header` annotations are wrong.
        """
        over_http = self._transport is TransportKind.HTTP
        items = [tool for tool in tools.items if not over_http or is_sound(tool)]
        return harmless_calls(items, self._call_tools)

    def parameter_headers(self, params: Mapping[str, Any]) -> dict[str, str]:
        """The `Mcp-Param-*` headers of a call of a tool that was listed."""
        listed = self._pages.get("tools/list")
        for tool in listed.items if listed is not None else ():
            if tool.get("name") == params.get("name"):
                return parameter_headers(tool, params.get("arguments"))
        return {}

    def _lock(self, key: str) -> anyio.Lock:
        return self._locks.setdefault(key, anyio.Lock())


def implementation(info: Any) -> Implementation | None:
    """Name and version from a server's own description, or None when it gives none."""
    if not isinstance(info, dict):
        return None
    name, version = info.get("name"), info.get("version")
    if not isinstance(name, str):
        return None
    return Implementation(name, version if isinstance(version, str) else "")
