"""How long `--help` takes, beside an interpreter that does nothing, and a whole `check`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence

from anyio.from_thread import start_blocking_portal

from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http

_ROUNDS = 9
_REFERENCE = (sys.executable, "-m", "clausewise", "reference", "server", "--stdio")


def help_ratio() -> float:
    """The time of `clausewise --help`, by that of a bare interpreter; the fastest of each."""
    fastest = {
        name: min(_seconds(arguments) for _ in range(_ROUNDS))
        for name, arguments in (("bare", ("-c", "pass")), ("help", ("-m", "clausewise", "--help")))
    }
    return fastest["help"] / fastest["bare"]


def check_over_http() -> float:
    """Seconds of a check of the reference server, every probe and every check on."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_http(ServerOptions())) as url,
    ):
        return check_seconds(url)


def check_seconds(url: str) -> float:
    """Seconds of a check of the server at `url`."""
    return _seconds(("-m", "clausewise", "check", url))


def check_over_stdio(*options: str) -> float:
    """The same over stdio, starts of the server with these options included."""
    return _seconds(("-m", "clausewise", "check", "--", *_REFERENCE, *options))


def _seconds(arguments: Sequence[str]) -> float:
    # Users run with bytecode caches.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    begun = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    return time.perf_counter() - begun
