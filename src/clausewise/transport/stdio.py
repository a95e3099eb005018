"""The client end of stdio: a server process, lines in and out, stderr kept.

Source: basic/transports/stdio (2026-07-28), basic/lifecycle#shutdown (2025-11-25).
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from enum import StrEnum

import anyio
from anyio.abc import ByteReceiveStream, Process

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import Event, Lifecycle
from clausewise.trace.tape import Tape, Track
from clausewise.transport.answers import Answer, Ending
from clausewise.transport.launch import launch
from clausewise.transport.limits import Limits
from clausewise.transport.output import OutputLog, StderrLog
from clausewise.transport.recording import Recording, record_message
from clausewise.transport.targets import StdioTarget

__all__ = ["StdioProcess", "StdioTarget", "Stop", "open_process"]

_CLIENT = Direction.CLIENT_TO_SERVER
_SERVER = Direction.SERVER_TO_CLIENT


class Stop(StrEnum):
    """What it took for the process to exit."""

    ITSELF = "itself"
    """It exited before it was asked to."""
    STDIN_CLOSED = "stdin-closed"
    SIGTERM = "sigterm"
    SIGKILL = "sigkill"


class _Collector:
    """Gathers the events of one answer until something ends it."""

    def __init__(self, recording: Recording, max_events: int) -> None:
        self.recording = recording
        self.done = anyio.Event()
        self._max_events = max_events
        self._ending: Ending | None = None
        self._detail = ""

    def take(self, event: Event) -> None:
        self.recording.keep(event)
        if self.recording.awaited_came:
            self.end(Ending.COMPLETE)
        elif self.recording.count > self._max_events:
            self.end(Ending.LIMIT, f"more than {self._max_events} events")

    def end(self, ending: Ending, detail: str = "") -> None:
        """The first ending counts."""
        if self._ending is None:
            self._ending, self._detail = ending, detail
            self.done.set()

    def answer(self) -> Answer:
        """The answer; something must have ended it."""
        assert self._ending is not None
        return Answer(
            exchange=None,
            status=None,
            headers=(),
            body=b"",
            messages=self.recording.messages,
            events=self.recording.events,
            ending=self._ending,
            detail=self._detail,
        )


class StdioProcess:
    """A running server process; made by `open_process`."""

    def __init__(self, process: Process, tape: Tape, limits: Limits) -> None:
        self._process = process
        self._tape = tape
        self._limits = limits
        self._track = Track(TransportKind.STDIO, _session_label(tape))
        self._output = OutputLog(tape, self._track, limits)
        self._stderr = StderrLog(tape, self._track)
        self._collectors: list[_Collector] = []
        self._observers: list[Callable[[Event], None]] = []
        self._stdout_ended = anyio.Event()
        self._stderr_ended = anyio.Event()
        self._exited = anyio.Event()
        self._exit_recorded = anyio.Event()
        self._asked = Stop.ITSELF
        self._stopped_by: Stop | None = None
        tape.lifecycle(self._track, _CLIENT, Lifecycle.OPEN)

    @property
    def session(self) -> str:
        """The label of this process's events on the tape: `process-1` and so on."""
        return self._track.session or ""

    @property
    def alive(self) -> bool:
        """Whether the process runs, its stdout is open and its stdin was not closed."""
        ended = self._exited.is_set() or self._stdout_ended.is_set()
        return not ended and self._asked is Stop.ITSELF

    @property
    def exit_code(self) -> int | None:
        """The exit code, minus the signal number when a signal ended it; None while running."""
        return self._process.returncode

    @property
    def stopped_by(self) -> Stop | None:
        """What it took for the process to exit; None while it runs."""
        return self._stopped_by

    @property
    def stderr_tail(self) -> str:
        """The last 4 KiB of stderr."""
        return self._stderr.tail

    async def send(
        self,
        text: bytes,
        *,
        until: Callable[[Event], bool] | None = None,
        timeout_s: float | None = None,
        injected: str | None = None,
    ) -> Answer:
        """Write `text` and a newline, then collect events.

        Args:
            text: one message, recorded before it is written; nothing is checked.
            until: called with each message event from the server; once it is true the
                answer is COMPLETE. Without it, collecting lasts `timeout_s` or `quiet_s`
                and ends CUT.
            timeout_s: seconds for the whole answer instead of the limits' `answer_s`; 0
                to write the line only.
            injected: why this line breaks the rules on purpose; recorded with it.

        Returns:
            The answer, without status, headers or body. Never raises for what the
            process does: when it has exited, the ending is RESET (it exited meanwhile)
            or REFUSED (before), and `detail` has its exit code and last stderr.
        """
        collector = self._collector(until)
        if not self.alive:
            collector.end(Ending.REFUSED, self._end_in_words())
            return collector.answer()
        track = replace(self._track, injected=injected)
        collector.recording.keep(record_message(self._tape, track, _CLIENT, text))
        default_s = self._limits.quiet_s if until is None else self._limits.answer_s
        seconds = default_s if timeout_s is None else timeout_s
        return await self._collect(collector, seconds, until is not None, text + b"\n")

    async def listen(self, seconds: float, until: Callable[[Event], bool] | None = None) -> Answer:
        """Collect events for `seconds`, or until `until` is true of a message from the server.

        The ending is COMPLETE when `until` came true, TIMEOUT when it did not, CUT
        without one; RESET or REFUSED as in `send`.
        """
        collector = self._collector(until)
        if not self.alive:
            collector.end(Ending.REFUSED, self._end_in_words())
            return collector.answer()
        return await self._collect(collector, seconds, until is not None)

    def watch(self, observer: Callable[[Event], None]) -> None:
        """Tell `observer` of each event of the process from now on, whoever waits for it."""
        self._observers.append(observer)

    async def close(self) -> Stop:
        """Close stdin, wait, SIGTERM, wait, SIGKILL; then end what is left of its group."""
        with anyio.CancelScope(shield=True):
            steps = (
                (Stop.STDIN_CLOSED, self._close_stdin),
                (Stop.SIGTERM, self.terminate),
                (Stop.SIGKILL, self._kill),
            )
            for stop, step in steps:
                if self._exited.is_set():
                    break
                self._asked = stop
                await step()
                await _wait_for(self._limits.exit_s, self._exited)
            await self._kill()
            await _wait_for(self._limits.exit_s, self._exit_recorded)
        return self._stopped_by or Stop.SIGKILL

    async def release(self) -> None:
        """Free the pipes; the process must have been closed."""
        await self._process.aclose()

    async def pump(self) -> None:
        """Read stdout and stderr and watch for the exit, until all three have ended."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._pump_stdout)
            tasks.start_soon(self._pump_stderr)
            tasks.start_soon(self._watch_exit)

    async def _pump_stdout(self) -> None:
        while (chunk := await _receive(self._process.stdout)) is not None:
            self._tell(self._output.feed(chunk))
            if self._output.dropping:
                self._end_all(Ending.LIMIT, self._output.overflow or "")
        self._tell(self._output.close())
        self._stdout_ended.set()
        await _wait_for(self._limits.exit_s, self._exit_recorded)
        if not self._exited.is_set():
            self._tell([self._tape.lifecycle(self._track, _SERVER, Lifecycle.CLOSE)])
            self._end_all(Ending.RESET, self._end_in_words())

    async def _pump_stderr(self) -> None:
        while (chunk := await _receive(self._process.stderr)) is not None:
            self._tell(self._stderr.feed(chunk))
        self._tell(self._stderr.close())
        self._stderr_ended.set()

    async def _watch_exit(self) -> None:
        code = await self._process.wait()
        self._stopped_by = self._asked
        self._exited.set()
        # What it wrote before it exited comes first; but a child may hold the pipes open.
        await _wait_for(self._limits.exit_s, self._stdout_ended, self._stderr_ended)
        self._tell([self._tape.lifecycle(self._track, _SERVER, Lifecycle.EXIT, code)])
        self._exit_recorded.set()
        self._end_all(Ending.RESET, self._end_in_words())

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            for collector in self._collectors:
                collector.take(event)
            for observer in self._observers:
                observer(event)

    def _end_all(self, ending: Ending, detail: str) -> None:
        for collector in self._collectors:
            collector.end(ending, detail)

    def _collector(self, until: Callable[[Event], bool] | None) -> _Collector:
        return _Collector(Recording(self._tape, self._track, until), self._limits.max_events)

    async def _collect(
        self, collector: _Collector, seconds: float, awaits: bool, line: bytes | None = None
    ) -> Answer:
        self._output.allow_more()
        self._collectors.append(collector)
        try:
            with anyio.move_on_after(seconds or self._limits.answer_s):
                if line is not None:
                    await self._write(line)
                if seconds:
                    await collector.done.wait()
        finally:
            self._collectors.remove(collector)
        if awaits and self._output.overflow is not None:
            collector.end(Ending.LIMIT, self._output.overflow)
        elif awaits:
            collector.end(Ending.TIMEOUT, f"no answer in {seconds:g} s")
        else:
            collector.end(Ending.CUT, f"listened for {seconds:g} s")
        return collector.answer()

    async def _write(self, line: bytes) -> None:
        """Write a line; a process that closed its stdin may still answer, or exit."""
        assert self._process.stdin is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            await self._process.stdin.send(line)

    def _end_in_words(self) -> str:
        code = self._process.returncode
        if code is None:
            closed_by_us = self._asked is not Stop.ITSELF
            what = "its stdin was closed" if closed_by_us else "it closed its stdout"
        elif code < 0:
            what = f"the process was ended by signal {-code}"
        else:
            what = f"the process exited with code {code}"
        return f"{what}; its stderr ends: {self.stderr_tail}" if self.stderr_tail else what

    async def _close_stdin(self) -> None:
        assert self._process.stdin is not None
        self._tape.lifecycle(self._track, _CLIENT, Lifecycle.CLOSE)
        with suppress(OSError):
            await self._process.stdin.aclose()

    async def terminate(self) -> None:
        """Send SIGTERM at once; `close` does so in its order."""
        self._tape.lifecycle(self._track, _CLIENT, Lifecycle.ABORT)
        self._signal_group(signal.SIGTERM)

    async def _kill(self) -> None:
        self._signal_group(signal.SIGKILL)

    def _signal_group(self, number: signal.Signals) -> None:
        # The process leads a group of its own, so its pid names the group even after it exited.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


@asynccontextmanager
async def open_process(
    target: StdioTarget, tape: Tape, limits: Limits = Limits()
) -> AsyncIterator[StdioProcess]:
    """Launch the server in a process group of its own; the group is gone on leaving.

    Raises:
        TargetError: the command is empty, does not exist or cannot be executed, or the
            folder does not exist.
    """
    failure: BaseException | None = None
    process = StdioProcess(await launch(target), tape, limits)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(process.pump)
            try:
                yield process
            finally:
                await process.close()
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # The task group wraps what the caller raised; the caller gets it back as it was.
        failure = group.exceptions[0] if len(group.exceptions) == 1 else group
    finally:
        with anyio.CancelScope(shield=True):
            await process.release()
    if failure is not None:
        raise failure


def _session_label(tape: Tape) -> str:
    opened = sum(
        event.transport is TransportKind.STDIO and event.fields.get("event") == Lifecycle.OPEN
        for event in tape.events
    )
    return f"process-{opened + 1}"


async def _receive(stream: ByteReceiveStream | None) -> bytes | None:
    """The next bytes, or None at the end of the stream."""
    assert stream is not None
    try:
        return await stream.receive()
    except (anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        return None


async def _wait_for(seconds: float, *events: anyio.Event) -> None:
    with anyio.move_on_after(seconds):
        for event in events:
            await event.wait()
