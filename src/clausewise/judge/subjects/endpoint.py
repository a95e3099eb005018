"""Which HTTP exchanges are the client's business with the MCP endpoint."""

from __future__ import annotations

from clausewise.judge.gate import VERSION_HEADER
from clausewise.judge.session.exchanges import EVENT_STREAM, SESSION_HEADER, Exchange
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.media_ranges import Listing, listing
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
    path, endpoint = exchange.path, session.endpoint
    if path is not None and endpoint is not None:
        return path == endpoint and exchange.method in _METHODS
    if exchange.method not in _METHODS:
        return False
    return exchange.posted is not None or (exchange.head is not None and is_marked(exchange.head))


def is_marked(head: Event) -> bool:
    """Whether a request head has a header that only an MCP client sends."""
    names = head.header_names
    if SESSION_HEADER in names or LAST_EVENT_ID_HEADER in names:
        return True
    return any(name.startswith(_MCP_PREFIX) for name in names)


def asks_for_stream(exchange: Exchange) -> bool:
    """Whether the request lists text/event-stream among what it accepts."""
    accept = exchange.head.header("accept") if exchange.head is not None else None
    return accept is not None and listing(accept, EVENT_STREAM) is Listing.LISTED


def belongs_to_session(exchange: Exchange, session: Session) -> bool:
    """Whether the request names the version and the id of the session, once it has them."""
    head = exchange.head
    if head is None or not session.handshake.succeeded:
        return False
    names_version = head.header(VERSION_HEADER) == session.handshake.version
    return names_version and exchange.sent_id == session.session_id
