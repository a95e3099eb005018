"""`clausewise check` against the reference server, and what it refuses."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, TypeAlias

import jsonschema_rs
import pytest
from anyio.from_thread import start_blocking_portal

from clausewise import registry
from clausewise.cli.progress import progress_line
from clausewise.core.vocabulary import Era, Revision
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from clausewise.report.json import schema

Run: TypeAlias = Callable[..., CompletedProcess[str]]

SECRET = "tok-5f3e9a-secret"
REFERENCE = (sys.executable, "-m", "clausewise", "reference", "server", "--stdio")


@contextmanager
def served(*defects: str, era: Era = Era.DUAL) -> Iterator[str]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_http(ServerOptions(era, defects))) as url,
    ):
        yield url


def results(ran: CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    record = json.loads(ran.stdout)
    jsonschema_rs.Draft202012Validator(schema(), offline=True).validate(record)
    return {verdict["id"]: verdict for verdict in record["results"]}


def test_a_sound_server_gives_no_finding_and_the_result_tells_all_about_the_run(
    clausewise: Run,
) -> None:
    with served() as url:
        ran = clausewise("check", url, "--format", "json", "--fail-on", "should")
    assert (ran.returncode, ran.stderr) == (0, "")
    record = json.loads(ran.stdout)
    assert record["command"] == "check"
    assert record["target"]["kind"] == "streamable-http"
    assert record["target"]["name"] == url
    assert record["target"]["server"]["name"] == "clausewise-reference"
    assert record["era"] == "dual"
    assert record["revisions"] == ["2025-11-25", "2026-07-28"]
    assert record["started"].endswith("Z")
    assert record["duration_s"] > 0
    order = [(r["kind"], r["revision"], r["id"]) for r in record["results"]]
    assert order == sorted(order, key=lambda key: (key[0] != "rule", *key[1:]))
    assert {"rule", "clause"} == {kind for kind, _, _ in order}
    assert {r["outcome"] for r in results(ran).values()}.isdisjoint({"fail", "warn", "crashed"})


def test_a_defect_is_a_finding_with_a_command_that_reproduces_it(clausewise: Run) -> None:
    with served("prompts-list-without-ttl") as url:
        ran = clausewise("check", url, "--select", "MCP-CAC-001", "--format", "json")
    assert ran.returncode == 1
    (verdict,) = results(ran).values()
    assert (verdict["id"], verdict["outcome"]) == ("MCP-CAC-001", "fail")
    (found,) = verdict["findings"]
    assert found["party"] == "server"
    assert found["reproduce"].startswith("curl ")


def test_a_command_is_checked_over_stdio(clausewise: Run) -> None:
    ran = clausewise("check", "--select", "MCP-CAC,BASE", "--format", "json", "--", *REFERENCE)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout)["target"]["kind"] == "stdio"
    assert results(ran)["MCP-CAC-001"]["outcome"] == "pass"


def test_the_saved_trace_is_judged_by_validate_as_by_check(clausewise: Run) -> None:
    with served() as url:
        checked = clausewise("check", url, "--save-trace", "t.jsonl", "--format", "json")
    validated = clausewise("validate", "t.jsonl", "--party", "server", "--format", "json")
    assert validated.returncode == 0
    again = results(validated)
    judged = {"pass", "fail", "warn"}
    clauses = registry.clauses(Revision.LEGACY)
    compared = [v for v in results(checked).values() if v["kind"] == "clause"]
    assert any(verdict["outcome"] in judged for verdict in compared)
    for verdict in compared:
        if not clauses[verdict["id"]].probes:
            assert again[verdict["id"]]["outcome"] == verdict["outcome"], verdict["id"]


def test_clauses_that_no_recording_shows_are_decided_by_probes(clausewise: Run) -> None:
    with served(era=Era.LEGACY) as url:
        checked = clausewise("check", url, "--save-trace", "t.jsonl", "--format", "json")
    found = results(checked)
    assert (found["TRAN-007"]["outcome"], found["TRAN-007"]["occasions"]) == ("pass", 3)
    assert found["TRAN-010"]["outcome"] == "excluded"
    validated = clausewise("validate", "t.jsonl", "--party", "server", "--format", "json")
    assert results(validated)["TRAN-007"]["outcome"] == "excluded"


def test_clauses_that_bind_clients_alone_are_not_reported(clausewise: Run) -> None:
    with served() as url:
        ran = clausewise("check", url, "--select", "LIFE", "--format", "json")
    reported = results(ran)
    from clausewise import registry
    from clausewise.core.vocabulary import Party, Revision

    bound = registry.clauses(Revision.LEGACY)
    assert reported
    assert all(Party.SERVER in bound[id_].binds for id_ in reported)
    assert any(c.binds == (Party.CLIENT,) for c in bound.values() if c.area == "LIFE")


@pytest.mark.parametrize(
    ("era", "kind", "reason"),
    [
        (Era.MODERN, "clause", "the server speaks only the modern era"),
        (Era.LEGACY, "rule", "the server speaks only the legacy era"),
    ],
)
def test_what_belongs_to_an_era_that_is_not_spoken_is_not_applicable(
    clausewise: Run, era: Era, kind: str, reason: str
) -> None:
    with served(era=era) as url:
        ran = clausewise("check", url, "--format", "json")
    assert ran.returncode == 0
    of_kind = [v for v in results(ran).values() if v["kind"] == kind]
    assert {v["outcome"] for v in of_kind} <= {"not-applicable", "excluded"}
    assert {v["reason"] for v in of_kind if v["outcome"] == "not-applicable"} == {reason}


@contextmanager
def gate() -> Iterator[tuple[str, list[str]]]:
    """A server that wants another token and repeats the one it got; gives what it was sent."""
    sent: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            token = self.headers.get("Authorization", "none")
            sent.append(token)
            body = json.dumps({"error": "invalid_token", "got": token}).encode()
            self.send_response(401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("WWW-Authenticate", f'Bearer error="{token}"')
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_DELETE = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp", sent
        finally:
            server.shutdown()
            thread.join()


def test_a_token_is_sent_but_never_shown_nor_recorded(
    clausewise: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_TOKEN", SECRET)
    with gate() as (url, sent):
        ran = clausewise(
            "check", f"{url}?key={SECRET}x", "--bearer", "env:THE_TOKEN", "-v",
            "--save-trace", "t.jsonl",
        )  # fmt: skip
    assert ran.returncode == 3
    assert f"Bearer {SECRET}" in sent
    assert "401" in ran.stderr
    assert SECRET not in ran.stdout + ran.stderr
    recorded = Path("t.jsonl").read_text()
    assert "invalid_token" in recorded
    assert SECRET not in recorded


def test_a_server_that_wants_a_token_is_judged_by_its_refusal(clausewise: Run) -> None:
    with gate() as (url, _):
        ran = clausewise("check", url)
    assert ran.returncode == 1
    assert "MCP-AUT-001" in ran.stdout
    assert "wants a token (HTTP 401)" in ran.stdout
    assert "next: Give a token: --bearer env:NAME" in ran.stdout


def test_tokens_for_the_rules_about_tokens_are_never_shown_nor_recorded(
    clausewise: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOREIGN", SECRET)
    monkeypatch.setenv("LOW", f"{SECRET}-low")
    with gate() as (url, sent):
        ran = clausewise(
            "check", url, "--foreign-token", "env:FOREIGN", "--low-scope-token", "env:LOW",
            "--save-trace", "t.jsonl", "-v",
        )  # fmt: skip
    assert f"Bearer {SECRET}" in sent
    assert f"Bearer {SECRET}-low" in sent
    assert SECRET not in ran.stdout + ran.stderr
    assert SECRET not in Path("t.jsonl").read_text()


def test_a_server_json_is_judged_beside_the_server(clausewise: Run) -> None:
    Path("server.json").write_text('{"name": "weather", "description": "d"}')
    with gate() as (url, _):
        ran = clausewise(
            "check", url, "--server-json", "server.json", "--select", "MCP-REG-001,MCP-REG-003",
        )  # fmt: skip
    assert ran.returncode == 0
    assert "WARN  MCP-REG-001" in ran.stdout
    assert "WARN  MCP-REG-003" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--server-json", "none.json"), "--server-json names none.json"),
        (("--foreign-token", "env:NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE, which is not set"),
        (("--registry", "no-url"), "is no http or https URL"),
    ],
)
def test_what_is_given_beside_the_target_must_be_usable(
    clausewise: Run, arguments: tuple[str, ...], message: str
) -> None:
    ran = clausewise("check", "http://127.0.0.1:9/mcp", *arguments)
    assert ran.returncode == 2
    assert message in ran.stderr


def test_a_target_that_cannot_be_reached_is_exit_3(clausewise: Run) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ran = clausewise("check", f"http://127.0.0.1:{port}/mcp")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert ran.stderr.startswith("error: ")
    assert "\nhint: " in ran.stderr
    missing = clausewise("check", "--", "no-such-command-anywhere")
    assert missing.returncode == 3
    assert "no-such-command-anywhere" in missing.stderr


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        ((), "no target for `clausewise check`", "clausewise check -- python my_server.py"),
        (("--",), "no command after --", "clausewise check -- "),
        (("http://h/mcp", "--", "cmd"), "both 'http://h/mcp' and a command", "not both"),
        (("localhost:3000/mcp",), "'localhost:3000/mcp' is no URL", "http://localhost:3000/mcp"),
        (("example.com",), "'example.com' is no URL", "https://example.com"),
        (("python", "server.py"), "'python' is no URL", "check -- python server.py"),
        (("server",), "'server' is no URL", "check -- server"),
        (("ftp://h/mcp",), "is no http or https URL", "http://127.0.0.1:3001/mcp"),
        (("http://u:p4ssw0rd@h/",), "carries credentials", "--header"),
        (("http://h/", "-H", "Accept: x"), "belongs to the probes", "Leave it out"),
        (("http://h/", "--bearer", "env:NO_SUCH_VARIABLE"), "NO_SUCH_VARIABLE", ""),
        (("http://h/", "--env", "A=1"), "--env is for a command", "Leave it out"),
        (("http://h/", "--ca-file", "a", "--insecure"), "both --ca-file and --insecure", "one"),
        (("--bearer", "t", "--", "cmd"), "--bearer is for a URL", "--env"),
        (("--env", "1A=1", "--", "cmd"), "--env '1A' names no variable", "NAME=VALUE"),
        (("--env", "NO_SUCH_VARIABLE", "--", "cmd"), "NO_SUCH_VARIABLE, which is not set", ""),
        (("http://h/", "--timeout", "0"), "--timeout", "--help"),
        (("http://h/", "--select", "MCP-ZZZ"), "'MCP-ZZZ'", ""),
    ],
)
def test_a_wrong_use_is_told_before_anything_is_sent(
    clausewise: Run, arguments: tuple[str, ...], error: str, hint: str
) -> None:
    ran = clausewise("check", *arguments)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert error in ran.stderr.splitlines()[0]
    assert hint in ran.stderr
    assert "p4ssw0rd" not in ran.stderr


def test_options_after_the_double_dash_belong_to_the_command(clausewise: Run) -> None:
    program = "import sys; sys.exit('got ' + ' '.join(sys.argv[1:]))"
    ran = clausewise("check", "--", sys.executable, "-c", program, "--format", "json", "--", "-q")
    assert ran.returncode == 3
    assert "got --format json -- -q" in ran.stderr


def test_a_setting_for_urls_in_a_file_does_not_hinder_a_command(clausewise: Run) -> None:
    Path("clausewise.toml").write_text('bearer = "env:NO_SUCH_VARIABLE"\n')
    ran = clausewise("check", "--", "no-such-command-anywhere")
    assert ran.returncode == 3
    assert "NO_SUCH_VARIABLE" not in ran.stderr


def test_a_trace_that_cannot_be_written_is_a_usage_error(clausewise: Run) -> None:
    ran = clausewise("check", "http://127.0.0.1:9/mcp", "--save-trace", "no/such/t.jsonl")
    assert ran.returncode == 2
    assert "cannot write the trace no/such/t.jsonl" in ran.stderr


def test_an_interrupt_ends_the_run_quietly_with_130_and_takes_the_command_along(
    tmp_path: Path,
) -> None:
    pipe = tmp_path / "started"
    os.mkfifo(pipe)
    program = f"open({str(pipe)!r}, 'w').write(str(__import__('os').getpid())); input()"
    with subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTIBLE, "check", "--", sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        child = int(pipe.read_text())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"")
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


_INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from clausewise.cli.main import main
main()
"""
"""A runner of tests in the background may have the interrupt ignored."""


def test_without_a_terminal_there_is_no_progress_and_rich_is_not_imported() -> None:
    program = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('rich' in sys.modules, file=sys.stderr))\n"
        "from clausewise.cli.main import main\n"
        "main(['check', '--select', 'MCP-CAC-001', '--', *sys.argv[1:]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *REFERENCE], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "False\n")
    assert "1 rule: 1 pass" in done.stdout


def test_on_a_terminal_the_progress_line_is_on_standard_error_and_gone_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress_line(wanted=True) as show:
        show(1, 3, "MCP-[bold]-001")
        show(3, 3, "legacy session")
    drawn = terminal.getvalue()
    assert "3/3" in drawn
    assert "legacy session" in drawn
    assert drawn.endswith("\x1b[2K")
    with progress_line(wanted=False) as show:
        show(1, 3, "quiet")
    assert terminal.getvalue() == drawn
