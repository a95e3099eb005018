"""What a small server of revision 2025-11-25 answers, and servers of odd eras made from it."""

from __future__ import annotations

from typing import Any

from tests.probe.fake_server import JSON_TYPE, VERSION, Fault, Reply, Request

SESSION_ID = "session-1"
HTML = Reply(status=200, headers=(("content-type", "text/html"),), raw=b"<h1>Welcome</h1>")

_RESULTS: dict[str, Any] = {
    "ping": {},
    "tools/list": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]},
    "prompts/list": {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]},
    "prompts/get": {"messages": []},
    "resources/list": {"resources": [{"uri": "file:///a", "name": "a"}]},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": []},
    "tools/call": {"content": []},
    "completion/complete": {"completion": {"values": []}},
}


def result(request: Request, value: Any) -> Reply:
    return Reply(({"jsonrpc": "2.0", "id": request.id, "result": value},))


def error(request: Request, code: int, text: str, status: int = 200) -> Reply:
    message = {"jsonrpc": "2.0", "id": request.id, "error": {"code": code, "message": text}}
    return Reply((message,), status=status)


def initialize_result(version: str = "2025-11-25") -> dict[str, Any]:
    return {
        "protocolVersion": version,
        "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "completions": {}},
        "serverInfo": {"name": "old", "version": "0.9"},
    }


def legacy(request: Request, version: str = "2025-11-25") -> Reply:
    """A stateful legacy server over HTTP: a session id, and nothing without it."""
    if request.http_method != "POST":
        return Reply(status=405 if request.http_method == "GET" else 204, headers=())
    if request.method == "initialize":
        reply = result(request, initialize_result(version))
        return Reply(reply.messages, headers=(*JSON_TYPE, ("mcp-session-id", SESSION_ID)))
    if request.headers.get("mcp-session-id") != SESSION_ID:
        return error(request, -32600, "Bad Request: Missing session ID", 400)
    return in_session(request)


def in_session(request: Request) -> Reply:
    """Answers once the handshake is done, whatever the transport."""
    if not isinstance(request.message, dict) or "id" not in request.message:
        return Reply(status=202, headers=())
    if request.method not in _RESULTS:
        return error(request, -32601, "Method not found")
    return result(request, _RESULTS[request.method])


def stateless_legacy(request: Request, _right: Reply) -> Reply:
    """A legacy server that wants no session: it serves lists to anybody."""
    if request.method == "initialize":
        return result(request, initialize_result())
    return in_session(request)


def dual(request: Request, right: Reply) -> Reply:
    """Modern for requests that name the modern version, legacy for all others."""
    if request.headers.get("mcp-protocol-version") == VERSION:
        return right
    return legacy(request)


def always(reply: Reply) -> Fault:
    """The same answer to everything."""
    return lambda _request, _right: reply
