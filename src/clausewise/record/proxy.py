"""Listen for clients of a Streamable HTTP server and carry their connections to it."""

from __future__ import annotations

import resource
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ipaddress import ip_address

import anyio
from anyio.abc import SocketAttribute, SocketStream

from clausewise.core.errors import UsageError
from clausewise.record.http_conversation import Conversation
from clausewise.record.http_relay import HttpRelay
from clausewise.record.journal import Journal
from clausewise.transport.http import HttpTarget
from clausewise.transport.limits import Limits

_SPARE_DESCRIPTORS = 64
_SURPLUS = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n"
    b"Retry-After: 1\r\nConnection: close\r\n\r\n"
)


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """Where to listen and what for.

    Attributes:
        upstream: the server's MCP endpoint. Requests go to its host whatever their path;
            clients use the same path here.
        host: the address to bind; only loopback unless `allow_remote`.
        port: the port to bind; 0 for a free one.
        limits: see `HttpRelay`; bounds of heads and of recorded bodies.

    Raises:
        UsageError: `host` is no loopback address, or the upstream's URL has a query.
    """

    upstream: HttpTarget
    host: str = "127.0.0.1"
    port: int = 0
    allow_remote: bool = False
    limits: Limits = Limits()

    def __post_init__(self) -> None:
        if "?" in self.upstream.request_target:
            raise UsageError(
                "the upstream URL has a query, which a proxy cannot add unseen",
                "Leave it out here and put it into the URL that the client uses.",
            )
        if not (self.allow_remote or self.is_local):
            raise UsageError(
                f"{self.host} is no loopback address",
                "Pass --allow-remote to let other machines reach the server through the proxy.",
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine reaches the proxy."""
        return _is_loopback(self.host)

    def is_own_host(self, value: str) -> bool:
        """Whether a Host header names this proxy; a name we cannot know counts when remote.

        On loopback a foreign name is the sign of DNS rebinding: a web page whose own host
        name has come to mean this machine.
        """
        host = value.strip().lower()
        host = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        return not self.is_local or host == self.host.lower() or _is_loopback(host)


@asynccontextmanager
async def serve_proxy(
    options: ProxyOptions, journal: Journal, complain: Callable[[str], None]
) -> AsyncIterator[str]:
    """Carry and record connections while the context is open; gives the URL for clients.

    Raises:
        UsageError: the address cannot be bound.
    """
    try:
        listener = await anyio.create_tcp_listener(local_host=options.host, local_port=options.port)
    except OSError as error:
        raise UsageError(
            f"cannot listen on {options.host}:{options.port}: {error.strerror or error}",
            "Choose another port, or 0 for a free one.",
        ) from None
    slots = anyio.CapacityLimiter(_most_connections())

    async def serve(client: SocketStream) -> None:
        async with client:
            try:
                slots.acquire_on_behalf_of_nowait(client)
            except anyio.WouldBlock:
                complain("refused a connection: too many are open")
                await _turn_away(client)
                return
            try:
                conversation = Conversation(
                    journal.tape, options.limits, options.upstream.authority, options.is_own_host
                )
                relay = HttpRelay(client, options.upstream, conversation, options.limits, complain)
                await relay.run()
            finally:
                slots.release_on_behalf_of(client)

    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, serve)
        host = f"[{options.host}]" if ":" in options.host else options.host
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 - no Django
        try:
            yield f"http://{host}:{port}{options.upstream.request_target}"
        finally:
            tasks.cancel_scope.cancel()


async def serve_proxy_until_signal(
    options: ProxyOptions,
    journal: Journal,
    announce: Callable[[str], None],
    complain: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM; `announce` is called with the URL for clients.

    Raises:
        UsageError: the address cannot be bound.
    """
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with serve_proxy(options, journal, complain) as url:
            announce(url)
            async for _ in signals:
                return


async def _turn_away(client: SocketStream) -> None:
    try:
        await client.send(_SURPLUS)
        await client.send_eof()
    except (anyio.BrokenResourceError, OSError):
        return


def _most_connections() -> int:
    """How many can be open at a time: each takes two descriptors."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, (soft - _SPARE_DESCRIPTORS) // 2)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
