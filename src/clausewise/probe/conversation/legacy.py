"""A conforming client session of revision 2025-11-25 on either transport."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.conversation.link import Link, Links
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.reproduce import reproduction
from clausewise.probe.conversation.request import ABSENT, CLIENT_INFO, Headers, Request
from clausewise.trace.events import Event
from clausewise.transport.answers import Answer, Ending
from clausewise.wire.codes import ErrorCode

_MAX_SERVER_REQUESTS = 20


class LegacySession:
    """One session: `initialize` first, then whatever the walk asks, then the end.

    The server's own requests are answered while the session waits: `ping` with an
    empty result, anything else with "method not found", for no client capability is
    declared. Over HTTP an answer carries the negotiated version and the session's id, so
    what the server asks before its `InitializeResult` is answered after it.
    """

    def __init__(
        self, links: Links, link: Link, label: str, proposed: str = Revision.LEGACY.value
    ) -> None:
        self._links = links
        self._link = link
        self._label = label
        self._proposed = proposed
        self._ids = itertools.count(1)
        self._session_id: str | None = None
        self._version: str | None = None
        self._initialized: Reply | None = None
        self._postponed: list[Mapping[str, Any]] = []

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
    def capabilities(self) -> Mapping[str, Any]:
        found = self.initialization.fields.get("capabilities")
        return found if isinstance(found, dict) else {}

    async def initialize(self) -> Reply:
        """Open the session, and confirm it when the server agreed to our version."""
        params = {
            "protocolVersion": self._proposed,
            "capabilities": {},
            "clientInfo": dict(CLIENT_INFO),
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
        request = self._compose(method, params, next(self._ids))
        reply = await self._exchange(request, timeout_s)
        if reply.answer.ending is Ending.TIMEOUT and method != "initialize":
            reason = {"requestId": request.id, "reason": "no answer in time"}
            await self.notify("notifications/cancelled", reason)
        return reply

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification; what a process writes after it belongs to the next request."""
        await self._exchange(self._compose(method, params, ABSENT), self._unanswered_s)

    async def glance_at_stream(self, seconds: float) -> None:
        """Open the stream for the server's own messages and leave it after `seconds` (HTTP)."""
        headers = ((b"Accept", b"text/event-stream"), *self._session_headers())
        request = Request(None, None, ABSENT, headers, b"", "GET")
        with suppress(TargetError):
            link = await self._links.open()
            try:
                await self._ask(link, request, seconds)
            finally:
                await link.close()

    async def end(self) -> None:
        """End the session: DELETE when the server gave it an id, and let go of the link."""
        if self._session_id is not None:
            request = Request(None, None, ABSENT, self._session_headers(), b"", "DELETE")
            await self._send_aside(request, self._links.limits.answer_s)
        await self._link.close()

    @property
    def _unanswered_s(self) -> float | None:
        """How long to wait after a message without a response: HTTP answers with a status."""
        return 0.0 if self._links.transport is TransportKind.STDIO else None

    async def _exchange(self, request: Request, timeout_s: float | None = None) -> Reply:
        if not self._link.alive and self._links.transport is TransportKind.HTTP:
            await self._link.close()
            self._link = await self._links.open()
        answer = await self._ask(self._link, request, timeout_s)
        how = reproduction(self._links.target, request)
        return Reply(self._links.transport, request, answer, how)

    async def _ask(self, link: Link, request: Request, seconds: float | None = None) -> Answer:
        """Send a request, and answer those of the server that come before its response."""
        asked = itertools.count()
        async with anyio.create_task_group() as answering:

            def decisive(event: Event) -> bool:
                if _is_request(event.payload) and next(asked) < _MAX_SERVER_REQUESTS:
                    if self._may_respond:
                        answering.start_soon(self._respond, event.payload)
                    else:
                        self._postponed.append(event.payload)
                return _responds(event.payload, request.id)

            answer = await link.send(
                request, until=decisive, timeout_s=seconds, session=self._label
            )
        return answer  # noqa: RET504 - mypy wants it outside the group

    @property
    def _may_respond(self) -> bool:
        return self._version is not None or self._links.transport is TransportKind.STDIO

    async def _respond(self, asked: Mapping[str, Any]) -> None:
        response = self._response(asked)
        if self._links.transport is TransportKind.STDIO:
            await self._link.send(response, timeout_s=self._unanswered_s)
        else:
            await self._send_aside(response, self._links.limits.answer_s)

    async def _send_aside(self, request: Request, seconds: float) -> None:
        """Send on a connection of its own; a server that is gone needs nothing sent."""
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

    def _response(self, asked: Mapping[str, Any]) -> Request:
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": asked.get("id")}
        if asked.get("method") == "ping":
            message["result"] = {}
        else:
            message["error"] = {
                "code": ErrorCode.METHOD_NOT_FOUND.value,
                "message": "Method not found",
            }
        return self._post(message, None, None)

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
    links: Links, label: str, proposed: str = Revision.LEGACY.value
) -> AsyncIterator[LegacySession]:
    """A session that has tried to initialize with the version `proposed`; ended on leaving.

    Raises:
        TargetError: no connection or process can be opened.
    """
    session = LegacySession(links, await links.open(), label, proposed)
    try:
        await session.initialize()
        yield session
    finally:
        await session.end()


def _is_request(payload: Any) -> bool:
    """Whether a message asks for a response; with the id null it could not be told apart."""
    return isinstance(payload, dict) and "method" in payload and payload.get("id") is not None


def _responds(payload: Any, request_id: Any) -> bool:
    if not isinstance(payload, dict) or "method" in payload:
        return False
    given = payload.get("id")
    return given is None or (type(given) is type(request_id) and bool(given == request_id))
