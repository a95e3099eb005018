"""A server process as a channel: one line a message, responses found by their ids."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.abc import TaskGroup, TaskStatus

from clausewise.core.vocabulary import TransportKind
from clausewise.reference.client.channel import Receipt
from clausewise.reference.client.inbox import Inbox, Pending
from clausewise.reference.client.outgoing import Outgoing
from clausewise.trace.events import Event, EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.answers import Ending
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioProcess, open_process
from clausewise.transport.targets import StdioTarget

_MAX_RESTARTS = 3


class StdioChannel:
    """Launches the server, and again when it is asked to; made by `stdio_channel`."""

    kind = TransportKind.STDIO

    def __init__(
        self, target: StdioTarget, tape: Tape, limits: Limits, tasks: TaskGroup, *, orderly: bool
    ) -> None:
        self._orderly = orderly
        self._target = target
        self._tape = tape
        self._limits = limits
        self._tasks = tasks
        self._inbox: Inbox | None = None
        self._process: StdioProcess | None = None
        self._leaving = anyio.Event()
        self._left = anyio.Event()
        self._restarts = 0

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.alive

    def attach(self, inbox: Inbox, label: str | None) -> None:  # noqa: ARG002 - a process is one
        self._inbox = inbox

    async def launch(self) -> None:
        """Start the process.

        Raises:
            TargetError: it cannot be started.
        """
        await self._tasks.start(self._host)

    async def restart(self) -> bool:
        if self._restarts >= _MAX_RESTARTS:
            return False
        self._restarts += 1
        await self.close()
        self._leaving, self._left = anyio.Event(), anyio.Event()
        await self.launch()
        return True

    async def close(self) -> None:
        """Close stdin and wait for the process to exit; force it when it does not."""
        if self._process is not None:
            self._leaving.set()
            await self._left.wait()

    async def exchange(self, outgoing: Outgoing, asked: Pending | None, seconds: float) -> Receipt:
        process, inbox = self._process, self._inbox
        if process is None or inbox is None or not process.alive:
            return Receipt(ending=Ending.REFUSED, detail="the server process is gone")
        await process.send(outgoing.text, timeout_s=0)
        if asked is None:
            return Receipt()
        asked.sent.set()
        with anyio.move_on_after(seconds):
            await inbox.until(lambda: asked.response is not None or not process.alive)
        return _receipt(process, asked, seconds)

    async def listening(self, seconds: float) -> None:
        """There is nothing to wait for: the one stream is there from the start."""

    def cut(self, asked: Pending) -> bool:  # noqa: ARG002 - there are no streams
        return False

    async def _host(self, *, task_status: TaskStatus[None]) -> None:
        left, leaving = self._left, self._leaving
        try:
            async with open_process(self._target, self._tape, self._limits) as process:
                process.watch(self._take)
                self._process = process
                task_status.started()
                await leaving.wait()
                if not self._orderly:
                    await process.terminate()
        finally:
            left.set()

    def _take(self, event: Event) -> None:
        if self._inbox is None:
            return
        if event.kind is EventKind.MESSAGE:
            self._inbox.take(event)
        elif event.kind is EventKind.LIFECYCLE:
            self._inbox.wake()


@asynccontextmanager
async def stdio_channel(
    target: StdioTarget, tape: Tape, limits: Limits, *, orderly: bool = True
) -> AsyncIterator[StdioChannel]:
    """A channel to a process that is started now and ended on leaving.

    `orderly` closes its input first, as the specification wants it.

    Raises:
        TargetError: it cannot be started.
    """
    async with anyio.create_task_group() as tasks:
        channel = StdioChannel(target, tape, limits, tasks, orderly=orderly)
        await channel.launch()
        try:
            yield channel
        finally:
            with anyio.CancelScope(shield=True):
                await channel.close()


def _receipt(process: StdioProcess, asked: Pending, seconds: float) -> Receipt:
    if asked.response is not None:
        return Receipt()
    if process.alive:
        return Receipt(ending=Ending.TIMEOUT, detail=f"no answer in {seconds:g} s")
    code = process.exit_code
    gone = "the server closed its output" if code is None else f"the server exited with {code}"
    return Receipt(ending=Ending.RESET, detail=gone)
