"""The reference client with the authorization servers of other people's software."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.real.conftest import REAL, ROOT, RealServer, free_port, python_server, running

CLAUSEWISE = str(ROOT / ".venv" / "bin" / "clausewise")
FASTMCP = python_server("fastmcp", "fastmcp_server.py", "streamable-http")
EXAMPLE = "node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js"


@contextmanager
def fastmcp() -> Iterator[str]:
    """The URL of the converter on FastMCP; its authorization server is at the same origin."""
    with running(replace(FASTMCP, command=(*FASTMCP.command, "--auth"))) as (url,):
        yield url


@contextmanager
def typescript_sdk() -> Iterator[str]:
    """The URL of the TypeScript SDK's example; its authorization server is at another port."""
    command = ("node", str(REAL / "everything" / EXAMPLE), "--oauth", "--oauth-strict")
    ports = {"MCP_PORT": "{port}", "MCP_AUTH_PORT": str(free_port())}
    server = RealServer(
        "typescript-sdk", "streamable-http", command, "HTTP Server listening", ports
    )
    with running(server) as (url,):
        yield url.replace("127.0.0.1", "localhost")  # as it names itself in its metadata


SERVERS = {
    "fastmcp-legacy": (fastmcp, "legacy", "units", ""),
    "fastmcp-modern": (fastmcp, "modern", "units", ""),
    "typescript-sdk-legacy": (typescript_sdk, "legacy", "greet", '{"name": "Ada"}'),
}


def drive(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [CLAUSEWISE, "reference", "client", "--format", "jsonl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def script(tool: str, arguments: str) -> str:
    given = f"arguments = '{arguments}'" if arguments else ""
    return f'[[step]]\ndo = "call"\ntool = "{tool}"\npresent = ["/result/content"]\n{given}\n'


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("name", SERVERS)
def test_the_client_registers_authorizes_and_is_served(name: str, tmp_path: Path) -> None:
    serving, era, tool, arguments = SERVERS[name]
    (tmp_path / "script.toml").write_text(script(tool, arguments))
    play = ("--era", era, "--script", str(tmp_path / "script.toml"))
    trace = tmp_path / "trace.jsonl"
    with serving() as url:
        shut_out = drive(url, *play)
        played = drive(url, *play, "--oauth", "--save-trace", str(trace))
    assert (shut_out.returncode, "401" in shut_out.stderr) == (3, True), shut_out.stderr
    assert played.returncode == 0, played.stdout + played.stderr
    assert [json.loads(line)["ok"] for line in played.stdout.splitlines()] == [True]
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    sent = {one["headers"].get("authorization") for one in events if "method" in one}
    assert sent == {None, "[redacted]"}


@pytest.mark.usefixtures("installed")
def test_a_server_that_names_itself_otherwise_gets_no_token_asked_for() -> None:
    with typescript_sdk() as url:
        refused = drive(url.replace("localhost", "127.0.0.1"), "--oauth")
    assert (refused.returncode, "not of http://127.0.0.1" in refused.stderr) == (3, True)
