"""The reference server as a process: its standard streams, its signals."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from clausewise.reference.auth.parts import AuthParts
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import build, serve_runtime
from clausewise.reference.stdio_layer import serve_streams

_STDIN, _STDOUT = 0, 1
_READ_BYTES = 64 * 1024


class StdinStream(ByteReceiveStream):
    """Standard input, read without a thread: a pending read can be cancelled."""

    async def receive(self, max_bytes: int = _READ_BYTES) -> bytes:
        # A regular file cannot be waited for, and need not be.
        with suppress(PermissionError):
            await anyio.wait_readable(_STDIN)
        data = os.read(_STDIN, max_bytes)
        if not data:
            raise anyio.EndOfStream
        return data

    async def aclose(self) -> None:
        """The descriptor stays open: it belongs to the process."""


class StdoutStream(ByteSendStream):
    """Standard output; a parent that does not read holds up the writer, not the process."""

    async def send(self, item: bytes) -> None:
        view = memoryview(item)
        while view:
            with suppress(PermissionError):
                await anyio.wait_writable(_STDOUT)
            try:
                # So much fits into a pipe that is ready, so the write does not block.
                written = os.write(_STDOUT, view[: select.PIPE_BUF])
            except BrokenPipeError:
                raise anyio.BrokenResourceError from None
            view = view[written:]

    async def aclose(self) -> None:
        """The descriptor stays open: it belongs to the process."""


async def serve_stdio(options: ServerOptions) -> None:
    """Serve the parent process over stdin and stdout until either ends, or a signal comes.

    Raises:
        UsageError: an unknown defect.
    """
    runtime = build(options)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_on_signal, tasks.cancel_scope)
        await serve_streams(runtime, StdinStream(), StdoutStream())
        tasks.cancel_scope.cancel()


async def serve_http_until_signal(options: ServerOptions, announce: Callable[[str], None]) -> None:
    """Serve over HTTP until SIGINT or SIGTERM; `announce` is called with the URL.

    Of a protected server it is then called with three tokens to try it with, one each, as
    `NAME=TOKEN`.

    Raises:
        UsageError: an unknown defect, or an address that cannot or must not be bound.
    """
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with serve_runtime(options) as (url, runtime):
            announce(url)
            if runtime.wiring.auth is not None:
                _announce_tokens(runtime.wiring.auth, announce)
            async for _ in signals:
                return


def _announce_tokens(parts: AuthParts, announce: Callable[[str], None]) -> None:
    from clausewise.reference.auth.protect import sample_tokens

    tokens = sample_tokens(parts)
    announce(f"TOKEN={tokens.full}")
    announce(f"LOW_SCOPE_TOKEN={tokens.low_scope}")
    announce(f"FOREIGN_TOKEN={tokens.foreign}")


async def _cancel_on_signal(scope: anyio.CancelScope) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            scope.cancel()
            return
