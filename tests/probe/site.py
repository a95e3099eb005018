"""A web site for tests: a function from request to answer, served over loopback."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.tls import TLSListener

from clausewise.reference.http_layer import HttpConnection, HttpExchange, HttpHead, HttpRequest
from clausewise.reference.options import ServerLimits

JSON = (("Content-Type", "application/json"),)
GOOD_TOKEN = "good-token-of-the-user"
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 1,
    "cacheScope": "private",
    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "site", "version": "1"}},
}


@dataclass(frozen=True)
class Page:
    """One answer; a `value` is sent as JSON."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = JSON
    value: Any = None
    body: bytes = b""

    @property
    def content(self) -> bytes:
        return self.body if self.value is None else json.dumps(self.value).encode()


Site = Callable[[HttpRequest, str], Page]
"""The answer to a request; the second argument is the site's origin."""


@asynccontextmanager
async def serve(site: Site, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve `site`; gives its origin."""
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    origin = f"{'http' if tls is None else 'https'}://127.0.0.1:{port}"

    async def answer(exchange: HttpExchange) -> None:
        page = site(exchange.request, origin)
        await exchange.respond(HttpHead(page.status, page.headers), page.content)

    async def serve_one(stream: ByteStream) -> None:
        async with stream:
            await HttpConnection(stream, 1, answer, ServerLimits()).serve()

    listening = listener if tls is None else TLSListener(listener, tls, False)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listening.serve, serve_one)
        yield origin
        tasks.cancel_scope.cancel()


@dataclass(frozen=True)
class Guarded:
    """A protected endpoint at /mcp, and pages at other paths.

    `{origin}` in a header or in a JSON value stands for the site's origin.
    """

    refusal: Page
    pages: Mapping[str, Page] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: HttpRequest, origin: str) -> Page:
        self.asked.append(request.path)
        if request.path == "/mcp":
            page = self._endpoint(request)
        else:
            page = self.pages.get(request.path, Page(404, ()))
        headers = tuple((name, text.replace("{origin}", origin)) for name, text in page.headers)
        value = page.value
        if value is not None:
            value = json.loads(json.dumps(value).replace("{origin}", origin))
        return Page(page.status, headers, value, page.body)

    def _endpoint(self, request: HttpRequest) -> Page:
        if request.value("authorization") != f"Bearer {GOOD_TOKEN}":
            return self.refusal
        message = json.loads(request.body)
        if message["method"] == "server/discover":
            return Page(value={"jsonrpc": "2.0", "id": message["id"], "result": DISCOVERED})
        error = {"code": -32601, "message": "Method not found"}
        return Page(404, value={"jsonrpc": "2.0", "id": message["id"], "error": error})


def challenge(text: str, status: int = 401) -> Page:
    """A refusal with one WWW-Authenticate header."""
    return Page(status, (("WWW-Authenticate", text),))
