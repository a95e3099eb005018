"""The same server after its audit: every request has a thread and its own session's state.

python after/server.py [--host HOST] [--port PORT]
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import notes

VERSIONS = ("2025-11-25", "2025-06-18")

LOCAL = ("127.0.0.1", "localhost", "[::1]")


class Session:
    """The requests of one client that are running, by id; `1` and `"1"` are two ids."""

    def __init__(self) -> None:
        self.running: dict[str, threading.Event] = {}

    def cancel(self, request_id: Any) -> None:
        event = self.running.get(json.dumps(request_id))
        if event is not None:
            event.set()


sessions: dict[str, Session] = {}


class RpcError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


def handle(message: dict[str, Any], session: Session) -> dict[str, Any] | None:
    """The response to a request; None for one that was cancelled."""
    event = session.running.setdefault(json.dumps(message["id"]), threading.Event())
    try:
        result = answer(message["method"], message.get("params", {}), event)
    except RpcError as error:
        problem = {"code": error.code, "message": error.message}
        return {"jsonrpc": "2.0", "id": message["id"], "error": problem}
    finally:
        del session.running[json.dumps(message["id"])]
    return None if event.is_set() else {"jsonrpc": "2.0", "id": message["id"], "result": result}


def call_tool(params: dict[str, Any], event: threading.Event) -> dict[str, Any]:
    call = notes.CALLS.get(params.get("name", ""))
    if call is None:
        raise RpcError(-32602, "unknown tool")
    try:
        text, failed = call(params.get("arguments", {}), event), False
    except notes.ToolError as failure:
        text, failed = str(failure), True
    except Exception as crash:  # noqa: BLE001 - the model shall hear of it, whatever it is
        text, failed = f"the tool crashed: {type(crash).__name__}", True
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def answer(method: str, params: dict[str, Any], event: threading.Event) -> dict[str, Any]:
    if method == "initialize":
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in VERSIONS else VERSIONS[0],
            "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "notes", "version": "0.1.0"},
        }
    if method == "ping":
        return {}
    if method.endswith("/list") and "cursor" in params:
        raise RpcError(-32602, "every list has one page")
    if method == "tools/list":
        return {"tools": notes.tools()}
    if method == "tools/call":
        return call_tool(params, event)
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

    def is_local(self) -> bool:
        """Whether Host and Origin, if any, name this machine; answers with 403 if not."""
        host = self.headers.get("Host", "").rpartition(":")[0]
        origin = self.headers.get("Origin")
        if host in LOCAL and (origin is None or urlsplit(origin).hostname in LOCAL):
            return True
        self.reply(403, None)
        return False

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not self.is_local():
            return
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
            sessions[session] = Session()
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
            if message.get("method") == "notifications/cancelled":
                sessions[session].cancel(message.get("params", {}).get("requestId"))
            self.reply(202, None)
            return
        response = handle(message, sessions[session])
        if response is None:
            self.end_stream()
        else:
            self.reply(200, response, started)

    def do_GET(self) -> None:
        if self.is_local():
            self.reply(405, None)

    def do_DELETE(self) -> None:
        if not self.is_local():
            return
        session = self.headers.get("Mcp-Session-Id", "")
        known = sessions.pop(session, None)
        self.reply(404 if known is None else 200, None)

    def end_stream(self) -> None:
        """An SSE stream without a message: the answer to a request that was cancelled."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", "0")
        self.end_headers()

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
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8931)
    options = parser.parse_args()
    with ThreadingHTTPServer((options.host, options.port), Handler) as server:
        print(f"http://127.0.0.1:{server.server_port}/mcp", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
