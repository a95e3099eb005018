"""A server process over stdio: lines both ways, every kind of trouble, an orderly end."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest
from tests.transport.processes import (
    ECHO,
    FOREVER,
    IN,
    LIMITS,
    OUT,
    PING,
    any_message,
    lifecycle,
    of_kind,
    server,
)

from clausewise.core.errors import TargetError
from clausewise.trace.events import EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.answers import Ending, blocked_reason
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioTarget, Stop, open_process

pytestmark = pytest.mark.anyio


def exists(pid: int) -> bool:
    """Whether the process runs (a zombie that nobody reaps does not)."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in "ZX"


async def ended(pid: int) -> bool:
    with anyio.move_on_after(5):
        while exists(pid):
            await anyio.lowlevel.checkpoint()
    return not exists(pid)


async def test_a_line_out_and_its_answer_are_recorded_in_order() -> None:
    tape = Tape()
    async with open_process(server(ECHO), tape, LIMITS) as process:
        assert process.alive
        answer = await process.send(PING, until=any_message, injected="none really")
        assert answer.ending is Ending.COMPLETE
        assert (answer.status, answer.headers, answer.body) == (None, (), b"")
        response = answer.response_to(1)
        assert response is not None
        assert response.direction is IN
        assert answer.events[0].text == PING
        assert answer.events[0].injected == "none really"
        assert response.injected is None
    assert [e.kind for e in tape.events] == [
        EventKind.LIFECYCLE,
        EventKind.MESSAGE,
        EventKind.MESSAGE,
        EventKind.LIFECYCLE,
        EventKind.LIFECYCLE,
    ]
    assert lifecycle(tape) == [
        (OUT, "transport-open", None),
        (OUT, "transport-close", None),
        (IN, "process-exit", 0),
    ]
    assert {e.session for e in tape.events} == {"process-1"}
    assert (process.exit_code, process.stopped_by) == (0, Stop.STDIN_CLOSED)
    assert not process.alive


async def test_each_process_is_a_session_of_its_own() -> None:
    tape = Tape()
    for number in (1, 2):
        async with open_process(server(ECHO), tape, LIMITS) as process:
            assert process.session == f"process-{number}"


async def test_two_requests_at_once_each_get_their_answer() -> None:
    answers = {}

    async with open_process(server(ECHO), Tape(), LIMITS) as process:

        async def ask(number: int) -> None:
            line = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number
            answers[number] = await process.send(
                line, until=lambda e: e.payload.get("id") == number
            )

        async with anyio.create_task_group() as tasks:
            for number in (1, 2, 3):
                tasks.start_soon(ask, number)
    assert [answers[n].ending for n in (1, 2, 3)] == [Ending.COMPLETE] * 3
    assert all(answers[n].response_to(n) is not None for n in (1, 2, 3))


async def test_every_odd_line_is_kept_for_what_it_is() -> None:
    script = """
        out(b'{"a":1}\\r\\n\\n  \\nhello\\n\\xff\\n[1]\\n')
        out('"\\u2028"\\n{"partial":'.encode())
    """
    tape = Tape()
    async with open_process(server(script), tape, LIMITS) as process:
        answer = await process.listen(5)
    assert answer.ending is Ending.RESET
    assert [e.payload for e in of_kind(tape, EventKind.MESSAGE)] == [{"a": 1}, [1], "\u2028"]
    assert of_kind(tape, EventKind.MESSAGE)[0].text == b'{"a":1}\r'
    raw = [e.fields for e in of_kind(tape, EventKind.RAW)]
    assert [f.get("text", f.get("base64")) for f in raw] == [
        "",
        "  ",
        "hello",
        "/w==",
        '{"partial":',
    ]
    assert [f["why"].partition(":")[0] for f in raw] == [
        "a blank line",
        "a blank line",
        "no JSON",
        "no JSON",
        "cut short",
    ]


