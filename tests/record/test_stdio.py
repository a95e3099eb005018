"""Between a client and its stdio server: what happens to the recorder happens to the server."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from clausewise.trace.events import Event, EventKind
from clausewise.trace.reader import BadLine, read_events

WITHIN_S = 30
ECHO = """
import os
while data := os.read(0, 1 << 16):
    while data:
        data = data[os.write(1, data):]
"""


def command(trace: Path, script: str, *options: str) -> list[str]:
    own = [sys.executable, "-m", "clausewise", "record", "-o", str(trace), *options]
    return [*own, "--", sys.executable, "-c", script]


@contextmanager
def recording(trace: Path, script: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """A client's view of the server that `script` is, with the recorder between."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command(trace, script, *options), stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def run(trace: Path, script: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(trace, script), input=data, capture_output=True, timeout=WITHIN_S, check=False
    )


def read(stream: IO[bytes] | None, size: int) -> bytes:
    """So many bytes, or fewer at the end of the stream; within a bound of time."""
    assert stream is not None
    received = b""
    while len(received) < size:
        ready, _, _ = select.select([stream], [], [], WITHIN_S)
        assert ready, f"nothing more after {received!r}"
        piece = os.read(stream.fileno(), size - len(received))
        if not piece:
            break
        received += piece
    return received


def write(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)


def eventually(what: Callable[[], bool]) -> None:
    end = time.monotonic() + WITHIN_S
    while not what():
        assert time.monotonic() < end
        threading.Event().wait(0.01)


def events(trace: Path) -> list[Event]:
    bad: list[BadLine] = []
    with trace.open("rb") as lines:
        found = list(read_events(lines, trace.name, on_bad_line=bad.append))
    assert all(line.cut for line in bad)
    return found


def lifecycle(trace: Path) -> list[str]:
    return [e.fields["event"] for e in events(trace) if e.kind is EventKind.LIFECYCLE]


