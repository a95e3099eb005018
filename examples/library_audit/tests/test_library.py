"""Tests of the library server (../../servers/python_sdk_server.py), by a bare HTTP client."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from sys import executable
from typing import Any

import pytest

SERVER = Path(__file__).resolve().parents[2] / "servers" / "python_sdk_server.py"
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INTRODUCTION = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "tests", "version": "1"},
}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = int(free.getsockname()[1])
    command = [executable, str(SERVER), "--http", f"127.0.0.1:{number}"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet) as server:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", number), timeout=0.2).close()
                break
            except OSError:
                time.sleep(0.1)
        yield number
        server.terminate()


def post(port: int, message: dict[str, Any], **headers: str) -> tuple[HTTPResponse, dict[str, Any]]:
    """Send one message; gives the response and the JSON in its body or its last SSE event."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    body = json.dumps({"jsonrpc": "2.0", **message})
    connection.request("POST", "/mcp", body, HEADERS | headers)
    response = connection.getresponse()
    lines = response.read().decode().splitlines()
    connection.close()
    data = [line.removeprefix("data:") for line in lines if line.startswith(("data:", "{"))]
    return response, json.loads(data[-1]) if data and data[-1].strip() else {}


def session(port: int) -> dict[str, str]:
    response, _ = post(port, {"id": 1, "method": "initialize", "params": INTRODUCTION})
    headers = {"Mcp-Session-Id": response.headers["Mcp-Session-Id"]}
    post(port, {"method": "notifications/initialized"}, **headers)
    return headers


def test_the_server_introduces_itself(port: int) -> None:
    """clause: LIFE-010, LIFE-006"""
    _, answer = post(port, {"id": 1, "method": "initialize", "params": INTRODUCTION})
    assert answer["result"]["serverInfo"]["name"] == "library"
    assert "tools" in answer["result"]["capabilities"]
    assert answer["result"]["protocolVersion"] == "2025-11-25"


# clause: PING-001
def test_ping_is_answered_with_an_empty_result(port: int) -> None:
    _, answer = post(port, {"id": "p", "method": "ping"}, **session(port))
    assert (answer["id"], answer["result"]) == ("p", {})


@pytest.mark.parametrize("name", ["find_book", "count_books", "lend_book"])
def test_every_tool_has_an_input_schema(port: int, name: str) -> None:
    # clause: TOOL-003
    _, answer = post(port, {"id": 2, "method": "tools/list"}, **session(port))
    schemas = {tool["name"]: tool["inputSchema"] for tool in answer["result"]["tools"]}
    assert schemas[name]["type"] == "object"


def test_clause_TRAN_027_a_notification_is_accepted_without_a_body(port: int) -> None:  # noqa: N802
    response, answer = post(port, {"method": "notifications/initialized"}, **session(port))
    assert (response.status, answer) == (202, {})