async def test_a_server_that_exits_at_once_says_how_and_what_it_complained_about() -> None:
    script = """
        sys.stderr.write("no config\\n")
        sys.exit(3)
    """
    tape = Tape()
    async with open_process(server(script), tape, LIMITS) as process:
        answer = await process.send(PING, until=any_message)
        again = await process.send(PING, until=any_message)
        heard = await process.listen(5)
    assert answer.ending is Ending.RESET
    assert answer.detail == "the process exited with code 3; its stderr ends: no config"
    assert blocked_reason(answer) == f"the connection broke: {answer.detail}"
    assert (again.ending, again.detail, again.events) == (Ending.REFUSED, answer.detail, ())
    assert heard.ending is Ending.REFUSED
    assert process.stderr_tail == "no config"
    assert (process.exit_code, process.stopped_by) == (3, Stop.ITSELF)
    assert [e.fields["text"] for e in of_kind(tape, EventKind.STDERR)] == ["no config"]
    assert lifecycle(tape) == [(OUT, "transport-open", None), (IN, "process-exit", 3)]


async def test_a_server_ended_by_a_signal_says_which() -> None:
    script = "os.kill(os.getpid(), signal.SIGKILL)"
    async with open_process(server(script), Tape(), LIMITS) as process:
        answer = await process.send(PING, until=any_message)
    assert answer.detail == "the process was ended by signal 9"
    assert process.exit_code == -9


async def test_a_server_that_closes_its_stdout_but_runs_on_is_a_reset() -> None:
    script = """
        os.close(1)
        for line in sys.stdin: pass
    """
    tape = Tape()
    async with open_process(server(script), tape, Limits(exit_s=0.2)) as process:
        answer = await process.send(PING, until=any_message)
    assert (answer.ending, answer.detail) == (Ending.RESET, "it closed its stdout")
    assert (IN, "transport-close", None) in lifecycle(tape)


async def test_a_server_that_closes_its_stdin_may_still_answer() -> None:
    script = """
        sys.stdin.readline()
        os.close(0)
        out(b'{"ready":1}\\n')
        signal.pause()
    """
    limits = Limits(answer_s=0.3, exit_s=0.05)
    async with open_process(server(script), Tape(), limits) as process:
        first = await process.send(PING, until=any_message, timeout_s=8)
        second = await process.send(PING, until=any_message)
    assert first.ending is Ending.COMPLETE
    assert second.ending is Ending.TIMEOUT


async def test_a_server_that_never_answers_runs_into_the_deadline() -> None:
    async with open_process(server("sys.stdin.read()"), Tape(), LIMITS) as process:
        answer = await process.send(PING, until=any_message, timeout_s=0.05)
    assert (answer.ending, answer.detail) == (Ending.TIMEOUT, "no answer in 0.05 s")
    assert len(answer.events) == 1


async def test_a_notification_is_followed_by_a_short_listening() -> None:
    async with open_process(server(ECHO), Tape(), LIMITS) as process:
        answer = await process.send(PING, timeout_s=5, until=any_message)
        notified = await process.send(b'{"jsonrpc":"2.0","id":2,"method":"notifications/x"}')
        quiet = await process.listen(0.01, until=lambda e: e.payload.get("id") == 9)
    assert answer.ending is Ending.COMPLETE
    assert notified.ending is Ending.CUT
    assert quiet.ending is Ending.TIMEOUT


async def test_a_line_may_be_written_without_waiting_for_what_follows() -> None:
    limits = Limits(answer_s=8, quiet_s=8)
    async with open_process(server(ECHO), Tape(), limits) as process:
        with anyio.fail_after(4):
            written = await process.send(PING, timeout_s=0)
        later = await process.listen(8, until=lambda e: e.payload.get("id") == 1)
    assert (written.ending, len(written.events)) == (Ending.CUT, 1)
    assert later.ending is Ending.COMPLETE


async def test_a_server_deaf_to_closed_stdin_gets_sigterm() -> None:
    script = """
        out(b'{"ready":1}\\n')
        signal.pause()
    """
    tape = Tape()
    limits = Limits(answer_s=8, quiet_s=0.05, exit_s=0.5)
    async with open_process(server(script), tape, limits) as process:
        await process.listen(8, until=any_message)
        assert await process.close() is Stop.SIGTERM
        assert await process.close() is Stop.SIGTERM
    assert process.exit_code == -signal.SIGTERM
    assert lifecycle(tape) == [
        (OUT, "transport-open", None),
        (OUT, "transport-close", None),
        (OUT, "transport-abort", None),
        (IN, "process-exit", -signal.SIGTERM),
    ]


