"""A small MCP server over HTTP, as one might write it in an afternoon, and what is wrong with it.

python before/server.py [--host HOST] [--port PORT]
"""

from __future__ import annotations

import argparse
import json
import queue
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import notes

VERSIONS = ("2025-11-25", "2025-06-18")

jobs: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
waiting: dict[Any, queue.Queue[dict[str, Any]]] = {}
cancelled: dict[Any, threading.Event] = {}
sessions: set[str] = set()


class RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def work() -> None:
    """Handle one message after the other."""
    while True:
        _, message = jobs.get()
        try:
            reply = handle(message)
        except Exception as error:  # noqa: BLE001 - keep the worker alive
            reply = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32603, "message": str(error)}}
        if "id" in message:
            waiting[message["id"]].put(reply)


def handle(message: dict[str, Any]) -> dict[str, Any]:
    method, params = message.get("method"), message.get("params", {})
    if method == "notifications/cancelled":
        cancelled.setdefault(params.get("requestId"), threading.Event()).set()
    if "id" not in message:
        return {}
    try:
        result = answer(method, params, message["id"])
    except RpcError as error:
        problem = {"code": error.code, "message": error.message}
        return {"jsonrpc": "2.0", "id": message["id"], "error": problem}
    except notes.ToolError as error:
        problem = {"code": -32603, "message": str(error)}
        return {"jsonrpc": "2.0", "id": message["id"], "error": problem}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def answer(method: str | None, params: dict[str, Any], request_id: Any) -> dict[str, Any]:
    if method == "initialize":
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "notes", "version": "0.1.0"},
        }
    if method == "ping":
        return {}
    if method is not None and method.endswith("/list") and "cursor" in params:
        raise RpcError(-32602, "every list has one page")
    if method == "tools/list":
        return {"tools": notes.tools()}
    if method == "tools/call":
        call = notes.CALLS.get(params.get("name", ""))
        if call is None:
            raise RpcError(-32602, "unknown tool")
        event = cancelled.setdefault(request_id, threading.Event())
        text = call(params.get("arguments", {}), event)
        return {"content": [{"type": "text", "text": text}]}
    if method == "resources/list":
        return {"resources": notes.resources()}
    if method == "resources/templates/list":
        return {"resourceTemplates": []}
    if method == "resources/read":
        uri = params.get("uri")
        if uri not in notes.NOTES:
            raise RpcError(-32602, "resource not found")
        contents = {"uri": uri, "mimeType": "text/plain", "text": notes.NOTES[uri]}
        return {"contents": [contents]}
    raise RpcError(-32601, "unknown method")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        try:
            message = json.loads(body)
        except ValueError:
            problem = {"code": -32700, "message": "parse error"}
            self.reply(400, {"jsonrpc": "2.0", "id": None, "error": problem})
            return
        if not isinstance(message, dict):
            self.reply(400, None)
            return
        session = self.headers.get("Mcp-Session-Id", "")
        started: dict[str, str] = {}
        if message.get("method") == "initialize":
            session = uuid.uuid4().hex
            sessions.add(session)
            started = {"Mcp-Session-Id": session}
        elif not session:
            self.reply(400, None)
            return
        elif session not in sessions:
            self.reply(404, None)
            return
        version = self.headers.get("Mcp-Protocol-Version")
        if version is not None and version not in VERSIONS:
            self.reply(400, None)
            return
        if "id" not in message or "method" not in message:
            jobs.put((session, message))
            self.reply(202, None)
            return
        mine: queue.Queue[dict[str, Any]] = queue.Queue()
        waiting[message["id"]] = mine
        jobs.put((session, message))
        self.reply(200, mine.get(), started)

    def do_GET(self) -> None:
        self.reply(405, None)

    def do_DELETE(self) -> None:
        session = self.headers.get("Mcp-Session-Id", "")
        known = session in sessions
        sessions.discard(session)
        self.reply(200 if known else 404, None)

    def reply(
        self, status: int, message: dict[str, Any] | None, headers: dict[str, str] | None = None
    ) -> None:
        body = b"" if message is None else json.dumps(message).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if message is not None:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", default="0.0.0.0")  # noqa: S104 - one of the faults
    parser.add_argument("--port", type=int, default=8931)
    options = parser.parse_args()
    threading.Thread(target=work, daemon=True).start()
    with ThreadingHTTPServer((options.host, options.port), Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
