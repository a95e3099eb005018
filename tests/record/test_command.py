"""`clausewise record` as its user meets it: over HTTP, with real clients and servers."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clausewise.judge.engine import judge
from clausewise.trace.reader import read_events

WITHIN_S = 60
ROOT = Path(__file__).resolve().parents[2]
PYTHON_SDK = ROOT / ".cache" / "real-servers" / "python-sdk" / "bin" / "python"
EVERYTHING = (
    ROOT / ".cache/real-servers/everything/node_modules/@modelcontextprotocol"
    "/server-everything/dist/index.js"
)
SDK_CLIENT = """
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        print(len(tools))

asyncio.run(main())
"""


def clausewise(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "clausewise", *arguments]


@contextmanager
def announced(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running command and the URL that it prints first."""
    with subprocess.Popen(
        clausewise(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def outcomes(url: str) -> dict[str, str]:
    """What `check` finds at `url`, by id of rule or clause."""
    done = subprocess.run(
        clausewise("check", url, "--format", "json"),
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    results: list[dict[str, Any]] = json.loads(done.stdout)["results"]
    return {verdict["id"]: verdict["outcome"] for verdict in results}


def usage_error(*arguments: str) -> str:
    done = subprocess.run(
        clausewise("record", *arguments),
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    assert done.returncode == 2
    return done.stderr


def findings(trace: Path) -> list[tuple[str, str, str]]:
    with trace.open("rb") as lines:
        result = judge(read_events(lines, trace.name), trace=trace.name)
    assert result.revisions
    return [(f.party.value, v.id, f.message) for v in result.verdicts for f in v.findings]


def test_a_check_finds_the_same_through_the_proxy_which_ends_well_on_a_signal(
    tmp_path: Path,
) -> None:
    trace = tmp_path / "s.jsonl"
    with (
        announced("reference", "server", "--http", "127.0.0.1:0") as (_, url),
        announced("record", "-o", str(trace), "--upstream", url) as (process, own_url),
    ):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/mcp", own_url)
        assert own_url != url
        direct, through = outcomes(url), outcomes(own_url)
        process.send_signal(signal.SIGINT)
        assert process.wait(WITHIN_S) == 0
    assert through == direct
    assert list(through.values()).count("pass") > 50
    assert len(trace.read_bytes().splitlines()) > 200


def test_one_of_upstream_and_command_is_needed(tmp_path: Path) -> None:
    out = str(tmp_path / "s.jsonl")
    needed = "error: give either --upstream URL or a command after --"
    assert needed in usage_error("-o", out)
    assert needed in usage_error("-o", out, "--upstream", "http://127.0.0.1:1/mcp", "--", "cat")
    assert not (tmp_path / "s.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--upstream", "ftp://h/"), "is no http or https URL"),
        (("--upstream", "http://h/mcp?key=1"), "the upstream URL has a query"),
        (("--upstream", "http://h/mcp", "--listen", "0.0.0.0:0"), "is no loopback address"),
        (("--upstream", "http://h/mcp", "--listen", "here"), "is no HOST:PORT"),
        (("--upstream", "http://h/mcp", "--listen", "192.0.2.1:0", "--allow-remote"), "listen on"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, options: tuple[str, ...], told: str) -> None:
    assert told in usage_error("-o", str(tmp_path / "s.jsonl"), *options)


def test_a_file_that_cannot_be_written_is_told_before_the_server_starts(tmp_path: Path) -> None:
    started = tmp_path / "started"
    error = usage_error("-o", str(tmp_path / "no" / "s.jsonl"), "--", "touch", str(started))
    assert "cannot write the trace" in error
    assert not started.exists()


def sdk_session(trace: Path, *server: str) -> subprocess.CompletedProcess[str]:
    """A session of the official Python client, which starts the recorder as its server."""
    if not PYTHON_SDK.exists():
        pytest.skip("the official Python SDK is not installed; run `make real-servers`")
    command = clausewise("record", "-o", str(trace), "--", *server)
    return subprocess.run(
        [str(PYTHON_SDK), "-c", SDK_CLIENT, *command],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )


def test_a_real_client_and_a_real_server_are_recorded_without_a_finding(tmp_path: Path) -> None:
    trace = tmp_path / "s.jsonl"
    server = ROOT / "examples" / "servers" / "python_sdk_server.py"
    done = sdk_session(trace, str(PYTHON_SDK), str(server))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
    assert findings(trace) == []


def test_a_real_client_and_a_server_on_node_are_recorded(tmp_path: Path) -> None:
    if not EVERYTHING.exists():
        pytest.skip("server-everything is not installed; run `make real-servers`")
    trace = tmp_path / "s.jsonl"
    done = sdk_session(trace, "node", str(EVERYTHING), "stdio")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0
    assert [finding for finding in findings(trace) if finding[0] == "client"] == []
