"""Legacy sessions: what one client negotiated, its requests in progress, what it was asked."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio

from clausewise.reference.http_layer import ClientGoneError
from clausewise.reference.legacy.streams import EventHistory, SessionStream
from clausewise.reference.messages import JsonObject, RequestId
from clausewise.wire.jsonrpc import IdKey, id_key


@dataclass(slots=True)
class Question:
    """A request to the client that waits for its response."""

    answered: anyio.Event = field(default_factory=anyio.Event)
    response: JsonObject = field(default_factory=dict)


@dataclass(slots=True)
class LegacySession:
    """One session: from `initialize` to DELETE, eviction or the end of the process.

    Attributes:
        version: the negotiated protocol version.
        initialized: whether `notifications/initialized` has arrived.
        history: the event streams, of which a client may resume any.
        principal: whose token opened it, of client and user; "" on a server without tokens.
        send: sends what belongs to no request, while the client listens for that.
        standalone: the newest stream that belongs to no request, if one was ever opened.
        listener: cancels the GET request that carries `standalone`, if there is one.
    """

    id: str
    version: str
    client_capabilities: JsonObject
    principal: str = ""
    initialized: bool = False
    log_level: str = "info"
    subscriptions: set[str] = field(default_factory=set)
    in_progress: dict[IdKey, anyio.CancelScope] = field(default_factory=dict)
    questions: dict[IdKey, Question] = field(default_factory=dict)
    history: EventHistory = field(default_factory=EventHistory)
    standalone: SessionStream | None = None
    listener: anyio.CancelScope | None = None
    send: Callable[[JsonObject], Awaitable[None]] | None = None
    _afterwards: dict[IdKey, Callable[[], None]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def owner(self) -> str:
        """To whom belongs what outlives a request: the principal, or else this session."""
        return self.principal or self.id

    async def post(self, message: JsonObject) -> None:
        """Send a message that belongs to no request; a client that does not listen misses it."""
        if self.send is not None and self.initialized:
            with suppress(ClientGoneError):
                await self.send(message)

    def after(self, request_id: RequestId, step: Callable[[], None]) -> None:
        """Take `step` once the request in progress has been answered."""
        self._afterwards[id_key(request_id)] = step

    def answered(self, request_id: RequestId) -> None:
        """The request has been answered."""
        step = self._afterwards.pop(id_key(request_id), None)
        if step is not None:
            step()

    def next_number(self) -> int:
        """A number this session has not used yet, for ids of requests."""
        return next(self._numbers)

    def take_response(self, message: JsonObject) -> bool:
        """Hand a client's response to the question it answers; whether there was one."""
        question = self.questions.pop(id_key(message.get("id")), None)
        if question is None:
            return False
        question.response = message
        question.answered.set()
        return True

    def cancel(self, request_id: Any) -> None:
        """Stop a request in progress; an unknown id is ignored."""
        scope = self.in_progress.pop(id_key(request_id), None)
        if scope is not None:
            scope.cancel()

    def close(self) -> None:
        """Stop everything that runs in this session."""
        for scope in self.in_progress.values():
            scope.cancel()
        if self.listener is not None:
            self.listener.cancel()
        self.history.close()


class Sessions:
    """The sessions alive on the HTTP endpoint, by id; bounded, the oldest goes first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._alive: dict[str, LegacySession] = {}

    def open(
        self, version: str, client_capabilities: JsonObject, principal: str = ""
    ) -> LegacySession:
        """A new session under an id that cannot be guessed."""
        while len(self._alive) >= self._limit:
            self.end(next(iter(self._alive)))
        session_id = secrets.token_urlsafe(24)
        session = LegacySession(session_id, version, client_capabilities, principal)
        self._alive[session.id] = session
        return session

    def find(self, session_id: str, principal: str = "") -> LegacySession | None:
        """The session of that id, if `principal` opened it."""
        session = self._alive.get(session_id)
        return session if session is not None and session.principal == principal else None

    def end(self, session_id: str) -> None:
        """End the session; its id is dead from now on."""
        session = self._alive.pop(session_id, None)
        if session is not None:
            session.close()
