"""Header validation on Streamable HTTP; on stdio there is no header layer and nothing to check.

Source: basic/transports/streamable-http, sections Request Metadata and Server Validation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clausewise.reference.http_layer import HttpRequest
from clausewise.reference.messages import RpcError
from clausewise.reference.modern.parts import HEADER_MISMATCH, Incoming, ModernParts
from clausewise.wire import sentinel
from clausewise.wire.headers import METHOD_HEADER, NAME_HEADER, NAMED_BY, VERSION_HEADER
from clausewise.wire.meta import META_VERSION

PARAMETER_PREFIX = "Mcp-Param-"


_ALLOWED = re.compile(r"[\x20-\x7e\t]*")
_INTEGER = re.compile(r"-?[0-9]{1,40}(\.0{1,40})?")


def version_present(incoming: Incoming, _parts: ModernParts) -> None:
    """MCP-Protocol-Version is there once, in header-safe ASCII."""
    _require(incoming, VERSION_HEADER)


def method_present(incoming: Incoming, _parts: ModernParts) -> None:
    """Mcp-Method is there once, in header-safe ASCII."""
    _require(incoming, METHOD_HEADER)


def version_matches(incoming: Incoming, _parts: ModernParts) -> None:
    """MCP-Protocol-Version equals the version in `_meta`."""
    _match_plain(incoming, VERSION_HEADER, incoming.meta.get(META_VERSION))


def method_matches(incoming: Incoming, _parts: ModernParts) -> None:
    """Mcp-Method equals the method."""
    _match_plain(incoming, METHOD_HEADER, incoming.method)


def name_matches(incoming: Incoming, _parts: ModernParts) -> None:
    """Mcp-Name, decoded, equals the body parameter that it mirrors."""
    source = NAMED_BY.get(incoming.method)
    if incoming.http is None or source is None:
        return
    header = _decoded(_single(incoming.http, NAME_HEADER), NAME_HEADER)
    body = incoming.params.get(source)
    if header != body:
        raise _mismatch(f"{NAME_HEADER} {header!r} is not params.{source} {body!r}")


def parameters_match(incoming: Incoming, parts: ModernParts) -> None:
    """Every annotated parameter of the called tool equals its header, or both are absent."""
    if incoming.http is None or incoming.method != "tools/call":
        return
    for tool in parts.content.tools:
        if tool.name == incoming.params.get("name"):
            for header, path in annotated(tool.definition["inputSchema"]):
                _match_parameter(incoming, PARAMETER_PREFIX + header, path)


def annotated(schema: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each `x-mcp-header` name of an input schema with the property path it annotates."""
    for name, sub in schema.get("properties", {}).items():
        if "x-mcp-header" in sub:
            yield sub["x-mcp-header"], (name,)
        for header, path in annotated(sub):
            yield header, (name, *path)


def _match_parameter(incoming: Incoming, header: str, path: tuple[str, ...]) -> None:
    value: Any = incoming.params.get("arguments")
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    http = incoming.http
    if http is None:
        return
    if not http.values(header):
        if value is not None:
            raise _mismatch(f"the header {header} is missing")
        return
    given = _decoded(_single(http, header), header)
    if not _same_value(given, value):
        raise _mismatch(f"{header} {given!r} does not match the argument {'.'.join(path)}")


def _same_value(header: str, body: Any) -> bool:
    """Compares a decoded header value with a primitive body value, integers numerically."""
    if isinstance(body, bool):
        return header == ("true" if body else "false")
    if isinstance(body, (int, float)):
        return bool(_INTEGER.fullmatch(header)) and int(header.partition(".")[0]) == body
    return isinstance(body, str) and header == body


def _require(incoming: Incoming, name: str) -> None:
    if incoming.http is not None:
        _single(incoming.http, name)


def _match_plain(incoming: Incoming, name: str, body: Any) -> None:
    if incoming.http is not None:
        header = _single(incoming.http, name)
        if header != body:
            raise _mismatch(f"{name} {header!r} is not the body's {body!r}")


def _single(http: HttpRequest, name: str) -> str:
    values = http.values(name)
    if not values:
        raise _mismatch(f"the header {name} is missing")
    if len(values) > 1:
        raise _mismatch(f"the header {name} occurs {len(values)} times")
    if not _ALLOWED.fullmatch(values[0]):
        raise _mismatch(f"the header {name} contains invalid characters")
    return values[0]


def _decoded(value: str, name: str) -> str:
    try:
        return sentinel.decode(value)
    except sentinel.SentinelError as error:
        raise _mismatch(f"the header {name} is wrongly encoded: {error}") from None


def _mismatch(detail: str) -> RpcError:
    return RpcError(HEADER_MISMATCH, f"Header mismatch: {detail}")
