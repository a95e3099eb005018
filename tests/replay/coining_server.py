"""A stdio server that coins another value at each start: cursors, ids of its requests, task ids.

It serves only what it coined itself, so a replay that sent recorded values would be refused.
`--asks-not` makes it answer `tools/call` without asking the client, `--asks-more` ask twice,
`--renamed` call its tool otherwise.
"""

from __future__ import annotations

import json
import secrets
import sys
from typing import Any

CURSOR = secrets.token_hex(8)
ASKED = secrets.token_hex(8)
TASK = secrets.token_hex(8)
TOOL = "other" if "--renamed" in sys.argv else "tool"
INFO = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "coins", "version": "1"}}

waiting: list[Any] = []


def send(**members: Any) -> None:
    print(json.dumps({"jsonrpc": "2.0", **members}), flush=True)


def ask(identity: str) -> None:
    params = {"messages": [], "maxTokens": 1}
    send(id=identity, method="sampling/createMessage", params=params)


def call(identity: Any) -> None:
    if "--asks-not" in sys.argv:
        answer(identity, "not asked")
        return
    waiting.append(identity)
    ask(ASKED)
    if "--asks-more" in sys.argv:
        ask(ASKED + "-2")


def answer(identity: Any, text: str) -> None:
    send(id=identity, result={"content": [{"type": "text", "text": text}], "taskId": TASK})


def list_tools(identity: Any, params: dict[str, Any]) -> None:
    tool = {"name": TOOL, "inputSchema": {"type": "object"}}
    if "cursor" not in params:
        send(id=identity, result={"tools": [tool], "nextCursor": CURSOR})
    elif params["cursor"] == CURSOR:
        send(id=identity, result={"tools": []})
    else:
        send(id=identity, error={"code": -32602, "message": "no such cursor"})


def take(message: dict[str, Any]) -> None:
    method, identity = message.get("method"), message.get("id")
    params = message.get("params", {})
    if method == "initialize":
        send(id=identity, result={**INFO, "capabilities": {"tools": {}}})
    elif method == "tools/list":
        list_tools(identity, params)
    elif method == "tools/call":
        call(identity)
    elif method == "tasks/get":
        known = params["taskId"] == TASK
        send(id=identity, **({"result": {"status": "done"}} if known else {"error": {"code": -1}}))
    elif method is None and identity == ASKED:
        answer(waiting.pop(), message["result"]["model"])


for line in sys.stdin:
    take(json.loads(line))
