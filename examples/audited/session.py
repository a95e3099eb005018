"""What a client does with the notes: a session to be recorded.

python session.py http://127.0.0.1:8931/mcp
"""

from __future__ import annotations

import json
import sys
import urllib.request
from itertools import count
from typing import Any

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
INTRODUCTION = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "notes-client", "version": "1.0.0"},
}
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("tools/list", {}),
    ("tools/call", {"name": "echo", "arguments": {"text": "hello"}}),
    ("ping", {}),
    ("resources/list", {}),
    ("resources/read", {"uri": "notes://welcome"}),
    ("resources/read", {"uri": "notes://lost"}),
    ("tools/call", {"name": "divide", "arguments": {}}),
    ("tools/call", {"name": "publish", "arguments": {}}),
]


def post(url: str, message: dict[str, Any], headers: dict[str, str]) -> str | None:
    """Send one message; gives the session id of the answer, if any."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    request = urllib.request.Request(url, body, HEADERS | headers)  # noqa: S310 - http, ours
    with urllib.request.urlopen(request, timeout=10) as answer:  # noqa: S310
        answer.read()
        return answer.headers.get("Mcp-Session-Id")


def main(url: str) -> None:
    ids = count(1)
    introduction = {"id": next(ids), "method": "initialize", "params": INTRODUCTION}
    session = post(url, introduction, {}) or ""
    headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
    post(url, {"method": "notifications/initialized"}, headers)
    for method, params in REQUESTS:
        post(url, {"id": next(ids), "method": method, "params": params}, headers)


if __name__ == "__main__":
    main(sys.argv[1])
