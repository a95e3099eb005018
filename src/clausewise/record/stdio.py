"""Stand between a client and the stdio server that it starts.

The server gets a process group of its own. What the client does to the recorder happens to the
server: bytes, the end of a stream, a reader that went away, signals; and the other way round,
up to the exit status.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import IO

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.record.journal import Journal
from clausewise.record.lines import MessageLog, StderrLog
from clausewise.record.pump import Pump, PumpEnd
from clausewise.trace.events import Lifecycle
from clausewise.trace.tape import Track
from clausewise.transport.launch import unlaunchable
from clausewise.transport.limits import Limits
from clausewise.transport.targets import StdioTarget

_CLIENT = Direction.CLIENT_TO_SERVER
_SERVER = Direction.SERVER_TO_CLIENT
_TRACK = Track(TransportKind.STDIO, "process-1")

_ENDING = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT})
_HANDED_ON = _ENDING | {signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH}
_A_PUMP_ENDED = 0
_PR_SET_PDEATHSIG = 1


def record_process(command: Sequence[str], journal: Journal, limits: Limits = Limits()) -> int:
    """Run the server with this process's standard streams as its own, and record them.

    Standard input and output are used up: from then on they are `/dev/null`.

    Returns:
        The server's exit status: its code, or minus the number of the signal that ended it.

    Raises:
        TargetError: the command cannot be started.
    """
    wake_reader, wake_writer = os.pipe()
    os.set_blocking(wake_writer, False)
    try:
        with _signals_into(wake_writer):
            process = _start(command)
            session = _Session(process, journal, limits, wake_reader, wake_writer)
            return session.run()
    finally:
        os.close(wake_reader)
        os.close(wake_writer)


class _Session:
    """One run of the server: its process and three pumps, watched by the main thread.

    `wake_reader` gives a byte for each thing that happened: a signal's number, or 0 when a
    pump ended.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        journal: Journal,
        limits: Limits,
        wake_reader: int,
        wake_writer: int,
    ) -> None:
        self._process = process
        self._journal = journal
        self._limits = limits
        self._wake = wake_reader
        self._given_up = False
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        tape, longest = journal.tape, limits.max_line_bytes

        def ended() -> None:
            _wake_with(wake_writer, _A_PUMP_ENDED)

        self._stdin = Pump(
            _taken_over(0),
            _detached(process.stdin),
            MessageLog(tape, _TRACK, _CLIENT, longest),
            journal.lock,
            at_end=self._stdin_ended,
            ended=ended,
        )
        self._stdout = Pump(
            _detached(process.stdout),
            _taken_over(1),
            MessageLog(tape, _TRACK, _SERVER, longest),
            journal.lock,
            ended=ended,
        )
        # Standard error stays open beside it, for what the recorder itself has to say.
        self._stderr = Pump(
            _detached(process.stderr), os.dup(2), StderrLog(tape, _TRACK), journal.lock, ended=ended
        )
        self._pumps = (self._stdin, self._stdout, self._stderr)

    def run(self) -> int:
        """Pass everything on until the process has exited and its output has ended."""
        self._lifecycle(_CLIENT, Lifecycle.OPEN)
        for pump in self._pumps:
            pump.start()
        self._until_exit()
        outputs = (self._stdout, self._stderr)
        self._wait_for_end(outputs, self._limits.exit_s)
        self._end_group()
        for pump in self._pumps:
            pump.stop()
        # A client that does not read its server's last words is waited for, until a signal.
        self._wait_for_end(outputs, None)
        self._wait_for_end((self._stdin,), self._limits.exit_s)
        code = self._process.returncode
        self._lifecycle(_SERVER, Lifecycle.EXIT, code)
        for pump in self._pumps:
            if pump.done:
                pump.release()
        return int(code)

    def _until_exit(self) -> None:
        """Wait for the exit; note when stdout ended well before it."""
        note_at: float | None = None
        noted = False
        while self._process.poll() is None:
            self._attend(None if note_at is None else note_at - time.monotonic())
            if noted or not self._stdout.done:
                continue
            if note_at is None:
                note_at = time.monotonic() + self._limits.exit_s
            elif time.monotonic() >= note_at and self._process.poll() is None:
                self._lifecycle(_SERVER, Lifecycle.CLOSE)
                note_at, noted = None, True

    def _wait_for_end(self, pumps: Sequence[Pump], seconds: float | None) -> None:
        deadline = None if seconds is None else time.monotonic() + seconds
        while not all(pump.done for pump in pumps) and not self._given_up:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return
            self._attend(left)

    def _attend(self, seconds: float | None) -> None:
        """Wait for something to happen, and hand signals on."""
        timeout = None if seconds is None else max(seconds, 0)
        if not select.select([self._wake], [], [], timeout)[0]:
            return
        for happened in os.read(self._wake, 64):
            if happened in _HANDED_ON:
                self._hand_on(signal.Signals(happened))

    def _hand_on(self, number: signal.Signals) -> None:
        if self._process.poll() is not None:
            self._given_up = self._given_up or number in _ENDING
            return
        if number in _ENDING:
            self._lifecycle(_CLIENT, Lifecycle.ABORT)
        self._process.send_signal(number)

    def _end_group(self) -> None:
        # The server led a group of its own, so its pid names the group even after it exited.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _stdin_ended(self, end: PumpEnd) -> None:
        if end is PumpEnd.SOURCE_ENDED:
            self._journal.tape.lifecycle(_TRACK, _CLIENT, Lifecycle.CLOSE)

    def _lifecycle(self, side: Direction, what: Lifecycle, code: int | None = None) -> None:
        with self._journal.lock:
            self._journal.tape.lifecycle(_TRACK, side, what, code)


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    if not command:
        raise TargetError("the command is empty", "Give the server's command after --.")
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            command,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            start_new_session=True,
            # No thread runs yet, so running code between fork and exec is safe.
            preexec_fn=_die_with_parent(),  # noqa: PLW1509
        )
    except (OSError, ValueError) as error:
        raise unlaunchable(StdioTarget(tuple(command)), error) from None


def _die_with_parent() -> Callable[[], None] | None:
    """What makes the server end when the recorder is killed, as the server itself would have."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    return lambda: prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))


@contextmanager
def _signals_into(wake_writer: int) -> Iterator[None]:
    """While open, signals to hand on, and the server's exit, are bytes in `wake_writer`."""
    numbers = [*_HANDED_ON, signal.SIGCHLD]
    before = {n: h for n in numbers if (h := signal.getsignal(n)) is not signal.SIG_IGN}
    before[signal.SIGCHLD] = signal.getsignal(signal.SIGCHLD)
    for number in before:
        signal.signal(number, _take_no_action)
    wakeup_before = signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakeup_before)
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def _take_no_action(_number: int, _frame: FrameType | None) -> None:
    """The number is in the wakeup descriptor."""


def _wake_with(wake_writer: int, byte: int) -> None:
    with suppress(BlockingIOError):
        os.write(wake_writer, bytes((byte,)))


def _taken_over(number: int) -> int:
    """Another descriptor for a standard stream, which becomes `/dev/null`."""
    copy = os.dup(number)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, number)
    os.close(null)
    return copy


def _detached(pipe: IO[bytes]) -> int:
    """The descriptor of a pipe's end, for its new owner."""
    number = os.dup(pipe.fileno())
    pipe.close()
    return number
