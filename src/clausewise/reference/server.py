"""Start the reference server: over HTTP in this process, or on the process's stdin and stdout."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_address

import anyio
from anyio.abc import SocketAttribute, SocketStream

from clausewise.core.errors import UsageError
from clausewise.reference import http_endpoint
from clausewise.reference.defects import address_to_bind, apply_defects
from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.features.content import Content
from clausewise.reference.features.fixtures import with_fixtures
from clausewise.reference.http_layer import HttpConnection, HttpExchange
from clausewise.reference.legacy.service import legacy_parts
from clausewise.reference.legacy.sessions import Sessions
from clausewise.reference.modern.service import modern_parts
from clausewise.reference.options import ServerOptions
from clausewise.reference.wiring import ENDPOINT, HttpParts, Runtime, Wiring


def build(options: ServerOptions, origin: str | None = None) -> Runtime:
    """The server for `options`: the correct wiring with the named defects applied.

    `origin` is where it serves, None on stdio.

    Raises:
        UsageError: a defect of that name does not exist or needs a protected server, or
            such a server cannot be had.
    """
    content = Content(ChangeFeed())
    if options.fixtures:
        content = with_fixtures(content)
    wiring = Wiring(
        modern=modern_parts(content, secrets.token_bytes(32), logging=options.logging),
        legacy=legacy_parts(content, options.limits.ask_s),
        http=HttpParts(
            http_endpoint.routes(options.era), lambda _answered, head: head, http_endpoint.guard
        ),
    )
    if options.protected:
        wiring = _protected(wiring, options, origin)
    wiring = apply_defects(wiring, options.defects)
    return Runtime(options, wiring, Sessions(options.limits.max_sessions))


def _protected(wiring: Wiring, options: ServerOptions, origin: str | None) -> Wiring:
    if origin is None:
        raise UsageError("only HTTP can be protected", "Leave out --auth, or use --http.")
    if options.allow_remote:
        raise UsageError(
            "the authorization server consents to everybody and is for loopback alone",
            "Leave out --auth or --allow-remote.",
        )
    try:
        from clausewise.reference.auth.protect import protect
    except ImportError as error:
        raise UsageError(
            f"the protected mode needs the package {error.name}",
            "Install it with: pip install 'clausewise[auth]'",
        ) from None
    return protect(wiring, origin)


@asynccontextmanager
async def serve_http(options: ServerOptions) -> AsyncIterator[str]:
    """Serve over HTTP while the context is open; gives the URL of the MCP endpoint.

    On leaving, open subscriptions get their closing result, then everything is cut.

    Raises:
        UsageError: an unknown defect, or an address that cannot or must not be bound.
    """
    async with serve_runtime(options) as (url, _):
        yield url


@asynccontextmanager
async def serve_runtime(options: ServerOptions) -> AsyncIterator[tuple[str, Runtime]]:
    """As `serve_http`; gives the running server beside its URL, to get tokens of it."""
    _check_address(options)
    try:
        listener = await anyio.create_tcp_listener(
            local_host=address_to_bind(options.host, options.defects),
            local_port=options.port,
            reuse_port=False,
        )
    except OSError as error:
        raise UsageError(
            f"cannot listen on {options.host}:{options.port}: {error.strerror}",
            "Choose another port, or 0 for a free one.",
        ) from None
    async with listener:
        host = f"[{options.host}]" if ":" in options.host else options.host
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - no Django
        origin = f"http://{host}:{port}"
        runtime = build(options, origin)
        desk = _FrontDesk(runtime)
        async with anyio.create_task_group() as tasks:
            runtime.wiring.legacy.background.open(tasks)
            tasks.start_soon(listener.serve, desk.serve_connection)
            try:
                yield origin + ENDPOINT, runtime
            finally:
                with anyio.CancelScope(shield=True):
                    await desk.end_streams()
                tasks.cancel_scope.cancel()


class _FrontDesk:
    """Takes the connections of one HTTP server, a bounded number at a time."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._numbers = itertools.count(1)
        self._slots = anyio.Semaphore(runtime.options.limits.max_connections)
        self._running = 0
        self._one_ended = anyio.Event()

    async def serve_connection(self, stream: SocketStream) -> None:
        """Serve one connection to its end; a surplus one is answered 503."""
        number = next(self._numbers)
        limits = self._runtime.options.limits
        async with stream:
            try:
                self._slots.acquire_nowait()
            except anyio.WouldBlock:
                await HttpConnection(stream, number, self._handle, limits).refuse(503)
                return
            try:
                await HttpConnection(stream, number, self._handle, limits).serve()
            finally:
                self._slots.release()

    async def _handle(self, exchange: HttpExchange) -> None:
        self._running += 1
        try:
            await http_endpoint.handle(exchange, self._runtime)
        finally:
            self._running -= 1
            self._one_ended.set()
            self._one_ended = anyio.Event()

    async def end_streams(self) -> None:
        """Let open streams end properly, and requests in progress, within a bound."""
        self._runtime.wiring.modern.content.feed.close()
        with anyio.move_on_after(self._runtime.options.limits.shutdown_s):
            while self._running:
                await self._one_ended.wait()


def _check_address(options: ServerOptions) -> None:
    """Only loopback, unless asked for more.

    Source: basic/transports/streamable-http#security-&-endpoint.
    """
    if options.allow_remote or options.host == "localhost":
        return
    try:
        loopback = ip_address(options.host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise UsageError(
            f"{options.host} is no loopback address",
            "Pass --allow-remote to let other machines reach the reference server.",
        )
