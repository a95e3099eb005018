"""The steps of a recording as lines, to one process for each lane."""

from __future__ import annotations

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from clausewise.replay.live import Live
from clausewise.replay.script import Act, Lane, Step
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioProcess, StdioTarget, open_process


class StdioChannel:
    """Launches the server when a lane begins; leaving the context ends every process."""

    has_heads = False

    def __init__(self, target: StdioTarget, tape: Tape, live: Live, limits: Limits) -> None:
        self._target = target
        self._tape = tape
        self._live = live
        self._limits = limits
        self._processes: dict[Lane, StdioProcess] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._stack.__aexit__(kind, error, trace)

    def has_ended(self, step: Step) -> bool:
        """Whether the process that the step spoke to is gone."""
        process = self._processes.get(step.lane)
        return process is not None and not process.alive

    async def send(self, step: Step, body: bytes) -> None:
        """Write the message of `step`, or end its process; what stdio has not is passed over.

        Raises:
            TargetError: the server cannot be launched.
        """
        if step.act is Act.MESSAGE:
            process = await self._process(step.lane)
            self._live.sends(step, None)
            await process.send(body, timeout_s=0)
        elif step.act is Act.CLOSE and step.lane in self._processes:
            await self._processes[step.lane].close()

    async def reply(self, lane: Lane, body: bytes) -> None:
        """Answer a request of the server that the recording does not have."""
        await (await self._process(lane)).send(body, timeout_s=0)

    async def _process(self, lane: Lane) -> StdioProcess:
        if lane not in self._processes:
            opened = open_process(self._target, self._tape, self._limits)
            process = await self._stack.enter_async_context(opened)
            self._live.process_begins(process.session, lane)
            process.watch(lambda _: self._live.stir())
            self._processes[lane] = process
        return self._processes[lane]
