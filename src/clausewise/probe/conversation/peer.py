"""One target in the modern era, for probe authors: requests, cached lists, connections."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, TypeVar, Unpack

from clausewise.core.errors import InternalError
from clausewise.core.vocabulary import Era, TransportKind
from clausewise.probe.acquaintance import Acquaintance, Pages
from clausewise.probe.conversation.legacy import legacy_session
from clausewise.probe.conversation.legacy_client import BARE_CLIENT
from clausewise.probe.conversation.link import Link, Links, Target, Use, is_response
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.reproduce import reproduction
from clausewise.probe.conversation.request import (
    ABSENT,
    Edits,
    HeaderEdit,
    Request,
    compose,
    edited_headers,
)
from clausewise.probe.offered import TOOL_S, ToolCall, gettable_prompt, readable_uri
from clausewise.probe.supplied import Supplied
from clausewise.trace.events import Event
from clausewise.transport.addresses import guard_of
from clausewise.transport.documents import Document, Fetcher
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget, StdioTarget

T = TypeVar("T")

GLANCE_S = 2.0
"""How long a stream is watched that need not end by itself."""


class Peer:
    """A modern-era conversation for one probe.

    Requests conform unless edited and go over one connection (HTTP) or to one process
    (stdio) that no other probe uses meanwhile, opened at the first request and opened anew
    when the server has closed it. A process may have served earlier probes: `another` gives
    one that has served conforming requests only, `fresh` one that has served none.
    `discover` and `pages` are asked once per run, not per probe.
    """

    def __init__(self, links: Links, acquaintance: Acquaintance) -> None:
        self._links = links
        self._known = acquaintance
        self._own: Link | None = None

    @property
    def transport(self) -> TransportKind:
        return self._links.transport

    @property
    def url(self) -> str:
        """The endpoint's URL; empty on stdio."""
        target = self._links.target
        return target.url if isinstance(target, HttpTarget) else ""

    @property
    def era(self) -> Era:
        """Modern or dual."""
        return self._known.era

    @property
    def answer_s(self) -> float:
        """How many seconds an answer may take."""
        return self._links.limits.answer_s

    @property
    def tool_s(self) -> float:
        """How many seconds a call may take that is made to see what comes of it."""
        return min(self._links.tempo.patience_s(TOOL_S), self.limits.answer_s)

    @property
    def limits(self) -> Limits:
        """Bounds of every exchange."""
        return self._links.limits

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The server capabilities of the `DiscoverResult`; empty when there is none."""
        return self._known.capabilities

    @property
    def versions(self) -> tuple[str, ...]:
        """The `supportedVersions` of the `DiscoverResult` that are strings."""
        return self._known.versions

    def offers(self, capability: str) -> bool:
        """Whether the server declares a capability (`tools`, `resources`, …)."""
        return capability in self.capabilities

    @property
    def recording(self) -> tuple[Event, ...]:
        """Every event of the run so far, other probes' included."""
        return self._links.tape.events

    def command_at(self, seq: int) -> str | None:
        """A command that lets the event of that number come again, if it came with an answer."""
        return self._links.commands.get(seq)

    def replayed(self, *replies: Reply, in_turn: bool = True) -> str:
        """A command that sends the requests of `replies` again, over one connection.

        To a process each when it should have answered the one before, or all at once.
        """
        requests = (reply.request for reply in replies)
        return reproduction(self._links.target, *requests, in_turn=in_turn)

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, **edits: Unpack[Edits]
    ) -> Reply:
        """Send one request and return its answer, whatever it is.

        Args:
            method: the JSON-RPC method.
            params: its parameters without `_meta` (or with further `_meta` keys).
            edits: departures from the conforming request, see `Edits`. One fault a
                request, with `rule` naming the rule it breaks.
        """
        if method == "tools/call" and self.transport is TransportKind.HTTP:
            mirrored = self._known.parameter_headers(params or {})
            edits["headers"] = {**mirrored, **edits.get("headers", {})}
        return await self._patiently(
            lambda: compose(method, params, self._known.fresh_id(), edits), edits
        )

    async def notify(
        self, method: str, params: Mapping[str, Any] | None = None, **edits: Unpack[Edits]
    ) -> Reply:
        """Send one notification; on stdio, what comes within the quiet time is the answer."""
        edits["id"] = ABSENT
        return await self._patiently(lambda: compose(method, params, 0, edits), edits)

    async def fetch(
        self,
        verb: str,
        headers: Mapping[str, HeaderEdit],
        *,
        path: str | None = None,
        link: Link | None = None,
    ) -> Reply:
        """Send an HTTP request that is no JSON-RPC POST (GET, DELETE).

        `headers` go out as given, beside the user's own. A stream that stays open is
        given up after `GLANCE_S`; its status, headers and first events are kept. `path`
        replaces the endpoint's path.

        Raises:
            InternalError: the target is no HTTP server.
        """
        if self.transport is not TransportKind.HTTP:
            raise InternalError("only an HTTP server can be fetched from")
        request = Request(None, None, ABSENT, edited_headers((), headers), b"", verb, path)
        edits: Edits = {"timeout_s": min(GLANCE_S, self.answer_s)}
        if link is not None:
            edits["link"] = link
        return await self._patiently(lambda: request, edits)

    async def discover(self) -> Reply:
        """The answer to a conforming `server/discover`, asked once per run."""
        return await self._known.discover(self.request)

    async def pages(self, method: str) -> Pages:
        """Every page of a list method, asked once per run: `tools/list` and the like."""
        return await self._known.pages(method, self.request)

    async def callable_tools(self) -> tuple[ToolCall, ...]:
        """The tools that may be called, with arguments that fit their schemas.

        They declare `readOnlyHint: true` or the user named them; the named ones first.
        """
        if not self.offers("tools"):
            return ()
        return self._known.callable_tools(await self.pages("tools/list"))

    async def callable_tool(self) -> ToolCall | None:
        """The first of `callable_tools`, or None."""
        return next(iter(await self.callable_tools()), None)

    async def readable_uri(self) -> str | None:
        """The URI of the first listed resource, or None."""
        if not self.offers("resources"):
            return None
        return readable_uri((await self.pages("resources/list")).items)

    async def gettable_prompt(self) -> str | None:
        """The name of the first listed prompt without required arguments, or None."""
        if not self.offers("prompts"):
            return None
        return gettable_prompt((await self.pages("prompts/list")).items)

    async def initialize(self) -> Reply:
        """The answer to a legacy client's `initialize`, asked once per run.

        It goes over a connection or to a process of its own.
        """
        if self._known.initialization is None:
            async with legacy_session(self._links, "legacy-initialize") as session:
                self._known.initialization = session.initialization
        return self._known.initialization

    async def negotiated(self, version: str) -> str | None:
        """The version that `initialize` with `version` leads to, or None when it is refused.

        It goes over a connection or to a process of its own.
        """
        client = replace(BARE_CLIENT, proposed=version)
        async with legacy_session(self._links, f"legacy-{version}", client) as session:
            return session.version

    async def own_link(self) -> Link:
        """The peer's own link, opened anew when the server closed it; for `link=`."""
        if self._own is not None and not self._own.settled:
            await self._own.close()
            self._own = None
        if self._own is None:
            self._own = await self._links.borrow(Use.OWN)
        return self._own

    @asynccontextmanager
    async def fresh(self, *, passed_on: bool = False) -> AsyncIterator[Link]:
        """A connection or process beside the own one, on which nothing was sent before.

        Pass it as `link=` to `request`. It is never reopened: `link.alive` says whether
        the server still holds it. `passed_on` leaves a process to `another`: only
        conforming requests may have been sent.
        """
        link = await self._links.open()
        try:
            yield link
        finally:
            if passed_on:
                await self._links.give_back(link, Use.BESIDE)
            else:
                await link.close()

    @asynccontextmanager
    async def another(self) -> AsyncIterator[Link]:
        """As `fresh`, but a process may have served other probes' conforming requests.

        Send nothing else on it, or close it afterwards.
        """
        link = await self._links.borrow(Use.BESIDE)
        try:
            yield link
        finally:
            await self._links.give_back(link, Use.BESIDE)

    @property
    def authorized(self) -> bool:
        """Whether the user gave an Authorization header."""
        target = self._links.target
        if not isinstance(target, HttpTarget):
            return False
        return any(name.lower() == "authorization" for name, _ in target.headers)

    @asynccontextmanager
    async def anonymous(self) -> AsyncIterator[Link]:
        """A connection of its own whose requests carry no Authorization header.

        Raises:
            InternalError: the target is no HTTP server.
        """
        async with self.bearing(None) as link:
            yield link

    @asynccontextmanager
    async def bearing(self, token: str | None) -> AsyncIterator[Link]:
        """A connection of its own whose requests carry this Bearer token; None for no token.

        Raises:
            InternalError: the target is no HTTP server.
        """
        target = self.http_target
        headers = tuple(pair for pair in target.headers if pair[0].lower() != "authorization")
        if token is not None:
            headers += (("Authorization", f"Bearer {token}"),)
        async with self.at(replace(target, headers=headers)) as link:
            yield link

    @asynccontextmanager
    async def at(self, target: Target) -> AsyncIterator[Link]:
        """A connection to another endpoint, or a process started otherwise, of its own.

        Raises:
            TargetError: it cannot be reached, or does not start.
        """
        link = await self._links.open(target)
        try:
            yield link
        finally:
            await link.close()

    @asynccontextmanager
    async def launched(self, variables: Mapping[str, str]) -> AsyncIterator[Link]:
        """A process of its own that is given these environment variables, too.

        Raises:
            InternalError: the target is no server on stdio.
            TargetError: it does not start.
        """
        target = self._links.target
        if not isinstance(target, StdioTarget):
            raise InternalError("only a server on stdio is launched")
        async with self.at(replace(target, env={**target.env, **variables})) as link:
            yield link

    @property
    def http_target(self) -> HttpTarget:
        """The endpoint.

        Raises:
            InternalError: the target is no HTTP server.
        """
        target = self._links.target
        if not isinstance(target, HttpTarget):
            raise InternalError("only an HTTP server has an endpoint")
        return target

    @property
    def supplied(self) -> Supplied:
        """What the user gave beside the target."""
        return self._known.supplied

    async def once(self, key: str, find: Callable[[], Awaitable[T]]) -> T:
        """What `find` gives, found once per run under `key`: for facts that probes share."""
        return await self._known.once(key, find)

    async def document(self, url: str) -> Document:
        """A JSON document at a URL that the server names, asked for once per run.

        Only public addresses and the target's own neighbourhood are asked.

        Raises:
            TargetError: the target's own host does not resolve.
        """
        fetcher = await self.once("fetcher", self._fetcher)
        turn = self._links.pace.turn
        return await self.once(f"GET {url}", lambda: fetcher.get(url, turn=turn))

    async def _fetcher(self) -> Fetcher:
        target, limits = self.http_target, self.limits
        guard = await guard_of(target, limits.connect_s)
        return Fetcher(target, guard, self._links.tape, limits)

    async def _patiently(self, composed: Callable[[], Request], edits: Edits) -> Reply:
        """Send a request; one that is refused for its rate again, as long as its link lives."""
        given = edits.get("link")
        return await self._links.pace.patiently(
            lambda: self._send(composed(), edits), lambda: given is None or given.alive
        )

    async def _send(self, request: Request, edits: Edits) -> Reply:
        await self._links.pace.turn()
        link = edits.get("link") or await self.own_link()
        answer = await link.send(
            request, until=edits.get("until", is_response), timeout_s=edits.get("timeout_s")
        )
        how = reproduction(link.target, request, made_up=self._made_up(link.target))
        reply = Reply(self.transport, request, answer, how)
        self._links.commands.update((event.seq, how) for event in answer.events)
        self._known.met(reply)
        return reply

    def _made_up(self, target: Target) -> frozenset[tuple[str, str]]:
        """The headers of `target` that are no secret: neither the user's own nor supplied."""
        tokens = [self.supplied.foreign_token, self.supplied.low_scope_token]
        secrets = {f"Bearer {token}" for token in tokens}
        return frozenset(h for h in self._links.made_up(target) if h[1] not in secrets)

    async def close(self) -> None:
        """Give back the peer's own link."""
        if self._own is not None:
            await self._links.give_back(self._own, Use.OWN)
            self._own = None
