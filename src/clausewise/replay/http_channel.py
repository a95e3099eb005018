"""The steps of a recording as HTTP requests, each on a connection of its own."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

import anyio
from anyio.abc import TaskGroup

from clausewise.core.errors import ClausewiseError
from clausewise.replay.live import Live
from clausewise.replay.script import SESSION_HEADER, Act, Label, Lane, Step
from clausewise.trace.events import Event
from clausewise.trace.tape import Tape
from clausewise.transport.http import HttpRequest, HttpTarget, open_connection
from clausewise.transport.limits import Limits
from clausewise.wire import sentinel
from clausewise.wire.jsonrpc import MessageClass, classify, same_id

_KEPT = frozenset(
    {"accept", "content-type", "last-event-id", "mcp-method", "mcp-name", "origin",
     "mcp-protocol-version", SESSION_HEADER}
)  # fmt: skip
_UNSENDABLE = re.compile(r"[\r\n\0]")
_METHOD = re.compile(r"[A-Za-z]+")
_VERSION = "mcp-protocol-version"
_META_VERSION = "io.modelcontextprotocol/protocolVersion"
_NAME_MEMBERS = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

_Headers: TypeAlias = list[tuple[str, str]]
_Wire: TypeAlias = tuple[HttpTarget, Tape, Limits]


class HttpChannel:
    """Sends steps to a Streamable HTTP endpoint; made by `open_http`.

    Attributes:
        failure: the first connection that could not be made.
    """

    has_heads = True

    def __init__(self, wire: _Wire, live: Live, stream_s: float, tasks: TaskGroup) -> None:
        self._target, self._tape, self._limits = wire
        self._live = live
        self._stream_s = stream_s
        self._tasks = tasks
        self._scopes: dict[Label, anyio.CancelScope] = {}
        self._ended: set[int] = set()
        self.failure: ClausewiseError | None = None

    def has_ended(self, step: Step) -> bool:
        """Whether nothing more can come for this step."""
        return step.seq in self._ended

    async def send(self, step: Step, body: bytes) -> None:
        """Begin the exchange of `step`; one that the recording does not tell apart is awaited."""
        if step.act in (Act.ABORT, Act.CLOSE):
            if step.exchange in self._scopes:
                self._scopes[step.exchange].cancel()
            return
        request = self._request(step, body)
        if step.exchange is None and classify(step.payload) is not MessageClass.REQUEST:
            await self._exchange(step, request)
        else:
            self._tasks.start_soon(self._exchange, step, request)

    async def reply(self, lane: Lane, body: bytes) -> None:
        """Answer a request of the server that the recording does not have."""
        headers = [*_default_headers(None), *self._session_headers(lane)]
        request = self._posted(headers, body)
        try:
            async with open_connection(self._target, self._tape, self._limits) as connection:
                await connection.send(request)
        except ClausewiseError as error:
            self.failure = self.failure or error

    async def _exchange(self, step: Step, request: HttpRequest) -> None:
        scope = anyio.CancelScope()
        if step.exchange is not None:
            self._scopes[step.exchange] = scope
        try:
            with scope:
                async with open_connection(self._target, self._tape, self._limits) as connection:
                    number = self._tape.next_seq
                    self._live.exchange_begins(number, step)
                    self._live.sends(step, number)
                    until = _answer_to(step.payload)
                    await connection.send(request, until=until, timeout_s=self._stream_s)
        except ClausewiseError as error:
            self.failure = self.failure or error
        finally:
            self._ended.add(step.seq)
            self._live.stir()

    def _request(self, step: Step, body: bytes) -> HttpRequest:
        if step.head is None:
            headers = [*_default_headers(step.payload), *self._session_headers(step.lane)]
            return self._posted(headers, body)
        recorded = step.head.fields.get("method")
        is_method = isinstance(recorded, str) and _METHOD.fullmatch(recorded)
        method = str(recorded) if is_method else "POST"
        return self._posted(list(self._recorded_headers(step.head, step.lane)), body, method)

    # A recording may be hostile: what would end a line of the request head does not go out.
    def _posted(self, headers: _Headers, body: bytes, method: str = "POST") -> HttpRequest:
        own = {name.lower() for name, _ in self._target.headers}
        added = tuple(
            (name.encode("latin-1"), value.encode("latin-1", "replace"))
            for name, value in headers
            if name not in own and not _UNSENDABLE.search(value)
        )
        return HttpRequest(method, (*self._target.plain_headers(body), *added), body)

    def _recorded_headers(self, head: Event, lane: Lane) -> Iterator[tuple[str, str]]:
        recorded = head.fields.get("headers")
        for name in recorded if isinstance(recorded, dict) else ():
            lower = name.lower()
            if lower in _KEPT or lower.startswith("mcp-param-"):
                for value in head.header_values(lower):
                    yield lower, self._live_value(lower, value, lane)

    def _live_value(self, name: str, value: str, lane: Lane) -> str:
        if name == SESSION_HEADER:
            return self._live.session_of(lane) or value
        if name == _VERSION:
            return self._live.version_of(lane) or value
        return self._live.stream_id(value) if name == "last-event-id" else value

    def _session_headers(self, lane: Lane) -> Iterator[tuple[str, str]]:
        session, version = self._live.session_of(lane), self._live.version_of(lane)
        if session is not None:
            yield SESSION_HEADER, session
        if version is not None:
            yield _VERSION, version


@asynccontextmanager
async def open_http(
    target: HttpTarget, tape: Tape, live: Live, limits: Limits, stream_s: float
) -> AsyncIterator[HttpChannel]:
    """A channel to `target`; leaving the context breaks off what still streams.

    Args:
        stream_s: how long a stream is kept open at most.
    """
    async with anyio.create_task_group() as tasks:
        yield HttpChannel((target, tape, limits), live, stream_s, tasks)
        tasks.cancel_scope.cancel()


def _answer_to(payload: Any) -> Callable[[Event], bool] | None:
    """Whether a message of a stream is what its request waits for."""
    if classify(payload) is not MessageClass.REQUEST:
        return None
    identity = payload["id"]

    def is_answer(event: Event) -> bool:
        is_response = classify(event.payload) in (MessageClass.RESULT, MessageClass.ERROR)
        return is_response and same_id(event.payload.get("id"), identity)

    return is_answer


def _default_headers(payload: Any) -> Iterator[tuple[str, str]]:
    """What a POST needs where the recording kept no headers."""
    yield "content-type", "application/json"
    yield "accept", "application/json, text/event-stream"
    params = payload.get("params") if isinstance(payload, dict) else None
    meta = params.get("_meta") if isinstance(params, dict) else None
    version = meta.get(_META_VERSION) if isinstance(meta, dict) else None
    if not isinstance(version, str) or not isinstance(params, dict):
        return
    method = str(payload.get("method"))
    yield _VERSION, version
    yield "mcp-method", method
    name = params.get(_NAME_MEMBERS.get(method, ""))
    if isinstance(name, str):
        yield "mcp-name", sentinel.encode(name.encode("utf-8", "replace").decode())
