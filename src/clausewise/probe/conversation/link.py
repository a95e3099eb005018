"""Connections and processes of a run: opened on demand, closed together at its end."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskStatus

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import TransportKind
from clausewise.probe.conversation.request import ABSENT, Request
from clausewise.probe.conversation.tempo import Tempo
from clausewise.trace.events import Event
from clausewise.trace.tape import Tape
from clausewise.transport.answers import Answer, Ending
from clausewise.transport.http import HttpConnection, open_connection
from clausewise.transport.limits import Limits
from clausewise.transport.pace import Pace
from clausewise.transport.stdio import StdioProcess, open_process
from clausewise.transport.targets import HttpRequest, HttpTarget, StdioTarget

Target = HttpTarget | StdioTarget
_MEMBERS = frozenset({"id", "result", "error"})
"""One of these is in whatever is meant as a response."""
Until = Callable[[Event], bool]

_IDS_APART = 10_000
"""The ids before the first of a legacy session are those of modern requests."""


class Use(Enum):
    """What a link is borrowed for."""

    OWN = "own"
    """A peer's own: it carries whatever the probes send, faults included."""
    BESIDE = "beside"
    """A second one: it carries conforming requests only, so that it can be compared."""


class Link:
    """One connection (HTTP) or one process (stdio), for one request at a time."""

    def __init__(self, target: Target, end: HttpConnection | StdioProcess, tempo: Tempo) -> None:
        self.target = target
        self._end = end
        self._tempo = tempo
        self._released = anyio.Event()
        self._linger_s = 0.0
        self._settled = True
        self._broken_off = False
        self.ended = anyio.Event()
        """Set once the connection is closed, or the process has exited."""

    @property
    def alive(self) -> bool:
        """Whether the server still holds the connection, or the process runs.

        One whose server broke off a stream before the response is not: it is about to close.
        """
        return self._end.alive and not self._released.is_set() and not self._broken_off

    @property
    def settled(self) -> bool:
        """Whether the link is alive and every request on it was answered."""
        return self.alive and self._settled

    async def send(
        self,
        request: Request,
        *,
        until: Until | None = None,
        timeout_s: float | None = None,
        session: str | None = None,
    ) -> Answer:
        """Send `request`, whose turn (`Links.pace`) it must be, and read its answer.

        See `HttpConnection.send`.
        On stdio only the body goes out, and a notification (no id) is given the quiet
        time instead of waiting for a response. `session` is HTTP's alone: on stdio the
        process is the session.
        """
        settled, self._settled, began = self._settled, False, anyio.current_time()
        if isinstance(self._end, StdioProcess):
            waiting = None if request.id is ABSENT else until
            answer = await self._end.send(
                request.body, until=waiting, timeout_s=timeout_s, injected=request.rule
            )
            self._settled = settled and (waiting is None or _is_answered(answer))
            self._time(request, answer, began)
            return answer
        assert isinstance(self.target, HttpTarget)
        plain = self.target.plain_headers(request.body)
        answer = await self._end.send(
            HttpRequest(request.verb, plain + request.headers, request.body, request.path),
            until=until,
            timeout_s=timeout_s,
            injected=request.rule,
            session=session,
        )
        self._settled = settled and answer.ending is Ending.COMPLETE
        self._broken_off = request.id is not ABSENT and _is_broken_off(answer)
        self._time(request, answer, began)
        return answer

    def _time(self, request: Request, answer: Answer, began: float) -> None:
        if answer.ending is Ending.COMPLETE:
            self._tempo.answered(request.method, anyio.current_time() - began)

    async def close(self, linger_s: float = 0.0) -> None:
        """Let go of the link: it closes in the background, at the latest with `Links`.

        What a process writes meanwhile is still recorded; it stays for `linger_s` seconds more.
        """
        self._linger_s = linger_s
        self._released.set()

    async def left(self) -> None:
        """Wait until `close` was called and the time to linger is over."""
        await self._released.wait()
        await anyio.sleep(self._linger_s)


