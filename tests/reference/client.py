"""A raw client: sends what it is told, byte for byte, and shows what comes back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import anyio
import h11
from anyio.abc import ByteStream

Json = dict[str, Any]

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
META: Json = {
    PREFIX + "protocolVersion": VERSION,
    PREFIX + "clientInfo": {"name": "raw", "version": "1"},
    PREFIX + "clientCapabilities": {},
}
ABLE_META: Json = META | {PREFIX + "clientCapabilities": {"elicitation": {}}}
LEGACY_VERSION = "2025-11-25"
MEDIA = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole HTTP answer; `messages` are those of its JSON body or its events, in order."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_stream(self) -> bool:
        return self.headers.get("content-type") == "text/event-stream"

    @property
    def messages(self) -> list[Json]:
        if self.is_stream:
            return [json.loads(data) for data in events(self.body) if data]
        return [json.loads(self.body)] if self.body else []

    @property
    def message(self) -> Json:
        """The last message: the response."""
        return self.messages[-1]

    @property
    def result(self) -> Json:
        found: Json = self.message["result"]
        return found

    @property
    def error(self) -> Json:
        found: Json = self.message["error"]
        return found


def events(body: bytes) -> list[bytes]:
    """The data of each whole event in an SSE body."""
    found = []
    for block in body.split(b"\n\n")[:-1]:
        lines = [line for line in block.split(b"\n") if line.startswith(b"data:")]
        if lines:
            found.append(b"\n".join(line[5:].removeprefix(b" ") for line in lines))
    return found


class Client:
    """One connection to a server under test."""

    def __init__(self, stream: ByteStream, host: str) -> None:
        self.stream = stream
        self.host = host
        self._parser = h11.Connection(h11.CLIENT)

    async def send(
        self, method: str, headers: Mapping[str, str], body: bytes = b"", path: str = "/mcp"
    ) -> None:
        """Write a request; `headers` may override Host and Content-Length."""
        self._parser = h11.Connection(h11.CLIENT)
        self._parser.send(h11.Request(method=method, target=path, headers=[("Host", "x")]))
        self._parser.send(h11.EndOfMessage())
        every = {"Host": self.host, "Content-Length": str(len(body)), **headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in every.items())
        await self.stream.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)

    async def head(self) -> tuple[int, Mapping[str, str]]:
        """Read status and headers of the answer."""
        event = await self._next()
        assert isinstance(event, h11.Response), event
        headers = {name.decode(): value.decode() for name, value in event.headers}
        return event.status_code, headers

    async def chunk(self) -> bytes | None:
        """The next piece of the body, or None at its end."""
        event = await self._next()
        return bytes(event.data) if isinstance(event, h11.Data) else None

    async def event(self) -> Json:
        """The next SSE event that has data (each is one write of the server)."""
        while True:
            piece = await self.chunk()
            assert piece is not None, "the stream ended"
            for data in events(piece):
                if data:
                    message: Json = json.loads(data)
                    return message

    async def answer(self) -> Answer:
        """Read a whole answer."""
        status, headers = await self.head()
        body = b""
        while (piece := await self.chunk()) is not None:
            body += piece
        return Answer(status, headers, body)

    async def at_end(self) -> bool:
        """Whether the server closes the connection without another byte."""
        try:
            await self.stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return True
        return False

    async def _next(self) -> Any:
        while True:
            event = self._parser.next_event()
            if event is not h11.NEED_DATA:
                return event
            try:
                self._parser.receive_data(await self.stream.receive())
            except anyio.EndOfStream:
                self._parser.receive_data(b"")

    async def exchange(
        self, method: str, headers: Mapping[str, str], body: bytes = b"", path: str = "/mcp"
    ) -> Answer:
        await self.send(method, headers, body, path)
        return await self.answer()

    async def modern(
        self,
        method: str,
        params: Json | None = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        request_id: Any = 1,
    ) -> Answer:
        """A conforming modern request, with headers replaced or (None) left out."""
        await self.send_modern(method, params, headers=headers, request_id=request_id)
        return await self.answer()

    async def send_modern(
        self,
        method: str,
        params: Json | None = None,
        *,
        headers: Mapping[str, str | None] | None = None,
        request_id: Any = 1,
    ) -> None:
        await self.send(
            "POST",
            _edited(modern_headers(method, params or {}), headers),
            json.dumps(modern_message(method, params, request_id)).encode(),
        )

    async def post(self, message: Any, headers: Mapping[str, str] | None = None) -> Answer:
        """POST any JSON value with the media headers alone."""
        return await self.exchange(
            "POST", {**MEDIA, **(headers or {})}, json.dumps(message).encode()
        )


def modern_message(method: str, params: Json | None = None, request_id: Any = 1) -> Json:
    """A conforming modern request message; `_meta` is filled in unless given."""
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": {"_meta": META, **(params or {})},
    }


def modern_headers(method: str, params: Json) -> dict[str, str]:
    headers = {**MEDIA, "MCP-Protocol-Version": VERSION, "Mcp-Method": method}
    name = params.get("uri") if method == "resources/read" else params.get("name")
    if isinstance(name, str):
        headers["Mcp-Name"] = name
    return headers


def _edited(headers: dict[str, str], edits: Mapping[str, str | None] | None) -> Mapping[str, str]:
    merged: dict[str, str | None] = {**headers, **(edits or {})}
    return {name: value for name, value in merged.items() if value is not None}


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Client]:
    """A connection to the server at `url`; everything in it must end within thirty seconds."""
    parts = urlsplit(url)
    assert parts.hostname is not None and parts.port is not None
    with anyio.fail_after(30):
        async with await anyio.connect_tcp(parts.hostname, parts.port) as stream:
            yield Client(stream, parts.netloc)


def legacy_message(method: str, params: Json | None = None, request_id: Any = 1) -> Json:
    message: Json = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message | ({} if params is None else {"params": params})


def initialize_message(capabilities: Json | None = None, version: str = LEGACY_VERSION) -> Json:
    return legacy_message(
        "initialize",
        {
            "protocolVersion": version,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "raw", "version": "1"},
        },
        "init",
    )


async def open_session(client: Client, capabilities: Json | None = None) -> dict[str, str]:
    """Initialize a legacy session; gives the headers for what follows."""
    answer = await client.post(initialize_message(capabilities))
    headers = {
        "MCP-Session-Id": answer.headers["mcp-session-id"],
        "MCP-Protocol-Version": answer.result["protocolVersion"],
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await client.post(ready, headers)).status < 300
    return headers
