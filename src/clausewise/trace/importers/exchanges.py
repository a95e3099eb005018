"""HTTP exchanges as other tools export them, and which of them are MCP."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any
from urllib.parse import urlsplit

from clausewise.core.errors import TraceError, UsageError
from clausewise.core.vocabulary import Revision
from clausewise.wire import methods
from clausewise.wire.jsontext import JsonTextError, decode

EVENT_STREAM = "text/event-stream"
SESSION_HEADER = "mcp-session-id"

Headers = tuple[tuple[str, str], ...]

_SIGNS = frozenset({"mcp-session-id", "mcp-protocol-version", "mcp-method"})
_METHOD_TABLES = (methods.requests, methods.notifications)
_SHOWN_ENDPOINTS = 5
_ENDPOINT_EVENT = re.compile(rb"^event: ?endpoint\r?\ndata: ?(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Body:
    """The body of a request or response.

    Attributes:
        data: what of it was exported, decoded from any transfer and content coding.
        is_whole: whether that is all of it.
        is_source: whether it is the text that was sent, not JSON written anew.
    """

    data: bytes
    is_whole: bool = True
    is_source: bool = True

    @cached_property
    def value(self) -> Any:
        """The JSON value; None if it is no JSON."""
        try:
            return decode(self.data)
        except JsonTextError:
            return None


@dataclass(frozen=True, slots=True)
class ForeignExchange:
    """One exported HTTP exchange.

    Attributes:
        method: upper case.
        url: as exported.
        request_headers, response_headers: names and values in order; None: not exported.
        request_body, response_body: None: there was none, or nothing is known of it.
        status: None: no response came, or it was not exported.
        started, headed, ended: when the request was sent, the response's head came and its body
            ended, in milliseconds since 1970; None: not exported.
    """

    method: str
    url: str
    request_headers: Headers | None = None
    request_body: Body | None = None
    status: int | None = None
    response_headers: Headers | None = None
    response_body: Body | None = None
    started: float | None = None
    headed: float | None = None
    ended: float | None = None

    @property
    def is_readable(self) -> bool:
        """Whether it is known what the request asked for."""
        body = self.request_body
        return body is None or body.is_whole or body.value is not None

    @property
    def endpoint(self) -> str:
        """The URL without query, fragment and credentials."""
        return endpoint_of(self.url)

    @property
    def streams(self) -> bool:
        """Whether the response is a stream of events."""
        kind = header(self.response_headers, "content-type") or ""
        return kind.partition(";")[0].strip().lower() == EVENT_STREAM

    @property
    def session_id(self) -> str | None:
        """The session that the request names."""
        return header(self.request_headers, SESSION_HEADER)


def header(headers: Headers | None, name: str) -> str | None:
    """The first value of the header `name` (lower case), or None."""
    return next((value for key, value in headers or () if key.lower() == name), None)


def readable(exchanges: Iterable[ForeignExchange]) -> tuple[list[ForeignExchange], tuple[str, ...]]:
    """The exchanges whose request is known, and a note on the others.

    Without the request nothing can be said of the response either.
    """
    everything = list(exchanges)
    kept = [exchange for exchange in everything if exchange.is_readable]
    lost = len(everything) - len(kept)
    if not lost:
        return kept, ()
    are, their = (
        ("exchange is", "its request") if lost == 1 else ("exchanges are", "their requests")
    )
    return kept, (f"{lost} {are} left out: the body of {their} is not in the export",)


def endpoint_of(url: str) -> str:
    """`url` without query, fragment and credentials; host and scheme in lower case."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        return url
    bracketed = f"[{host}]" if ":" in host else host
    return f"{parts.scheme.lower()}://{bracketed}{'' if port is None else f':{port}'}{parts.path}"


def path_of(url: str) -> str:
    """The path of `url`, `/` for none."""
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return "/"


def mcp_exchanges(
    exchanges: Iterable[ForeignExchange], name: str, endpoint: str | None
) -> list[ForeignExchange]:
    """Those that are MCP over Streamable HTTP, at one endpoint.

    That is every POST, each GET of an event stream and each DELETE of a session. Without
    `endpoint` it is the one URL to which JSON-RPC messages of MCP are posted. The older
    transport that answers on another URL's stream (HTTP+SSE of 2024-11-05) is none of it.

    Raises:
        UsageError: `endpoint` is no URL.
        TraceError: there are none, or several endpoints to choose from.
    """
    everything = list(exchanges)
    if endpoint is not None and "://" not in endpoint:
        raise UsageError(f"--endpoint {endpoint!r} is no URL", "For example http://localhost/mcp.")
    found = {endpoint_of(endpoint)} if endpoint is not None else _endpoints(everything)
    if len(found) > 1:
        listed = sorted(found)
        more = f" and {len(listed) - _SHOWN_ENDPOINTS} more" * (len(listed) > _SHOWN_ENDPOINTS)
        raise TraceError(
            f"{name}: MCP traffic with {len(found)} endpoints: "
            f"{', '.join(listed[:_SHOWN_ENDPOINTS])}{more}",
            "Choose one with --endpoint URL.",
        )
    chosen = [e for e in everything if e.endpoint in found and _is_mcp_request(e)]
    if not chosen:
        where = "" if endpoint is None else f" with {endpoint}"
        raise TraceError(
            f"{name}: no MCP traffic over Streamable HTTP{where} among {len(everything)} exchanges",
            "Export it with bodies, from the start of the session.",
        )
    return chosen


def _endpoints(exchanges: list[ForeignExchange]) -> set[str]:
    posted = {e.endpoint for e in exchanges if e.method == "POST" and _posts_mcp(e)}
    return posted - {address for e in exchanges for address in _announced(e)}


def _announced(exchange: ForeignExchange) -> list[str]:
    """The URLs that a stream of HTTP+SSE (2024-11-05) tells its client to post to."""
    body = exchange.response_body
    if exchange.method != "GET" or not exchange.streams or body is None:
        return []
    found = _ENDPOINT_EVENT.search(body.data)
    if found is None:
        return []
    address = found[1].decode("utf-8", "replace")
    if "://" in address:
        return [endpoint_of(address)]
    base = exchange.endpoint.removesuffix(path_of(exchange.url))
    return [endpoint_of(f"{base}/{address.lstrip('/')}")]


def _posts_mcp(exchange: ForeignExchange) -> bool:
    value = exchange.request_body.value if exchange.request_body is not None else None
    messages = [m for m in (value if isinstance(value, list) else [value]) if isinstance(m, dict)]
    if not any("jsonrpc" in message for message in messages):
        return False
    if any(name.lower() in _SIGNS for name, _ in exchange.request_headers or ()):
        return True
    named = [message.get("method") for message in messages]
    return any(isinstance(method, str) and method in _known_methods() for method in named)


@cache
def _known_methods() -> frozenset[str]:
    tables = (table(revision) for revision in Revision for table in _METHOD_TABLES)
    return frozenset(method for table in tables for method in table)


def _is_mcp_request(exchange: ForeignExchange) -> bool:
    if exchange.method == "POST":
        return True
    if exchange.method == "GET":
        return exchange.streams or EVENT_STREAM in (
            header(exchange.request_headers, "accept") or ""
        )
    return exchange.method == "DELETE" and exchange.session_id is not None
