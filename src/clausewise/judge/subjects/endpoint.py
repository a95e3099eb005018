"""Which HTTP exchanges are the client's business with the MCP endpoint."""

from __future__ import annotations

from collections.abc import Mapping

from clausewise.judge.session.exchanges import Exchange
from clausewise.judge.session.sessions import Session
from clausewise.trace.events import Event

LAST_EVENT_ID_HEADER = "last-event-id"

_METHODS = frozenset({"POST", "GET", "DELETE", None})
_MCP_PREFIX = "mcp-"


def is_with_endpoint(exchange: Exchange, session: Session) -> bool:
    """Whether `exchange` is with the MCP endpoint, as its path tells.

    Preflights and requests to other paths (metadata, tokens) are not. Where the recording
    tells no path, or not yet which is the endpoint's, the request must carry a message or be
    marked as the protocol's.
    """
    if exchange.method not in _METHODS:
        return False
    path, endpoint = exchange.path, session.endpoint
    if path is not None and endpoint is not None:
        return path == endpoint
    return exchange.posted is not None or (exchange.head is not None and is_marked(exchange.head))


def is_marked(head: Event) -> bool:
    """Whether a request head has a header that only an MCP client sends."""
    headers = head.fields.get("headers")
    if not isinstance(headers, Mapping):
        return False
    return any(
        name.startswith(_MCP_PREFIX) or name == LAST_EVENT_ID_HEADER
        for name in map(str.lower, headers)
    )
