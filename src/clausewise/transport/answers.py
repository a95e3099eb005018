"""What a target gave back to one request, and how the reading ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import same_id


class Ending(StrEnum):
    """Why the reading of an answer stopped."""

    COMPLETE = "complete"
    """The answer is whole: its body or stream ended by itself, or the awaited message came."""
    TIMEOUT = "timeout"
    """Time ran out; what came before it is kept."""
    RESET = "reset"
    """The peer closed the connection, or the process its stdout, before the answer was whole."""
    GARBLED = "garbled"
    """The peer's bytes are no HTTP/1.1."""
    LIMIT = "limit"
    """A bound on bytes or events was reached."""
    CUT = "cut"
    """Reading stopped on purpose while the peer could still have sent more."""
    REFUSED = "refused"
    """Nothing was sent: there was no connection to send it on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request or line sent.

    Attributes:
        exchange: the label of the HTTP exchange on the tape; None on stdio.
        status: the final HTTP status; None on stdio or when no head came.
        headers: the response's headers, in order and case as sent; empty on stdio.
        body: the HTTP body as received, without its framing; empty on stdio.
        messages: the message events that the target sent, in order.
        events: every event of the exchange, the request's own included.
        ending: why the reading stopped.
        detail: the ending in words; empty when complete.
        raw_head: the bytes of the response head, interim (1xx) heads included.
    """

    exchange: int | None
    status: int | None
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    messages: tuple[Event, ...]
    events: tuple[Event, ...]
    ending: Ending
    detail: str = ""
    raw_head: bytes = b""

    def headers_named(self, name: str) -> tuple[str, ...]:
        """The values of the header `name` (any case), in order."""
        wanted = name.lower().encode("latin-1")
        return tuple(v.decode("latin-1") for n, v in self.headers if n.lower() == wanted)

    def header(self, name: str) -> str | None:
        """The values of the header `name` (any case) joined with `, `, or None."""
        values = self.headers_named(name)
        return ", ".join(values) if values else None

    @property
    def media_type(self) -> str | None:
        """The Content-Type without parameters, lower-case; None without the header."""
        return media_type_of(self.header("content-type"))

    def response_to(self, request_id: Any) -> Event | None:
        """The first response whose id has the type and value of `request_id`, or None."""
        for event in self.messages:
            if _is_response(event.payload) and same_id(event.payload["id"], request_id):
                return event
        return None


def media_type_of(content_type: str | None) -> str | None:
    """A Content-Type without its parameters, lower-case; None for no header."""
    return None if content_type is None else content_type.partition(";")[0].strip().lower()


def _is_response(payload: Any) -> bool:
    return (
        isinstance(payload, dict)
        and "id" in payload
        and "method" not in payload
        and ("result" in payload or "error" in payload)
    )


_GATES: Mapping[int, str] = {
    401: "the server wants authorization",
    403: "the request is forbidden",
    407: "a proxy wants authorization",
    429: "too many requests",
}

_BROKEN: Mapping[Ending, str] = {
    Ending.TIMEOUT: "no whole answer in time",
    Ending.RESET: "the connection broke",
    Ending.GARBLED: "the answer is no HTTP/1.1",
    Ending.LIMIT: "the answer exceeds a bound",
    Ending.REFUSED: "no connection",
}


def blocked_reason(answer: Answer) -> str | None:
    """Why an answer says nothing about the target's MCP behaviour; None when it may.

    So it is for a refusal by authorization or rate (401, 403, 407, 429), a redirect, a
    404 or a 5xx that carries no message, and a broken ending without any response. A
    caller that asked for exactly such a status (an Origin probe wants 403) reads it itself.
    """
    status = answer.status
    if status is not None and status in _GATES:
        return f"HTTP {status}: {_GATES[status]}"
    if status is not None and 300 <= status < 400:
        return f"HTTP {status}: the server redirects to {answer.header('location') or 'nowhere'}"
    if not answer.messages:
        if status == 404:
            return "HTTP 404 without a JSON-RPC message: nothing seems to be at this path"
        if status is not None and status >= 500:
            return f"HTTP {status}: the server or a gateway before it failed"
    if answer.ending in _BROKEN and not any(_is_response(e.payload) for e in answer.messages):
        detail = f": {answer.detail}" if answer.detail else ""
        return f"{_BROKEN[answer.ending]}{detail}"
    return None
