"""A quirk makes the reference server another, equally right server; a full check meets it."""

from __future__ import annotations

import itertools
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import anyio
from anyio.abc import SocketAttribute, SocketStream
from anyio.from_thread import start_blocking_portal

from clausewise.app import check
from clausewise.core.results import RunResult
from clausewise.core.vocabulary import Era
from clausewise.probe.supplied import Supplied
from clausewise.reference import http_endpoint
from clausewise.reference.auth.protect import sample_tokens
from clausewise.reference.defects.rewiring import Rewire
from clausewise.reference.http_layer import HttpConnection, HttpExchange, HttpHead
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import build
from clausewise.reference.wiring import ENDPOINT, Runtime, Wiring
from clausewise.transport.targets import HttpTarget, StdioTarget

Front = Callable[[HttpExchange], Awaitable[bool]]
"""Sees a request first; False when it has answered it."""


async def lets_pass(_exchange: HttpExchange) -> bool:
    """No front at all."""
    return True


def unchanged(wiring: Wiring) -> Wiring:
    """The wiring of the reference server as it is."""
    return wiring


@dataclass(frozen=True)
class Quirk:
    """A right way in which a server differs from the reference server.

    Attributes:
        name: what it does, as the end of a sentence that begins with "a server".
        rewire: changes its parts.
        exchange: writes its HTTP answers.
        front: makes what sees each HTTP request first, anew for each server.
        options: what it is started with.
        at: its endpoint.
        headers: what it wants of each client.
        inconclusive: rules and clauses that it rightly leaves undecided.
        stdio: its kind of process (`processes.py`), where it differs on stdio.
    """

    name: str
    rewire: Rewire = unchanged
    exchange: type[HttpExchange] = HttpExchange
    front: Callable[[], Front] = field(default=lambda: lets_pass)
    options: ServerOptions = field(default_factory=ServerOptions)
    at: str = ENDPOINT
    headers: tuple[tuple[str, str], ...] = ()
    inconclusive: frozenset[str] = frozenset()
    stdio: str = ""


@asynccontextmanager
async def serve(quirk: Quirk) -> AsyncIterator[tuple[str, Runtime]]:
    """Serve over HTTP while the context is open; gives the endpoint's URL and the server."""
    options = quirk.options
    listener = await anyio.create_tcp_listener(local_host=options.host, local_port=0)
    async with listener, anyio.create_task_group() as tasks:
        host = f"[{options.host}]" if ":" in options.host else options.host
        origin = f"http://{host}:{listener.extra(SocketAttribute.local_port)}"
        built = build(options, origin)
        runtime = replace(built, wiring=quirk.rewire(built.wiring))
        runtime.wiring.legacy.background.open(tasks)
        front, numbers = quirk.front(), itertools.count(1)

        async def handle(exchange: HttpExchange) -> None:
            exchange.__class__ = quirk.exchange
            if exchange.request.path == quirk.at.partition("?")[0]:
                exchange.request = replace(exchange.request, path=ENDPOINT)
            elif exchange.request.path == ENDPOINT and quirk.at != ENDPOINT:
                await exchange.respond(HttpHead(404))
                return
            if await front(exchange):
                await http_endpoint.handle(exchange, runtime)

        async def connected(stream: SocketStream) -> None:
            async with stream:
                await HttpConnection(stream, next(numbers), handle, options.limits).serve()

        tasks.start_soon(listener.serve, connected)
        yield origin + quirk.at, runtime
        tasks.cancel_scope.cancel()


def check_quirk(quirk: Quirk, era: Era | None = None) -> RunResult:
    """A full check of the server with this quirk; of `era` alone, where that is given."""
    if era is not None:
        quirk = replace(quirk, options=replace(quirk.options, era=era))
    if quirk.stdio:
        command = (
            sys.executable,
            "-m",
            "tests.probe.quirks.processes",
            quirk.stdio,
            quirk.options.era.value,
        )
        return check.run(StdioTarget(command), check.CheckOptions())
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve(quirk)) as (url, runtime),
    ):
        headers, asked = quirk.headers, check.CheckOptions()
        if quirk.options.protected:
            tokens = sample_tokens(runtime.wiring.protection)
            headers = (*headers, ("Authorization", f"Bearer {tokens.full}"))
            supplied = Supplied(foreign_token=tokens.foreign, low_scope_token=tokens.low_scope)
            tools = frozenset({"touch_counter"})
            asked = check.CheckOptions(supplied=supplied, call_tools=tools)
        return check.run(HttpTarget(url, headers), asked)
