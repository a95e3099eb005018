"""A small server of revision 2026-07-28 for tests: it keeps the rules, and one hook breaks one.

Over HTTP it runs in the test's own process (`serve_http`); over stdio it is this module run
by Python, with the name of a fault of `faults.py` as its argument. It writes its own bytes, so
that a fault may be anything: a wrong status, a missing header, a body that is no JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.buffered import BufferedByteReceiveStream

from clausewise.wire.sentinel import SentinelError, decode

Headers = tuple[tuple[str, str], ...]

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
JSON_TYPE: Headers = (("content-type", "application/json"),)
SSE_TYPE: Headers = (("content-type", "text/event-stream"), ("x-accel-buffering", "no"))
HINTS = {"ttlMs": 60_000, "cacheScope": "public"}
RESOURCE = "file:///notes/today.txt"
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
STATUS_OF = {-32700: 400, -32600: 400, -32020: 400, -32021: 400, -32022: 400, -32601: 404}
SCHEMA = {"type": "object"}
TOOLS = (
    {"name": "steps", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
    {"name": "ask", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
    {"name": "echo", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
    {"name": "erase", "inputSchema": SCHEMA, "annotations": {"destructiveHint": True}},
)
PAGE_SIZE = 2
OWN_ORIGINS = ("http://127.0.0.1", "null")


@dataclass(frozen=True)
class Request:
    """One request or notification as it came; `nth` counts the served ones of its method from 0."""

    message: Any
    http_method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    nth: int = 0

    @property
    def method(self) -> str:
        return str(self.message.get("method")) if isinstance(self.message, dict) else ""

    @property
    def params(self) -> dict[str, Any]:
        params = self.message.get("params") if isinstance(self.message, dict) else None
        return params if isinstance(params, dict) else {}

    @property
    def id(self) -> Any:
        return self.message.get("id") if isinstance(self.message, dict) else None

    def meta(self, name: str) -> Any:
        meta = self.params.get("_meta")
        return meta.get(PREFIX + name) if isinstance(meta, dict) else None


@dataclass(frozen=True)
class Reply:
    """What goes back: `messages` in order, or the bytes `raw` in their place.

    With an event-stream content type each message is an event, and `stays_open` keeps the
    stream open after the last one.
    """

    messages: tuple[Any, ...] = ()
    status: int = 200
    headers: Headers = JSON_TYPE
    raw: bytes | None = None
    stays_open: bool = False

    @property
    def streams(self) -> bool:
        return any(n == "content-type" and v.startswith("text/event-") for n, v in self.headers)

    @property
    def response(self) -> Any:
        """The last message, as a JSON object that may be changed."""
        return json.loads(json.dumps(self.messages[-1])) if self.messages else {}

    def with_response(self, response: Any) -> Reply:
        return replace(self, messages=(*self.messages[:-1], response))

    def with_result(self, **members: Any) -> Reply:
        """The same with result members set; a member set to `...` is dropped."""
        response = self.response
        if "result" not in response:
            return self
        result = {**response["result"], **members}
        response["result"] = {k: v for k, v in result.items() if v is not ...}
        return self.with_response(response)

    def with_error(self, code: int, data: Any = None, *, status: int | None = None) -> Reply:
        """An error response in place of the response, with the status given or as it was."""
        error = {"code": code, "message": "broken on purpose"}
        if data is not None:
            error["data"] = data
        response = {"jsonrpc": "2.0", "id": self.response.get("id"), "error": error}
        return replace(self, messages=(response,), status=status or self.status, headers=JSON_TYPE)


Fault = Callable[[Request, Reply], Reply | None]
"""Turns the right reply into a wrong one; None answers nothing at all."""


def conforming(request: Request, *, over_http: bool) -> Reply:
    """The reply that keeps the specification."""
    if over_http and request.headers.get("origin", "http://127.0.0.1") not in OWN_ORIGINS:
        return Reply(status=403, headers=())
    if over_http and request.http_method != "POST":
        return Reply(status=405, headers=(("allow", "POST"),))
    if not isinstance(request.message, dict):
        return _error(None, -32700, "unreadable")
    if "id" not in request.message:
        return Reply(status=202, headers=())
    refusal = _refusal(request, over_http=over_http)
    if refusal is not None:
        return refusal
    if request.method == "subscriptions/listen":
        return _listen(request)
    return _answer(request)


def _refusal(request: Request, *, over_http: bool) -> Reply | None:
    version = request.meta("protocolVersion")
    if version is None or request.meta("clientCapabilities") is None:
        return _error(request.id, -32602, "a required _meta field is missing", status=400)
    if over_http:
        header = NAMED_BY.get(request.method)
        due = {"mcp-protocol-version": version, "mcp-method": request.method}
        if header is not None:
            due["mcp-name"] = request.params.get(header)
        wrong = [name for name, value in due.items() if _header(request, name) != value]
        if wrong:
            return _error(request.id, -32020, f"{wrong[0]} does not match the body")
    if version != VERSION:
        data = {"supported": [VERSION], "requested": version}
        return _error(request.id, -32022, "unsupported version", data)
    return None


def _header(request: Request, name: str) -> str | None:
    value = request.headers.get(name)
    try:
        return decode(value) if value is not None and name == "mcp-name" else value
    except SentinelError:
        return None


def _answer(request: Request) -> Reply:
    params = request.params
    match request.method:
        case "server/discover":
            return _result(request, supportedVersions=[VERSION], capabilities=_CAPABILITIES)
        case "tools/list":
            return _tools(request)
        case "prompts/list":
            return _result(request, prompts=[{"name": "greet"}])
        case "resources/list":
            return _result(request, resources=[{"uri": RESOURCE, "name": "today"}])
        case "resources/templates/list":
            template = {"uriTemplate": "file:///notes/{day}.txt", "name": "day"}
            return _result(request, resourceTemplates=[template])
        case "resources/read" if params.get("uri") == RESOURCE:
            return _result(request, contents=[{"uri": RESOURCE, "text": "rain"}])
        case "resources/read":
            return _error(request.id, -32602, "no such resource", {"uri": params.get("uri")})
        case "prompts/get" if params.get("name") == "greet":
            text = {"type": "text", "text": "Hello"}
            return _plain(request, messages=[{"role": "user", "content": text}])
        case "prompts/get":
            return _error(request.id, -32602, "no such prompt")
        case "tools/call":
            return _call(request)
    return _error(request.id, -32601, "no such method")


_CAPABILITIES = {
    "tools": {"listChanged": True},
    "prompts": {},
    "resources": {},
}


def _tools(request: Request) -> Reply:
    cursor = str(request.params.get("cursor") or "0")
    if not cursor.isdecimal():
        return _error(request.id, -32602, "no such cursor")
    start = int(cursor)
    page = TOOLS[start : start + PAGE_SIZE]
    after = start + PAGE_SIZE
    more = {"nextCursor": str(after)} if after < len(TOOLS) else {}
    return _result(request, tools=list(page), **more)


def _call(request: Request) -> Reply:
    done = _plain(request, content=[{"type": "text", "text": "done"}])
    match request.params.get("name"):
        case "ask" if _takes_forms(request):
            schema = {"type": "object", "properties": {"name": {"type": "string"}}}
            form = {"mode": "form", "message": "Your name?", "requestedSchema": schema}
            asked = {"name": {"method": "elicitation/create", "params": form}}
            return _plain(request, resultType="input_required", inputRequests=asked)
        case "ask":
            missing: dict[str, Any] = {"elicitation": {}}
            data = {"requiredCapabilities": missing}
            return _error(request.id, -32021, "needs elicitation", data)
        case "steps":
            return replace(done, messages=(*_half(request), *done.messages), headers=SSE_TYPE)
        case "echo" | "erase":
            return done
    return _error(request.id, -32602, "no such tool")


def _takes_forms(request: Request) -> bool:
    elicitation = request.meta("clientCapabilities").get("elicitation")
    return elicitation is not None and (not elicitation or "form" in elicitation)


def _half(request: Request) -> tuple[Any, ...]:
    """Progress where it is asked for."""
    token = request.params.get("_meta", {}).get("progressToken")
    if token is None:
        return ()
    params = {"progressToken": token, "progress": 0.5, "total": 1}
    return ({"jsonrpc": "2.0", "method": "notifications/progress", "params": params},)


def _listen(request: Request) -> Reply:
    wanted = request.params.get("notifications", {})
    granted = {k: v for k, v in wanted.items() if k == "toolsListChanged"}
    params = {"_meta": {PREFIX + "subscriptionId": request.id}, "notifications": granted}
    method = "notifications/subscriptions/acknowledged"
    acknowledged = {"jsonrpc": "2.0", "method": method, "params": params}
    return Reply((acknowledged,), headers=SSE_TYPE, stays_open=True)


def _result(request: Request, **members: Any) -> Reply:
    return _plain(request, **HINTS, **members)


def _plain(request: Request, **members: Any) -> Reply:
    meta = {PREFIX + "serverInfo": {"name": "fake", "version": "1.0.0"}}
    result = {"resultType": "complete", **members, "_meta": meta}
    return Reply(({"jsonrpc": "2.0", "id": request.id, "result": result},))


def _error(id_: Any, code: int, text: str, data: Any = None, *, status: int | None = None) -> Reply:
    error = {"code": code, "message": text} | ({} if data is None else {"data": data})
    message = {"jsonrpc": "2.0", "error": error} | ({} if id_ is None else {"id": id_})
    return Reply((message,), status=status or STATUS_OF.get(code, 200))


class _Desk:
    """Counts the requests of each method and lets the fault at the right reply."""

    def __init__(self, fault: Fault | None) -> None:
        self._fault = fault
        self._counts: dict[str, int] = {}

    def reply(self, request: Request, *, over_http: bool) -> Reply | None:
        nth = self._counts.get(request.method, 0)
        request = replace(request, nth=nth)
        right = conforming(request, over_http=over_http)
        if "error" not in right.response:
            self._counts[request.method] = nth + 1
        return right if self._fault is None else self._fault(request, right)


@asynccontextmanager
async def serve_http(fault: Fault | None = None) -> AsyncIterator[str]:
    """Serve on a free loopback port; yields the endpoint's URL."""
    desk = _Desk(fault)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")

    async def connected(stream: SocketStream) -> None:
        async with stream:
            try:
                await _converse(stream, desk)
            except (anyio.EndOfStream, anyio.BrokenResourceError, anyio.IncompleteRead):
                return

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, connected)
        port = listener.extra(SocketAttribute.local_port)
        yield f"http://127.0.0.1:{port}/mcp"
        tasks.cancel_scope.cancel()


