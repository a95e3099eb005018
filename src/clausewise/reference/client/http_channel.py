"""A Streamable HTTP endpoint as a channel: every message is an exchange of its own."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.reference.client.authorizer import Authorizer
from clausewise.reference.client.channel import Receipt
from clausewise.reference.client.inbox import Inbox, Pending
from clausewise.reference.client.outgoing import Headers, Outgoing
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.trace.tape import Tape, Track
from clausewise.transport.answers import Answer, Ending
from clausewise.transport.http import HttpConnection, connect
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpRequest, HttpTarget

_CHALLENGES = frozenset({401, 403})
_MAX_IDLE_S = 2.0
"""Servers close idle connections; on one that may be half closed a message can get lost."""


@dataclass(frozen=True, slots=True)
class _Idle:
    connection: HttpConnection
    since: float


class HttpChannel:
    """As many connections to one endpoint as there are exchanges at a time."""

    kind = TransportKind.HTTP
    alive = True

    def __init__(
        self, target: HttpTarget, tape: Tape, limits: Limits, authorizer: Authorizer | None
    ) -> None:
        self._target = target
        self._tape = tape
        self._limits = limits
        self._authorizer = authorizer
        self._inbox: Inbox | None = None
        self._label: str | None = None
        self._idle: list[_Idle] = []
        self._streams: dict[Pending, anyio.CancelScope] = {}
        self._listening = anyio.Event()
        self._get: int | None = None
        tape.listen(self._watch)

    def attach(self, inbox: Inbox, label: str | None) -> None:
        self._inbox = inbox
        self._label = label
        self._listening = anyio.Event()

    async def listening(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self._listening.wait()

    def _watch(self, event: Event) -> None:
        """Notice the head of the answer to a GET."""
        if event.exchange == self._get and event.status is not None:
            self._listening.set()

    async def exchange(self, outgoing: Outgoing, asked: Pending | None, seconds: float) -> Receipt:
        url = self._target.url
        authorizer = self._authorizer
        more = () if authorizer is None else await authorizer.headers(url)
        receipt = await self._exchange(outgoing, more, asked, seconds)
        if outgoing.verb == "GET":
            self._listening.set()
        if authorizer is None or receipt.status not in _CHALLENGES:
            return receipt
        again = await authorizer.challenged(url, receipt.status, receipt.headers, more)
        return replace(receipt, again=again)

    def cut(self, asked: Pending) -> bool:
        scope = self._streams.get(asked)
        if scope is not None:
            scope.cancel()
        return scope is not None

    async def restart(self) -> bool:
        return False

    async def close(self) -> None:
        """Close the connections that are idle; the others belong to their exchanges."""
        track = Track(TransportKind.HTTP, self._label)
        self._tape.lifecycle(track, Direction.CLIENT_TO_SERVER, Lifecycle.CLOSE)
        while self._idle:
            await self._idle.pop().connection.aclose()

    async def _exchange(
        self, outgoing: Outgoing, more: Headers, asked: Pending | None, seconds: float
    ) -> Receipt:
        try:
            connection = await self._connection()
        except TargetError as error:
            return Receipt(ending=Ending.REFUSED, detail=error.message)
        inbox = self._inbox
        assert inbox is not None

        def settled(event: Event) -> bool:
            inbox.take(event, asked)
            return asked is not None and asked.response is not None

        first = self._tape.next_seq
        if outgoing.verb == "GET":
            self._get = first
        answer: Answer | None = None
        try:
            with anyio.CancelScope() as scope:
                if asked is not None:
                    self._streams[asked] = scope
                    asked.sent.set()
                answer = await connection.send(
                    self._request(outgoing, more),
                    until=settled,
                    timeout_s=seconds,
                    session=self._label,
                )
        finally:
            if asked is not None:
                self._streams.pop(asked, None)
            with anyio.CancelScope(shield=True):
                await self._put_back(connection)
        if answer is not None:
            return _receipt(answer)
        events = (event for event in self._tape.since(first) if event.exchange == first)
        return _cut_off(tuple(events))

    def _request(self, outgoing: Outgoing, more: Headers) -> HttpRequest:
        own = self._target.plain_headers(outgoing.text)
        if not outgoing.authorized:
            own = tuple(pair for pair in own if pair[0].lower() != b"authorization")
        headers = tuple(
            (name.encode("latin-1"), value.encode("utf-8", "surrogateescape"))
            for name, value in (*outgoing.headers, *(more if outgoing.authorized else ()))
        )
        path = f"{self._target.request_target}{outgoing.suffix}" if outgoing.suffix else None
        return HttpRequest(outgoing.verb, own + headers, outgoing.text, path)

    async def _connection(self) -> HttpConnection:
        while self._idle:
            idle = self._idle.pop()
            if idle.connection.alive and time.monotonic() - idle.since < _MAX_IDLE_S:
                return idle.connection
            await idle.connection.aclose()
        stream = await connect(self._target, self._limits)
        return HttpConnection(self._target, stream, self._tape, self._limits)

    async def _put_back(self, connection: HttpConnection) -> None:
        if connection.alive:
            self._idle.append(_Idle(connection, time.monotonic()))
        else:
            await connection.aclose()


@asynccontextmanager
async def http_channel(
    target: HttpTarget, tape: Tape, limits: Limits, authorizer: Authorizer | None
) -> AsyncIterator[HttpChannel]:
    """A channel to an endpoint; its connections are closed on leaving."""
    channel = HttpChannel(target, tape, limits, authorizer)
    try:
        yield channel
    finally:
        with anyio.CancelScope(shield=True):
            await channel.close()


def _receipt(answer: Answer) -> Receipt:
    event_id, retry_ms = _resumption(answer.events)
    return Receipt(
        status=answer.status,
        headers=tuple(
            (n.decode("latin-1"), v.decode("utf-8", "surrogateescape")) for n, v in answer.headers
        ),
        ending=answer.ending,
        detail=answer.detail,
        streamed=answer.media_type == "text/event-stream",
        last_event_id=event_id,
        retry_ms=retry_ms,
    )


def _cut_off(events: tuple[Event, ...]) -> Receipt:
    """The receipt of an exchange that this side broke off, by what the tape has of it."""
    event_id, retry_ms = _resumption(events)
    heads = [event.status for event in events if event.status is not None]
    return Receipt(
        status=heads[-1] if heads else None,
        ending=Ending.CUT,
        detail="the stream was cut",
        streamed=any(event.stream is not None for event in events),
        last_event_id=event_id,
        retry_ms=retry_ms,
    )


def _resumption(events: Iterable[Event]) -> tuple[str | None, int | None]:
    """The last event id and the reconnection time that the SSE events set."""
    event_id: str | None = None
    retry_ms: int | None = None
    for event in events:
        if event.kind is EventKind.SSE:
            if "id" in event.fields:
                event_id = event.fields["id"] or None
            retry_ms = event.fields.get("retry", retry_ms)
    return event_id, retry_ms
