"""A conforming client session of revision 2025-11-25 on either transport."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.conversation.event_ids import EventIds
from clausewise.probe.conversation.legacy_client import BARE_CLIENT, LegacyClient
from clausewise.probe.conversation.link import Link, Links, Target
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.reproduce import at_once, reproduction, reproduction_in_session
from clausewise.probe.conversation.request import (
    ABSENT,
    CLIENT_INFO,
    HeaderEdit,
    Headers,
    Request,
    edited_headers,
)
from clausewise.trace.events import Event, EventKind
from clausewise.transport.answers import Answer, Ending

GET_STREAM: Mapping[str, HeaderEdit] = {"Accept": "text/event-stream"}
"""What a GET for a stream of the server's messages carries beside the session's headers."""

_MAX_SERVER_REQUESTS = 20
_OPENING = ("initialize", "notifications/initialized")


class LegacyEdits(TypedDict, total=False):
    """How one request of a session departs from the conforming one, or from its usual way.

    rule: the name of the probe that breaks the specification on purpose with it; its events
        are tagged and not judged. Leave it out when the request still keeps it.
    id: the JSON-RPC id; default: the next integer of the session.
    headers: as `Edits.headers` (HTTP).
    beside: send it beside another that is in progress: over HTTP on a connection of its own.
    link: the connection to use (HTTP); its owner closes it.
    timeout_s: how long to wait for the answer.
    """

    rule: str
    id: Any
    headers: Mapping[str, HeaderEdit]
    beside: bool
    link: Link
    timeout_s: float


class LegacySession:
    """One session: `initialize` first, then whatever is asked, then the end.

    The server's own requests are answered while the session waits, as its `client` does.
    Over HTTP an answer carries the negotiated version and the session's id, so what the
    server asks before its `InitializeResult` is answered after it.
    """

    def __init__(
        self,
        links: Links,
        link: Link,
        label: str,
        client: LegacyClient = BARE_CLIENT,
    ) -> None:
        self._links = links
        self._link = link
        self._label = label
        self._client = client
        self._ids = links.session_ids()
        self._session_id: str | None = None
        self._version: str | None = None
        self._initialized: Reply | None = None
        self._postponed: list[Mapping[str, Any]] = []
        self._taken: set[str] = set()
        self._opening: list[Request] = []
        self._event_ids = EventIds()
        self._asked: list[tuple[int, Request]] = []
        self._began = links.tape.next_seq

    @property
    def initialization(self) -> Reply:
        """The answer to `initialize`."""
        assert self._initialized is not None
        return self._initialized

    @property
    def version(self) -> str | None:
        """The negotiated version, or None when `initialize` was refused."""
        return self._version

    @property
    def session_id(self) -> str | None:
        """The id that the server gave the session (HTTP), or None."""
        return self._session_id

    @property
    def settled(self) -> bool:
        """Whether the process or connection is alive and owes no answer."""
        return self._link.settled

    @property
    def capabilities(self) -> Mapping[str, Any]:
        found = self.initialization.fields.get("capabilities")
        return found if isinstance(found, dict) else {}

    async def initialize(self) -> Reply:
        """Open the session, and confirm it when the server agreed to our version."""
        params = {
            "protocolVersion": self._client.proposed,
            "capabilities": dict(self._client.capabilities),
            "clientInfo": {**CLIENT_INFO, "name": self._client.name},
        }
        reply = self._initialized = await self.request("initialize", params)
        version = reply.fields.get("protocolVersion")
        if reply.succeeded and isinstance(version, str):
            self._version = version
            self._session_id = reply.header("mcp-session-id")
            if version == Revision.LEGACY.value:
                await self.notify("notifications/initialized")
            while self._postponed:
                await self._respond(self._postponed.pop(0))
        return reply

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
    ) -> Reply:
        """Send a request and return its answer; one that does not come in time is cancelled."""
        reply = await self._links.pace.patiently(
            lambda: self._exchange(self._compose(method, params, next(self._ids)), timeout_s)
        )
        if reply.answer.ending is Ending.TIMEOUT and method != "initialize":
            reason = {"requestId": reply.id, "reason": "no answer in time"}
            await self.notify("notifications/cancelled", reason)
        return reply

    async def attempt(
        self, method: str, params: Mapping[str, Any] | None = None, **edits: Unpack[LegacyEdits]
    ) -> Reply:
        """Send a request with edits and return its answer; one that does not come is left open."""
        request = self._edited(self._compose(method, params, self._id_of(edits)), edits)
        return await self._sent(request, edits)

    async def fetch(self, verb: str, **edits: Unpack[LegacyEdits]) -> Reply:
        """Send an HTTP request that is no POST (GET, DELETE) on a connection of its own."""
        edits.setdefault("beside", True)
        return await self._sent(self._fetching(verb, edits), edits)

    def _fetching(self, verb: str, edits: LegacyEdits) -> Request:
        request = Request(None, None, ABSENT, self._session_headers(), b"", verb)
        return self._edited(request, edits)

    def _id_of(self, edits: LegacyEdits) -> Any:
        return edits["id"] if "id" in edits else next(self._ids)

    def _edited(self, request: Request, edits: LegacyEdits) -> Request:
        headers = edited_headers(request.headers, edits.get("headers", {}))
        return replace(request, headers=headers, rule=edits.get("rule"))

    async def _sent(self, request: Request, edits: LegacyEdits) -> Reply:
        seconds = edits.get("timeout_s")
        if "link" in edits:
            await self._links.pace.turn()
            link = edits["link"]
            return self._reply(request, await self._ask(link, request, seconds), link.target)
        if not edits.get("beside") or self._links.transport is TransportKind.STDIO:
            return await self._exchange(request, seconds)
        await self._links.pace.turn()
        link = await self._links.open()
        try:
            answer = await self._ask(link, request, seconds)
        finally:
            await link.close()
        return self._reply(request, answer, link.target)

    def overlapping(self, *requests: Request) -> str:
        """A command that sends `requests` in such a session, each a moment after the other."""
        return reproduction_in_session(self._links.target, self._opening, *requests)

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> Reply:
        """Send a notification; what a process writes after it belongs to the next request."""
        return await self._exchange(self._compose(method, params, ABSENT), self._unanswered_s)

    async def listen(
        self, seconds: float, *, rule: str | None = None, beside: LegacySession | None = None
    ) -> None:
        """Hold a stream for the server's own messages open, at most for `seconds` (HTTP).

        The command that lets a message on it come again sends what was asked last before it
        came, in this session or in the one `beside`, while such a stream is open.

        Args:
            seconds: how long.
            rule: see `LegacyEdits`.
            beside: the session that makes the server speak, where that is another one.
        """
        edits: LegacyEdits = {"headers": GET_STREAM, "timeout_s": seconds}
        if rule is not None:
            edits["rule"] = rule
        opening, asking = self._fetching("GET", edits), beside or self
        try:
            with suppress(TargetError):
                await self.fetch("GET", **edits)
        finally:
            for message, streams in self._overheard():
                if (asked := asking._asked_before(message.seq)) is not None:
                    how = self._provoking([opening] * streams, asking, asked)
                    self._links.commands[message.seq] = how

    def _overheard(self) -> Iterator[tuple[Event, int]]:
        """The messages on streams that GET has opened, and how many of these were open then."""
        opened: set[int | str | None] = set()
        for event in self._links.tape.since(self._began):
            if event.session == self._label and event.fields.get("method") == "GET":
                opened.add(event.exchange)
            elif event.kind is EventKind.MESSAGE and event.exchange in opened:
                yield event, len(opened)

    def _asked_before(self, seq: int) -> Request | None:
        """The request that was sent last before the event of that number."""
        return next((asked for at, asked in reversed(self._asked) if at < seq), None)

    def _provoking(self, streams: list[Request], asking: LegacySession, asked: Request) -> str:
        if asking is self:
            return self.overlapping(*streams, asked)
        return at_once(self.overlapping(*streams), asking.overlapping(asked))

    async def end(self, linger_s: float = 0.0) -> None:
        """End the session: DELETE when the server gave it an id, and let go of the link.

        A process stays for `linger_s` seconds more, for what it may have to say yet.
        """
        if self._session_id is not None:
            with suppress(TargetError):
                await self.terminate()
        await self._link.close(linger_s)

    async def terminate(self) -> Reply:
        """Ask the server to end the session (HTTP); later requests do not name it any more."""
        asked = self.fetch("DELETE", timeout_s=self._links.limits.answer_s)
        try:
            return await asked
        finally:
            self._session_id = None

    @property
    def _unanswered_s(self) -> float | None:
        """How long to wait after a message without a response: HTTP answers with a status."""
        return 0.0 if self._links.transport is TransportKind.STDIO else None

    async def _exchange(self, request: Request, timeout_s: float | None = None) -> Reply:
        await self._links.pace.turn()
        if not self._link.alive and self._links.transport is TransportKind.HTTP:
            await self._link.close()
            self._link = await self._links.open()
        answer = await self._ask(self._link, request, timeout_s)
        return self._reply(request, answer, self._link.target)

    def _reply(self, request: Request, answer: Answer, at: Target) -> Reply:
        if request.method in _OPENING:
            self._opening.append(request)
        opening, ours, made_up = tuple(self._opening), self._links.target, self._links.made_up(at)
        if request.method == "initialize" or not opening:
            how = reproduction(at, request, made_up=made_up)
        else:
            how = reproduction_in_session(ours, opening, request, at=at, made_up=made_up)
        self._links.commands.update((event.seq, how) for event in answer.events)
        for seq, earlier, later in self._event_ids.repeated(answer.events, request):
            if earlier.method not in _OPENING:  # else the usual command shows both
                self._links.commands[seq] = self.overlapping(earlier, later)
        return Reply(self._links.transport, request, answer, how)

    async def _ask(self, link: Link, request: Request, seconds: float | None = None) -> Answer:
        """Send a request, and answer those of the server that come before its response."""
        if request.method is not None and request.id is not ABSENT:
            self._asked.append((self._links.tape.next_seq, request))
        asked = itertools.count()
        async with anyio.create_task_group() as answering:

            def decisive(event: Event) -> bool:
                if self._is_new_request(event) and next(asked) < _MAX_SERVER_REQUESTS:
                    if self._may_respond:
                        answering.start_soon(self._respond, event.payload)
                    else:
                        self._postponed.append(event.payload)
                return _responds(event.payload, request.id)

            answer = await link.send(
                request, until=decisive, timeout_s=seconds, session=self._label
            )
        return answer  # noqa: RET504 - mypy wants it outside the group

    def _is_new_request(self, event: Event) -> bool:
        """Whether the server asks something that was not asked before.

        Two answers that are awaited at once see it twice, and so does who resumes a stream.
        """
        if not _is_request(event.payload):
            return False
        key = json.dumps(event.payload["id"], sort_keys=True)
        if key in self._taken:
            return False
        self._taken.add(key)
        return True

    @property
    def _may_respond(self) -> bool:
        return self._version is not None or self._links.transport is TransportKind.STDIO

    async def _respond(self, asked: Mapping[str, Any]) -> None:
        message = self._client.response(asked)
        if message is None:
            return
        response = self._post(message, None, None)
        if self._links.transport is TransportKind.STDIO:
            await self._links.pace.turn()
            await self._link.send(response, timeout_s=self._unanswered_s)
        else:
            await self._send_aside(response, self._links.limits.answer_s)

    async def _send_aside(self, request: Request, seconds: float) -> None:
        """Send on a connection of its own; a server that is gone needs nothing sent."""
        await self._links.pace.turn()
        with suppress(TargetError):
            link = await self._links.open()
            try:
                await link.send(request, timeout_s=seconds, session=self._label)
            finally:
                await link.close()

    def _compose(self, method: str, params: Mapping[str, Any] | None, request_id: Any) -> Request:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if request_id is not ABSENT:
            message["id"] = request_id
        if params is not None:
            message["params"] = params
        return self._post(message, method, params)

    def _post(
        self, message: Mapping[str, Any], method: str | None, params: Mapping[str, Any] | None
    ) -> Request:
        headers = (
            (b"Content-Type", b"application/json"),
            (b"Accept", b"application/json, text/event-stream"),
            *self._session_headers(),
        )
        body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        request_id = message.get("id", ABSENT) if method is not None else None
        return Request(method, params, request_id, headers, body)

    def _session_headers(self) -> Headers:
        headers: list[tuple[bytes, bytes]] = []
        if self._version is not None:
            headers.append((b"MCP-Protocol-Version", self._version.encode("utf-8")))
        if self._session_id is not None:
            headers.append((b"Mcp-Session-Id", self._session_id.encode("latin-1")))
        return tuple(headers)


@asynccontextmanager
async def legacy_session(
    links: Links, label: str, client: LegacyClient = BARE_CLIENT, linger_s: float = 0.0
) -> AsyncIterator[LegacySession]:
    """A session that has tried to initialize as its client does; ended on leaving.

    On stdio its process stays for `linger_s` seconds more, which nobody waits for.

    Raises:
        TargetError: no connection or process can be opened.
    """
    session = LegacySession(links, await links.open(), label, client)
    try:
        await session.initialize()
        yield session
    finally:
        await session.end(linger_s if links.transport is TransportKind.STDIO else 0.0)


def _is_request(payload: Any) -> bool:
    """Whether a message asks for a response; with the id null it could not be told apart."""
    return isinstance(payload, dict) and "method" in payload and payload.get("id") is not None


def _responds(payload: Any, request_id: Any) -> bool:
    if not isinstance(payload, dict) or "method" in payload:
        return False
    given = payload.get("id")
    return given is None or (type(given) is type(request_id) and bool(given == request_id))