def test_any_bytes_pass_both_ways_unchanged(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    huge = b'{"jsonrpc":"2.0","method":"x","params":{"a":"' + b"ab, " * 2_000_000 + b'"}}\r\n'
    data = b'\xff\xfe\n\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n' + huge + b"no newline"
    done = run(trace, ECHO, data)
    assert (done.stdout == data, done.returncode, done.stderr) == (True, 0, b"")
    for direction in ("client-to-server", "server-to-client"):
        kinds = [
            e.kind.value
            for e in events(trace)
            if e.direction == direction and e.kind is not EventKind.LIFECYCLE
        ]
        assert kinds == ["raw", "raw", "message", "message", "raw"]


def test_a_line_passes_before_it_is_whole(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    with recording(trace, ECHO) as process:
        for piece in (b'{"json', b'rpc":"2.0","id":', b'7,"method":"ping"}', b"\n"):
            write(process, piece)
            assert read(process.stdout, len(piece)) == piece
        eventually(lambda: any(e.kind is EventKind.MESSAGE for e in events(trace)))
    assert {e.payload["id"] for e in events(trace) if e.kind is EventKind.MESSAGE} == {7}


def test_stderr_passes_and_is_recorded(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    done = run(trace, "import os; os.write(2, b'one\\ntw\\xffo\\nrest')")
    assert done.stderr == b"one\ntw\xffo\nrest"
    texts = [e.fields["text"] for e in events(trace) if e.kind is EventKind.STDERR]
    assert texts == ["one", "tw\\xffo", "rest"]


def test_the_exit_code_is_handed_on(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    assert run(trace, "raise SystemExit(7)").returncode == 7
    assert events(trace)[-1].fields == {"event": "process-exit", "code": 7}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_death_by_signal_is_handed_on(tmp_path: Path, number: signal.Signals) -> None:
    trace = tmp_path / "s.jsonl"
    script = f"""
import os, resource
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
os.kill(os.getpid(), {int(number)})
"""
    assert run(trace, script).returncode == -number
    assert events(trace)[-1].fields["code"] == -number


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_a_signal_is_handed_on_and_the_server_decides(
    tmp_path: Path, number: signal.Signals
) -> None:
    trace = tmp_path / "s.jsonl"
    script = f"""
import os, signal
signal.signal({int(number)}, lambda *_: (os.write(1, b"got it"), os._exit(5)))
os.write(1, b"ready")
while True: signal.pause()
"""
    with recording(trace, script) as process:
        assert read(process.stdout, 5) == b"ready"
        process.send_signal(number)
        assert read(process.stdout, 99) == b"got it"
        assert process.wait(WITHIN_S) == 5
    aborted = number is not signal.SIGUSR1
    assert ("transport-abort" in lifecycle(trace)) == aborted


def test_the_client_may_close_its_end_and_still_be_answered(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    done = run(trace, "import sys; got = sys.stdin.read(); print(len(got))", b"abc\n")
    assert done.stdout == b"4\n"
    assert lifecycle(trace) == ["transport-open", "transport-close", "process-exit"]


def test_a_server_that_closes_its_stdout_is_seen_to_while_it_runs(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    with recording(trace, "import os; os.close(1); os.read(0, 1)") as process:
        assert read(process.stdout, 1) == b""
        assert process.poll() is None
        eventually(lambda: "transport-close" in lifecycle(trace))
        write(process, b"x")
        assert process.wait(WITHIN_S) == 0


def test_a_server_that_closes_its_stdin_breaks_the_clients_pipe(tmp_path: Path) -> None:
    script = "import os, signal; os.close(0); os.write(1, b'closed'); signal.pause()"
    with recording(tmp_path / "s.jsonl", script) as process:
        assert read(process.stdout, 6) == b"closed"

        def broken() -> bool:
            try:
                write(process, b"{}\n")
            except BrokenPipeError:
                return True
            return False

        eventually(broken)


def test_a_client_that_stops_reading_breaks_the_servers_pipe(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    script = """
import os, time
os.write(1, b"ready")
try:
    while True:
        os.write(1, b"{}\\n")
        time.sleep(0.01)
except BrokenPipeError:
    os._exit(9)
"""
    with recording(trace, script) as process:
        assert read(process.stdout, 5) == b"ready"
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(WITHIN_S) == 9


def test_a_flood_in_one_direction_does_not_stop_the_other(tmp_path: Path) -> None:
    script = """
import os
data = b"x" * 1000 + b"\\n"
for _ in range(4000): os.write(1, data)
got = 0
while piece := os.read(0, 1 << 16): got += len(piece)
os.write(1, b"%d" % got)
"""
    with recording(tmp_path / "s.jsonl", script) as process:

        def send() -> None:
            assert process.stdin is not None
            write(process, b"y" * 4_000_000)
            process.stdin.close()

        sender = threading.Thread(target=send)
        sender.start()
        received = read(process.stdout, 5_000_000)
        sender.join()
        process.stdin = None
    assert received == (b"x" * 1000 + b"\n") * 4000 + b"4000000"


def test_what_the_server_leaves_behind_is_cleaned_up(tmp_path: Path) -> None:
    script = """
import subprocess, sys
left = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
print(left.pid)
"""
    done = run(tmp_path / "s.jsonl", script)
    pid = int(done.stdout)
    eventually(lambda: not is_running(pid))
    assert done.returncode == 0


def test_a_killed_recorder_loses_one_line_at_most_and_ends_its_server(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    script = """
import os, sys
print(os.getpid(), flush=True)
for number in range(10**9):
    print('{"jsonrpc":"2.0","method":"notifications/n","params":{"n":%d}}' % number, flush=True)
"""
    with recording(trace, script) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        read(process.stdout, 200_000)
        process.kill()
        process.wait(WITHIN_S)
    numbers = [e.payload["params"]["n"] for e in events(trace) if type(e.payload) is dict]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 2000
    eventually(lambda: not is_running(pid))


def test_a_server_that_cannot_be_started_is_an_error_of_its_own(tmp_path: Path) -> None:
    own = [sys.executable, "-m", "clausewise", "record", "-o", str(tmp_path / "s.jsonl")]
    done = subprocess.run(
        [*own, "--", "/nowhere/server"], capture_output=True, timeout=WITHIN_S, check=False
    )
    assert done.returncode == 3
    assert b"error: the command /nowhere/server was not found" in done.stderr


def test_a_server_that_is_started_again_does_not_destroy_the_recording(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    run(trace, "raise SystemExit(1)")
    first = trace.read_bytes()
    done = run(trace, "raise SystemExit(2)")
    assert trace.read_bytes() == first
    assert events(tmp_path / "s.2.jsonl")[-1].fields["code"] == 2
    assert b"s.2.jsonl" in done.stderr


def test_a_full_disk_stops_the_recording_and_not_the_session(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    done = subprocess.run(
        command(trace, ECHO),
        input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n' * 100,
        capture_output=True,
        timeout=WITHIN_S,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )
    assert done.stdout.count(b"\n") == 100
    assert done.returncode == 0
    assert done.stderr.count(b"the recording breaks off at seq ") == 1
    assert trace.stat().st_size == 2000


def test_live_findings_come_while_the_session_runs(tmp_path: Path) -> None:
    script = """
import json, sys
begun = json.loads(sys.stdin.readline())
result = {"protocolVersion": "2025-11-25", "capabilities": {}}
result["serverInfo"] = {"name": "s", "version": "1"}
print(json.dumps({"jsonrpc": "2.0", "id": begun["id"], "result": result}), flush=True)
sys.stdin.read()
"""
    hello: dict[str, object] = {"protocolVersion": "2025-11-25", "capabilities": {}}
    hello["clientInfo"] = {"name": "c", "version": "1"}
    begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    with recording(tmp_path / "s.jsonl", script, "--live") as process:
        write(process, json.dumps(begin).encode() + b"\n")
        assert process.stdout is not None
        assert b"serverInfo" in process.stdout.readline()
        write(process, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        told = b""
        while b"\n" not in told:
            told += read(process.stderr, 1)
        assert process.poll() is None
    assert told.startswith(b"clausewise: fail BASE-003 by the client at seq 3: ")


def test_credentials_pass_and_stay_out_of_the_file(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    line = b'{"jsonrpc":"2.0","id":1,"result":{"access_token":"hush-hush","note":"kept"}}\n'
    script = f"import os; os.write(1, {line!r}); os.write(2, b'API_KEY=hush-hush\\n')"
    done = run(trace, script)
    assert done.stdout == line
    text = trace.read_bytes()
    assert b"hush-hush" not in text
    assert b'"note":"kept"' in text
    assert b"what looks like a credential" in text.splitlines()[0]


def test_payloads_are_kept_when_asked_for(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    script = """print('{"token":"hush-hush"}')"""
    with recording(trace, script, "--keep-payloads") as process:
        assert process.wait(WITHIN_S) == 0
    text = trace.read_bytes()
    assert b"hush-hush" in text
    assert b"what looks like a credential" not in text


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
