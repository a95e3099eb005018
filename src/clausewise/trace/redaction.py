"""What never reaches a trace: headers outside an allowlist, and credentials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

RECORDED_HEADERS = frozenset(
    {
        "accept",
        "access-control-allow-origin",
        "allow",
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "host",
        "last-event-id",
        "location",
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "mcp-session-id",
        "origin",
        "retry-after",
        "server",
        "transfer-encoding",
        "user-agent",
        "vary",
        "via",
        "www-authenticate",
        "x-accel-buffering",
    }
)
"""Lower-case names of the headers whose values are recorded; `mcp-param-*` are, too."""

REDACTED = "[redacted]"


def recorded_headers(headers: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str | list[str]]:
    """The headers that a trace may hold, by lower-case name.

    Credential headers leave only the fact that they were sent. A name that occurs more
    than once has a list of values, in order.
    """
    kept: dict[str, list[str]] = {}
    for raw_name, raw_value in headers:
        name = raw_name.decode("latin-1").strip().lower()
        if name in ("authorization", "cookie", "set-cookie", "proxy-authorization"):
            kept.setdefault(name, []).append(REDACTED)
        elif name in RECORDED_HEADERS or name.startswith("mcp-param-"):
            kept.setdefault(name, []).append(raw_value.decode("latin-1"))
    return {name: values[0] if len(values) == 1 else values for name, values in kept.items()}
