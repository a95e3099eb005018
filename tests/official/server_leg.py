"""The server leg: the official suite as a client of the reference server."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from anyio.from_thread import start_blocking_portal

from clausewise.record.journal import Journal, open_recording
from clausewise.record.proxy import ProxyOptions, serve_proxy
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from clausewise.transport.targets import HttpTarget
from tests.official.suite import SuiteRun, run_suite

# Log messages are offered so that it means something when none comes unasked.
FIXTURES = ServerOptions(fixtures=True, logging=True)


def run_server_leg(
    revision: str,
    options: ServerOptions = FIXTURES,
    trace: Path | None = None,
    results: Path | None = None,
) -> SuiteRun:
    """The suite's server scenarios of `revision` against the reference server.

    With `trace` the sessions go through the recorder, and their recording to that file. The
    recorder then answers foreign Host and Origin headers in the server's place. `results` is
    where the suite's own output is to stay.
    """
    with _served(options, trace) as url:
        return run_suite("server", revision, ["--url", url], results)


@contextmanager
def _served(options: ServerOptions, trace: Path | None) -> Iterator[str]:
    """The URL of a running reference server, or of the recorder before it."""
    serving = serve_http(options) if trace is None else _recorded(options, trace)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(serving) as url:
        yield url


@asynccontextmanager
async def _recorded(options: ServerOptions, trace: Path) -> AsyncIterator[str]:
    writer, _ = open_recording(trace, overwrite=True, keep_payloads=False)
    with writer:
        journal = Journal(writer, keep_payloads=False, complain=_complain)
        async with serve_http(options) as server:
            proxy = ProxyOptions(HttpTarget(server))
            async with serve_proxy(proxy, journal, _complain) as url:
                yield url


def _complain(text: str) -> None:
    print(text, file=sys.stderr)
