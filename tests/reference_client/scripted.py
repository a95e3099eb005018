"""An HTTP server that does what a test says, and keeps what it was sent."""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

from clausewise.reference.http_layer import HttpConnection, HttpExchange, HttpHead, HttpRequest
from clausewise.reference.options import ServerLimits

Json = dict[str, Any]
Act = Callable[[HttpExchange, Json], Awaitable[None]]
"""Answers one message; `GET` and `DELETE` have an empty one."""

JSON_HEAD = (("Content-Type", "application/json"),)
STREAM_HEAD = (("Content-Type", "text/event-stream"),)
INITIALIZED: Json = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "scripted", "version": "1"},
}
DISCOVERED: Json = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    "ttlMs": 0,
    "cacheScope": "private",
}


@dataclass(frozen=True, slots=True)
class Got:
    """One request as it came; `message` is empty without a body."""

    request: HttpRequest
    message: Json

    @property
    def verb(self) -> str:
        return self.request.method

    @property
    def method(self) -> str | None:
        found: str | None = self.message.get("method")
        return found

    def header(self, name: str) -> str | None:
        return self.request.value(name)


class Scripted:
    """Acts by JSON-RPC method, or by HTTP method where there is no message.

    An act that is a list is worked off, one after the other; the last one stays.
    """

    def __init__(self, acts: Mapping[str, Act | list[Act]]) -> None:
        self.acts = {name: act if isinstance(act, list) else [act] for name, act in acts.items()}
        self.got: list[Got] = []

    @property
    def messages(self) -> list[Json]:
        return [one.message for one in self.got if one.message]

    def of(self, method: str) -> list[Got]:
        """What came with this JSON-RPC or HTTP method."""
        return [one for one in self.got if (one.method or one.verb) == method]

    async def handle(self, exchange: HttpExchange) -> None:
        body = exchange.request.body
        message = json.loads(body) if body else {}
        got = Got(exchange.request, message)
        self.got.append(got)
        acts = self.acts.get(got.method or got.verb)
        if acts is None:
            await (accepted if "id" not in message else refuse(-32601, 404))(exchange, message)
            return
        await (acts.pop(0) if len(acts) > 1 else acts[0])(exchange, message)


async def accepted(exchange: HttpExchange, message: Json) -> None:
    """202 to a notification or a response, 405 to what has no message."""
    await exchange.respond(HttpHead(202 if message else 405))


def give(result: Any, **headers: str) -> Act:
    """A result as JSON."""

    async def act(exchange: HttpExchange, message: Json) -> None:
        head = HttpHead(200, (*JSON_HEAD, *((k.replace("_", "-"), v) for k, v in headers.items())))
        await exchange.respond(head, encoded(respond(message, result)))

    return act


def refuse(code: int, status: int = 200, data: Any = None) -> Act:
    """An error as JSON."""

    async def act(exchange: HttpExchange, message: Json) -> None:
        error = {"code": code, "message": "refused"} | ({} if data is None else {"data": data})
        body = {"jsonrpc": "2.0", "id": message.get("id"), "error": error}
        await exchange.respond(HttpHead(status, JSON_HEAD), encoded(body))

    return act


def status(code: int) -> Act:
    """An HTTP status and nothing else."""

    async def act(exchange: HttpExchange, _message: Json) -> None:
        await exchange.respond(HttpHead(code))

    return act


def stream(*pieces: bytes | Json, ends: bool = True) -> Act:
    """An SSE stream: bytes as they are, messages as events; `$id` stands for the request's id."""

    async def act(exchange: HttpExchange, message: Json) -> None:
        await exchange.open(HttpHead(200, STREAM_HEAD))
        for piece in pieces:
            data = piece if isinstance(piece, bytes) else b"data: " + encoded(piece) + b"\n\n"
            await exchange.write(data.replace(b'"$id"', encoded(message.get("id"))))
        if ends:
            await exchange.close()
        else:
            await anyio.sleep_forever()

    return act


async def silence(_exchange: HttpExchange, _message: Json) -> None:
    """No answer until the client goes away."""
    await anyio.sleep_forever()


def respond(message: Json, result: Any) -> Json:
    return {"jsonrpc": "2.0", "id": message.get("id"), "result": result}


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


@asynccontextmanager
async def serving(scripted: Scripted) -> AsyncIterator[str]:
    """The URL of the server while it runs."""
    numbers = itertools.count(1)

    async def serve(connection: SocketStream) -> None:
        async with connection:
            await HttpConnection(connection, next(numbers), scripted.handle, ServerLimits()).serve()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    async with listener, anyio.create_task_group() as tasks:
        port = listener.extra(SocketAttribute.local_port)
        tasks.start_soon(listener.serve, serve)
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            tasks.cancel_scope.cancel()


SESSION = {"MCP_Session_Id": "the-session"}


def legacy_server(**acts: object) -> Scripted:
    named = {name.replace("__", "/"): act for name, act in acts.items()}
    return Scripted({"initialize": give(INITIALIZED, **SESSION), **named})  # type: ignore[dict-item]


TOOL: Json = {"name": "t", "inputSchema": {"type": "object"}}


def listed(*tools: Json, **more: object) -> Json:
    found = list(tools) or [TOOL]
    return {"resultType": "complete", "tools": found, "ttlMs": 0, "cacheScope": "private", **more}


def modern_server(**acts: Act | list[Act]) -> Scripted:
    named = {name.replace("__", "/"): act for name, act in acts.items()}
    return Scripted({"server/discover": give(DISCOVERED), "tools/list": give(listed()), **named})
