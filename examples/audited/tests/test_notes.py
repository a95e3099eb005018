"""The server's own tests; the environment variable NOTES_SERVER names the version to test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parent.parent
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Client:
    """One session with the server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.headers = dict(HEADERS)
        client = {"name": "tests", "version": "1"}
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        _, headers, _ = self.post({"id": 0, "method": "initialize", "params": params})
        self.headers["Mcp-Session-Id"] = headers["Mcp-Session-Id"]

    def post(
        self, message: dict[str, Any], **headers: str
    ) -> tuple[int, dict[str, str], dict[str, Any] | None]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            body = json.dumps({"jsonrpc": "2.0", **message})
            connection.request("POST", "/mcp", body, self.headers | headers)
            response = connection.getresponse()
            text = response.read()
            return response.status, dict(response.headers), json.loads(text) if text else None
        finally:
            connection.close()

    def call(self, tool: str, request_id: Any = 1, **arguments: str) -> dict[str, Any] | None:
        params = {"name": tool, "arguments": arguments}
        return self.post({"id": request_id, "method": "tools/call", "params": params})[2]


@pytest.fixture
def port() -> Iterator[int]:
    server = FOLDER / os.environ.get("NOTES_SERVER", "after") / "server.py"
    command = [sys.executable, str(server), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline().rpartition(":")[2].partition("/")[0])
        process.terminate()


# clause: BASE-004
def test_two_sessions_may_use_the_same_id(port: int) -> None:
    first, second = Client(port), Client(port)
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(first.call, "index")
        time.sleep(0.2)
        quick = pool.submit(second.call, "echo", text="mine")
        assert "mine" in json.dumps(quick.result(5))
        assert "indexed" in json.dumps(slow.result(5))


def test_ping_is_answered_while_a_tool_runs(port: int) -> None:
    """clause: PING-001"""
    client = Client(port)
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(client.call, "index")
        time.sleep(0.2)
        started = time.monotonic()
        pong = client.post({"id": 2, "method": "ping"})[2]
        assert time.monotonic() - started < 0.5
        assert pong == {"jsonrpc": "2.0", "id": 2, "result": {}}
        slow.result(5)


def test_a_cancelled_request_stops_and_is_not_answered(port: int) -> None:
    client = Client(port)  # clause: CANC-021
    with ThreadPoolExecutor() as pool:
        slow = pool.submit(client.call, "index")
        time.sleep(0.2)
        started = time.monotonic()
        client.post({"method": "notifications/cancelled", "params": {"requestId": 1}})
        assert slow.result(5) is None
        assert time.monotonic() - started < 0.5


# clause: BASE-009
def test_a_crashing_tool_is_answered_under_the_id_of_its_request(port: int) -> None:
    answer = Client(port).call("divide", request_id="mine")
    assert answer is not None
    assert answer["id"] == "mine"


def test_a_tool_that_fails_tells_the_model_why(port: int) -> None:
    answer = Client(port).call("publish")
    assert answer is not None
    assert answer["result"]["isError"]
    assert "set one up first" in json.dumps(answer)


@pytest.mark.parametrize("origin", ["https://evil.example", "http://notes.evil.example:80"])
def test_a_foreign_origin_is_refused(port: int, origin: str) -> None:
    # clause: TRAN-002, TRAN-007
    client = Client(port)
    assert client.post({"id": 1, "method": "ping"}, Origin=origin)[0] == 403


def test_clause_TOOL_003_every_tool_has_an_input_schema(port: int) -> None:  # noqa: N802
    answer = Client(port).post({"id": 1, "method": "tools/list"})[2]
    assert answer is not None
    assert all(tool["inputSchema"]["type"] == "object" for tool in answer["result"]["tools"])