async def test_a_server_deaf_to_sigterm_gets_sigkill() -> None:
    script = """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        out(b'{"ready":1}\\n')
        while True:
            signal.pause()
    """
    limits = Limits(answer_s=8, quiet_s=0.05, exit_s=0.5)
    async with open_process(server(script), Tape(), limits) as process:
        await process.listen(8, until=any_message)
    assert (process.stopped_by, process.exit_code) == (Stop.SIGKILL, -signal.SIGKILL)


CHILD = """
    child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    out(b'{"child":%d}\\n' % child.pid)
"""


async def test_children_left_behind_are_gone_too() -> None:
    tape = Tape()
    async with open_process(server(CHILD), tape, Limits(exit_s=0.2)) as process:
        answer = await process.listen(8, until=any_message)
        child = answer.messages[0].payload["child"]
        gone = await process.listen(8)
        assert gone.detail == "the process exited with code 0"
        assert exists(child)
    assert await ended(child)
    assert process.stopped_by is Stop.ITSELF


async def test_a_child_that_escaped_but_holds_the_pipes_does_not_delay_the_end() -> None:
    script = CHILD.replace('signal.pause()"]', 'signal.pause()"], start_new_session=True')
    tape = Tape()
    async with open_process(server(script), tape, Limits(exit_s=0.2)) as process:
        answer = await process.listen(8, until=any_message)
        gone = await process.listen(8)
    child = answer.messages[0].payload["child"]
    os.kill(child, signal.SIGKILL)
    assert gone.detail == "the process exited with code 0"
    assert lifecycle(tape)[-1] == (IN, "process-exit", 0)


async def test_an_error_of_the_caller_comes_out_as_it_is_and_leaves_nothing_running() -> None:
    pid = 0
    limits = Limits(answer_s=8, exit_s=0.5)
    with pytest.raises(LookupError, match="of the caller") as caught:
        async with open_process(server(CHILD + FOREVER), Tape(), limits) as process:
            answer = await process.listen(8, until=any_message)
            pid = answer.messages[0].payload["child"]
            raise LookupError("of the caller") from KeyError("its cause")
    assert isinstance(caught.value.__cause__, KeyError)
    assert await ended(pid)
    assert process.stopped_by is Stop.SIGTERM


async def test_cancellation_leaves_nothing_running() -> None:
    limits = Limits(answer_s=8, exit_s=0.5)
    pid = 0
    with anyio.move_on_after(30) as scope:
        async with open_process(server(CHILD + FOREVER), Tape(), limits) as process:
            answer = await process.listen(8, until=any_message)
            pid = answer.messages[0].payload["child"]
            scope.cancel()
            await process.listen(8)
    assert scope.cancelled_caught
    assert await ended(pid)
    assert process.exit_code is not None


async def test_the_command_runs_in_its_folder_with_its_variables(tmp_path: Path) -> None:
    script = """
        out(json.dumps([os.getcwd(), os.environ["MINE"], "PATH" in os.environ]).encode() + b"\\n")
    """
    target = server(script, cwd=str(tmp_path), env={"MINE": "yes"})
    async with open_process(target, Tape(), LIMITS) as process:
        answer = await process.listen(8, until=any_message)
    assert answer.messages[0].payload == [str(tmp_path), "yes", True]


async def unlaunchable(target: StdioTarget) -> TargetError:
    tape = Tape()
    with pytest.raises(TargetError) as caught:
        async with open_process(target, tape, LIMITS):
            raise AssertionError("there is no process")
    assert tape.events == ()
    assert caught.value.hint
    return caught.value


async def test_commands_that_cannot_be_launched_are_clear_errors(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    odd = tmp_path / "odd"
    odd.write_bytes(b"\x7fELF no program")
    odd.chmod(0o755)
    cases = [
        (StdioTarget(()), "the command is empty"),
        (StdioTarget(("no-such-command",)), "the command no-such-command was not found"),
        (StdioTarget((str(plain),)), f"the command {plain} may not be executed"),
        (StdioTarget((str(odd),)), f"the command {odd} cannot be launched: Exec format error"),
        (StdioTarget(("a\0b",)), "the command a\0b cannot be launched: embedded null byte"),
        (StdioTarget((sys.executable,), cwd="/no/such"), "there is no folder /no/such"),
    ]
    for target, message in cases:
        assert (await unlaunchable(target)).message == message
