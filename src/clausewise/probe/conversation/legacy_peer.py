"""One target in the legacy era, for authors of clause probes: sessions and what the walk saw."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import anyio

from clausewise.core.errors import InternalError, TargetError
from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.conversation.legacy import LegacySession, legacy_session
from clausewise.probe.conversation.legacy_client import LegacyClient
from clausewise.probe.conversation.link import Link, Links
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.offered import TOOL_S, Items, ToolCall, harmless_calls
from clausewise.trace.events import Event
from clausewise.transport.addresses import guard_of
from clausewise.transport.documents import Document, Fetcher
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget

T = TypeVar("T")

_MOST_CALLS = 25


@dataclass(frozen=True, slots=True)
class Called:
    """A tool call of the walk: its answer, and the seconds until that came or was given up.

    `usual_s` is how long a quick answer took then.
    """

    call: ToolCall
    reply: Reply
    seconds: float
    usual_s: float = 0.0


@dataclass(slots=True)
class LegacyAcquaintance:
    """What is known of a server after the walk, and shared by the probes of clauses.

    Attributes:
        named: the tools that the user lets us call.
        capabilities: the server's.
        items: what was listed, by list method.
        calls: the tool calls of the walk.
        idle: open sessions of which nobody wants anything at the moment.
        listed: set once the walk has listed everything, or come to its end.
        called: set once the walk has made its calls, or come to its end.
    """

    named: frozenset[str] = frozenset()
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    items: dict[str, Items] = field(default_factory=dict)
    calls: list[Called] = field(default_factory=list)
    idle: list[LegacySession] = field(default_factory=list)
    listed: anyio.Event = field(default_factory=anyio.Event)
    called: anyio.Event = field(default_factory=anyio.Event)
    found: dict[str, Any] = field(default_factory=dict)
    locks: dict[str, anyio.Lock] = field(default_factory=dict)
    numbers: itertools.count[int] = field(default_factory=itertools.count)

    async def once(self, key: str, find: Callable[[], Awaitable[T]]) -> T:
        """What `find` gives, found once per run under `key`."""
        async with self.locks.setdefault(key, anyio.Lock()):
            if key not in self.found:
                self.found[key] = await find()
            found: T = self.found[key]
            return found

    async def end(self) -> None:
        """End the sessions that nobody uses any more."""
        while self.idle:
            await self.idle.pop().end()


class LegacyPeer:
    """A legacy-era conversation for one probe, in sessions of its own.

    On stdio a session is a process, whose start is dear: one that has answered everything is
    used again by the next probe.
    """

    def __init__(self, links: Links, known: LegacyAcquaintance) -> None:
        self._links = links
        self._known = known

    @property
    def links(self) -> Links:
        """The connections and processes of the run."""
        return self._links

    @property
    def over_http(self) -> bool:
        return self._links.transport is TransportKind.HTTP

    @property
    def http_target(self) -> HttpTarget:
        """The endpoint; only probes for HTTP alone ask for it."""
        target = self._links.target
        assert isinstance(target, HttpTarget)
        return target

    @property
    def url(self) -> str:
        """The endpoint's URL (HTTP)."""
        return self.http_target.url

    async def document(self, url: str) -> Document:
        """As `Peer.document`: a JSON document at a URL that the server names."""
        guard = await guard_of(self.http_target, self.limits.connect_s)
        fetcher = Fetcher(self.http_target, guard, self._links.tape, self.limits)
        return await self.once(f"GET {url}", lambda: fetcher.get(url, turn=self._links.pace.turn))

    @property
    def limits(self) -> Limits:
        """Bounds of every exchange."""
        return self._links.limits

    @property
    def tool_s(self) -> float:
        """How many seconds a call may take that is made to see what comes of it."""
        return self.patience_s(TOOL_S)

    def patience_s(self, seconds: float) -> float:
        """How long to wait for what may never come: `seconds`, and longer where all is slow."""
        return min(self._links.tempo.patience_s(seconds), self.limits.answer_s)

    @property
    def next_seq(self) -> int:
        """The number that the next event of the recording gets."""
        return self._links.tape.next_seq

    def events_since(self, seq: int) -> tuple[Event, ...]:
        """The events of the recording from number `seq` on, those of other probes included."""
        return self._links.tape.since(seq)

    def command_at(self, seq: int) -> str | None:
        """A command that lets the event of that number come again, if one is known."""
        return self._links.commands.get(seq)

    @property
    def calls(self) -> tuple[Called, ...]:
        """The tool calls of the walk.

        Raises:
            InternalError: the walk is still at them: the probe must be registered as `walked`.
        """
        if not self._known.called.is_set():
            raise InternalError("the walk has not made its calls yet")
        return tuple(self._known.calls)

    @property
    def named(self) -> frozenset[str]:
        """The tools that the user lets us call."""
        return self._known.named

    def listed(self, method: str) -> Items:
        """What the walk saw listed by `tools/list` and the like."""
        return self._known.items.get(method, ())

    def offers(self, capability: str) -> bool:
        """Whether the server declares a capability (`tools`, `resources`, …)."""
        return capability in self._known.capabilities

    @property
    def harmless_calls(self) -> tuple[ToolCall, ...]:
        """Calls that may be made, a bearable number: of tools named, then of read-only ones."""
        return harmless_calls(self.listed("tools/list"), self._known.named)[:_MOST_CALLS]

    def schema_of(self, tool: str) -> Any:
        """The input schema of a listed tool, or None."""
        tools = self.listed("tools/list")
        return next((one.get("inputSchema") for one in tools if one.get("name") == tool), None)

    async def once(self, key: str, find: Callable[[], Awaitable[T]]) -> T:
        """What `find` gives, found once per run under `key`: for facts that probes share."""
        return await self._known.once(key, find)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[LegacySession]:
        """An initialized session whose client declares nothing.

        Raises:
            TargetError: no connection or process can be opened, or `initialize` is refused.
        """
        session = await self._idle() or await self._opened()
        try:
            yield session
        finally:
            if session.settled and not self.over_http:
                self._known.idle.append(session)
            else:
                await session.end()

    @asynccontextmanager
    async def client(
        self, client: LegacyClient, linger_s: float = 0.0
    ) -> AsyncIterator[LegacySession]:
        """A new session of a client; ended on leaving, see `legacy_session`.

        It may have been refused: then its `version` is None.
        """
        async with legacy_session(self._links, self._label(), client, linger_s) as session:
            yield session

    @asynccontextmanager
    async def at(self, target: HttpTarget) -> AsyncIterator[Link]:
        """A connection of its own to another place, or with other headers; for `link=`.

        Raises:
            TargetError: it cannot be reached.
        """
        link = await self._links.open(target)
        try:
            yield link
        finally:
            await link.close()

    def _label(self) -> str:
        return f"clauses-{next(self._known.numbers)}"

    async def _opened(self) -> LegacySession:
        session = LegacySession(self._links, await self._links.open(), self._label())
        initialization = await session.initialize()
        if session.version == Revision.LEGACY.value:
            return session
        await session.end()
        raise TargetError(f"initialize was answered with {initialization.shown}")

    async def _idle(self) -> LegacySession | None:
        """A process that waits for something to do."""
        while self._known.idle:
            session = self._known.idle.pop()
            if session.settled and not self.over_http:
                return session
            await session.end()
        return None