class Links:
    """All links of a run; a context manager that closes what is still open.

    Each link lives in a task of its own, so that links may be opened and closed in any
    order, by any task. `pace` gives the turns of all requests: whoever sends one takes a turn
    first, and then a link, which the server may have closed meanwhile. `commands` has, by the
    `seq` of the events of answers, a command that lets them come again. `tempo` is how fast the
    server answers at the moment.
    """

    def __init__(
        self, target: Target, tape: Tape, limits: Limits, pace: Pace | None = None
    ) -> None:
        self.target = target
        self.tape = tape
        self.limits = limits
        self.pace = pace or Pace()
        self.commands: dict[int, str] = {}
        self.tempo = Tempo()
        self._tasks = anyio.create_task_group()
        self._open: set[Link] = set()
        self._ahead: list[Link] = []
        self._wanted_ahead = 0
        self._starting_ahead = anyio.Lock()
        self._sessions = itertools.count(1)
        self._idle: dict[Use, list[Link]] = {use: [] for use in Use}

    @property
    def transport(self) -> TransportKind:
        return TransportKind.HTTP if isinstance(self.target, HttpTarget) else TransportKind.STDIO

    def made_up(self, target: Target) -> frozenset[tuple[str, str]]:
        """The user headers of `target` that a probe has made up: the run's own lacks them."""
        if not isinstance(target, HttpTarget) or not isinstance(self.target, HttpTarget):
            return frozenset()
        return frozenset(target.headers) - frozenset(self.target.headers)

    async def open(self, target: Target | None = None) -> Link:
        """A new connection or process; to `target` where that is not the run's own.

        Nothing was sent on it yet. It may be one that `open_ahead` has opened.

        Raises:
            TargetError: it cannot be opened.
        """
        if target is not None:
            return await self._start(target)
        async with self._starting_ahead:
            link = await self._first_usable(self._ahead)
        if link is None:
            return await self._start(self.target)
        self._tasks.start_soon(self._open_next)
        return link

    async def open_ahead(self, count: int = 1) -> None:
        """Let processes start while others are at work: the next `open` gets one.

        The first of `count` starts now, each other one when that before it is in use. A process
        takes its time to start, a connection does not: over HTTP nothing is done.

        Raises:
            TargetError: the first cannot be opened.
        """
        if self.transport is TransportKind.STDIO:
            self._wanted_ahead += count
            await self._start_next()

    async def _open_next(self) -> None:
        with suppress(TargetError):  # Whoever needs it tries again.
            await self._start_next()

    async def _start_next(self) -> None:
        async with self._starting_ahead:
            if self._wanted_ahead and not self._ahead:
                self._wanted_ahead -= 1
                self._ahead.append(await self._start(self.target))

    def session_ids(self) -> Iterator[int]:
        """Ids for the requests of one legacy session, which no other request of the run has.

        A server may take sessions that run side by side for one when their ids are the same;
        one probe alone shall find that out.
        """
        return itertools.count(next(self._sessions) * _IDS_APART)

    async def borrow(self, use: Use) -> Link:
        """A link for one user at a time: a settled process of this use, else a new link.

        Starting a process is dear, a connection is cheap: only processes are used again.
        """
        return await self._first_usable(self._idle[use]) or await self.open()

    async def give_back(self, link: Link, use: Use) -> None:
        """End the use of a link; a settled process may be borrowed for `use` afterwards."""
        if self.transport is TransportKind.STDIO and link.settled:
            self._idle[use].append(link)
        else:
            await link.close()

    async def retire(self) -> None:
        """Close what may be borrowed: who borrows from now on gets a link that nobody has used."""
        for idle in self._idle.values():
            while idle:
                await idle.pop().close()

    async def _first_usable(self, links: list[Link]) -> Link | None:
        """Take out the first settled link; those before it are closed."""
        while links:
            link = links.pop(0)
            if link.settled:
                return link
            await link.close()
        return None

    async def _start(self, target: Target) -> Link:
        link: Link = await self._tasks.start(self._host, target)
        return link

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for link in self._open:
            await link.close()
        # Without the caller's exception, which the task group would wrap in a group.
        await self._tasks.__aexit__(None, None, None)

    async def _host(self, target: Target, *, task_status: TaskStatus[Link]) -> None:
        opened = (
            open_connection(target, self.tape, self.limits)
            if isinstance(target, HttpTarget)
            else open_process(target, self.tape, self.limits)
        )
        async with opened as end:
            link = Link(target, end, self.tempo)
            self._open.add(link)
            task_status.started(link)
            try:
                await link.left()
            finally:
                self._open.discard(link)
        link.ended.set()


def is_response(event: Event) -> bool:
    """Whether a message is a response, to whichever request; a log record on stdout is none."""
    message = event.payload
    if not isinstance(message, dict) or "method" in message:
        return False
    return not message.keys().isdisjoint(_MEMBERS)


def _is_broken_off(answer: Answer) -> bool:
    """Whether a stream of events has ended without the response that it was to bring."""
    streams = answer.media_type == "text/event-stream"
    return streams and answer.ending is Ending.COMPLETE and not _is_answered(answer)


def _is_answered(answer: Answer) -> bool:
    """Whether the awaited message came, and with it the response."""
    return answer.ending is Ending.COMPLETE and any(map(is_response, answer.messages))
