"""The reference server as a process, started from the command line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from click.testing import CliRunner

from clausewise.cli.reference import command
from clausewise.core.errors import UsageError
from clausewise.reference.defects import list_defects
from tests.reference.client import connect, modern_message

SERVER = (sys.executable, "-m", "clausewise", "reference", "server")


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [*SERVER, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_over_http_it_prints_its_url_first_and_a_signal_ends_it(number: signal.Signals) -> None:
    with started("--http", "127.0.0.1:0") as process:
        assert process.stdout is not None and process.stderr is not None
        url = process.stdout.readline().decode().strip()

        async def ask() -> int:
            async with connect(url) as client:
                return (await client.modern("server/discover")).status

        assert anyio.run(ask) == 200
        process.send_signal(number)
        assert process.wait(30) == 0
        assert process.stderr.read() == b""


def test_a_protected_server_prints_tokens_to_try_it_with() -> None:
    with started("--http", "127.0.0.1:0", "--auth") as process:
        assert process.stdout is not None
        url = process.stdout.readline().decode().strip()
        lines = [process.stdout.readline().decode().strip() for _ in range(3)]
        tokens = dict(line.split("=", 1) for line in lines)
        assert list(tokens) == ["TOKEN", "LOW_SCOPE_TOKEN", "FOREIGN_TOKEN"]

        async def ask(token: str) -> int:
            async with connect(url) as client:
                headers = {"Authorization": f"Bearer {token}"}
                return (await client.modern("server/discover", headers=headers)).status

        assert [anyio.run(ask, token) for token in tokens.values()] == [200, 200, 401]
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_over_stdio_it_answers_and_ends_with_its_input() -> None:
    with started("--stdio", "--defect", "ping-answered") as process:
        line = json.dumps(modern_message("ping", request_id="p")).encode() + b"\n"
        out, err = process.communicate(line, timeout=30)
        assert json.loads(out)["id"] == "p"
        assert "result" in json.loads(out)
        assert (process.returncode, err) == (0, b"")


def test_over_stdio_a_signal_ends_it_while_it_waits_for_input() -> None:
    with started("--stdio") as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(modern_message("server/discover")).encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_over_stdio_it_reads_and_writes_files_too(tmp_path: Path) -> None:
    source, sink = tmp_path / "in", tmp_path / "out"
    source.write_text(json.dumps(modern_message("tools/list")) + "\n", "utf-8")
    with source.open("rb") as stdin, sink.open("wb") as stdout:
        subprocess.run([*SERVER, "--stdio"], stdin=stdin, stdout=stdout, timeout=30, check=True)
    assert json.loads(sink.read_bytes())["id"] == 1


def test_the_list_of_defects_names_each_with_what_it_trips() -> None:
    result = CliRunner().invoke(command, ["server", "--list-defects"])
    assert result.exit_code == 0
    for defect in list_defects():
        assert f"{defect.name}  [{', '.join((*defect.rules, *defect.clauses))}]" in result.output
        assert defect.summary in result.output


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--http", "3000"],
        ["--http", "127.0.0.1:x"],
        ["--http", "127.0.0.1:99999"],
        ["--http", "0.0.0.0:0"],
        ["--stdio", "--defect", "nope"],
        ["--stdio", "--auth"],
        ["--http", "127.0.0.1:0", "--auth", "--allow-remote"],
        ["--http", "127.0.0.1:0", "--defect", "any-audience-accepted"],
    ],
)
def test_wrong_arguments_are_usage_errors_with_a_hint(arguments: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        CliRunner().invoke(command, ["server", *arguments], catch_exceptions=False)
    assert caught.value.hint
