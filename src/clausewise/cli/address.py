"""Addresses on the command line."""

from __future__ import annotations

from clausewise.core.errors import UsageError

_MAX_PORT = 65535


def parse_address(address: str) -> tuple[str, int]:
    """Host, without brackets, and port of `HOST:PORT`; a missing host is 127.0.0.1.

    Raises:
        UsageError: it is none.
    """
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > _MAX_PORT:
        raise UsageError(f"{address!r} is no HOST:PORT", "Write it like 127.0.0.1:3000.")
    return host.strip("[]") or "127.0.0.1", int(port)