async def _converse(stream: SocketStream, desk: _Desk) -> None:
    incoming = BufferedByteReceiveStream(stream)
    while True:
        head = (await incoming.receive_until(b"\r\n\r\n", 65_536)).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in head[1:])
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await incoming.receive_exactly(int(headers.get("content-length", "0")))
        request = Request(_loads(body), head[0].split(" ")[0], headers)
        reply = desk.reply(request, over_http=True)
        if reply is None:
            await anyio.sleep_forever()
        elif reply.streams:
            await _stream(stream, reply)
            return
        else:
            await _send_whole(stream, reply)


async def _stream(stream: SocketStream, reply: Reply) -> None:
    events = b"".join(b"data: " + _dumps(message) + b"\n\n" for message in reply.messages)
    body = events if reply.raw is None else reply.raw
    await stream.send(_head(reply, (("connection", "close"),)) + body)
    if reply.stays_open:
        await anyio.sleep_forever()


async def _send_whole(stream: SocketStream, reply: Reply) -> None:
    body = reply.raw
    if body is None:
        body = b"".join(_dumps(message) for message in reply.messages)
    chunked = any(name == "transfer-encoding" for name, _ in reply.headers)
    framing = () if chunked else (("content-length", str(len(body))),)
    await stream.send(_head(reply, framing) + body)


def _head(reply: Reply, framing: Headers) -> bytes:
    lines = [f"HTTP/1.1 {reply.status} Status"]
    lines += [f"{name}: {value}" for name, value in (*reply.headers, *framing)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def stdio_command(fault: str | None = None) -> tuple[str, ...]:
    """The command that serves over stdio from the root, with a fault of `faults.py` by name."""
    module = (sys.executable, "-m", "tests.probe.fake_server")
    return module if fault is None else (*module, fault)


def serve_stdio(fault: Fault | None) -> None:
    """Serve on standard input and output until the input ends."""
    desk = _Desk(fault)
    for line in sys.stdin.buffer:
        reply = desk.reply(Request(_loads(line)), over_http=False)
        if reply is None:
            continue
        lines = [_dumps(message) for message in reply.messages]
        if reply.raw is not None:
            lines = [reply.raw]
        sys.stdout.buffer.write(b"".join(text + b"\n" for text in lines))
        sys.stdout.buffer.flush()


def _loads(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _dumps(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


if __name__ == "__main__":
    from tests.probe.faults import FAULTS

    serve_stdio(FAULTS[sys.argv[1]] if len(sys.argv) > 1 else None)
