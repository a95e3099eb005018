"""Turn the exported body of a request or response into what a live recording would hold."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from clausewise.trace.events import EventKind
from clausewise.trace.importers.exchanges import Body, ForeignExchange, header
from clausewise.trace.raw import CUT_SHORT, clipped
from clausewise.wire.jsontext import JsonTextError, decode
from clausewise.wire.sse import SseEvent, SseIgnoredLine, SseParser

_UNBOUNDED = 1 << 62
"""The document that holds the body has a bound of its own."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One event to be: its kind and fields, the payload and source text of a message."""

    kind: EventKind
    fields: Mapping[str, Any] = field(default_factory=dict)
    payload: Any = None
    text: bytes | None = None


def request_pieces(body: Body) -> list[Piece]:
    """What a request's body holds; nothing if it is empty."""
    if not body.data and body.is_whole:
        return []
    return [_message_or_raw(body)]


def response_pieces(exchange: ForeignExchange) -> list[Piece]:
    """What a response's body holds, in order; nothing if it is empty or was not exported.

    An end of a stream is none of it: no format tells which side ended it.
    """
    body = exchange.response_body
    if body is None or (not body.data and body.is_whole):
        return []
    if exchange.streams:
        return list(_stream_pieces(body))
    kind = (header(exchange.response_headers, "content-type") or "").partition(";")[0]
    kind = kind.strip().lower()
    if kind == "application/json" or kind.endswith("+json"):
        return [_message_or_raw(body, _coding(exchange))]
    if body.data.lstrip().startswith((b"{", b"[")) and body.value is not None:
        return [_message_or_raw(body)]
    why = f"a body of type {(kind or 'none')[:80]!r}"
    return [_raw(body.data, why if body.is_whole else CUT_SHORT + why)]


def _coding(exchange: ForeignExchange) -> str | None:
    """The content coding that may not have been undone, or None."""
    coding = (header(exchange.response_headers, "content-encoding") or "").strip().lower()
    return None if coding in ("", "identity") else coding


def _message_or_raw(body: Body, coding: str | None = None) -> Piece:
    try:
        payload = decode(body.data)
    except JsonTextError as error:
        why = f"no JSON: {error}"
        if not body.is_whole:
            why = f"{CUT_SHORT}the export holds only a part of the body"
        elif coding is not None:
            why = f"{CUT_SHORT}the body may still be in the coding {coding[:80]!r}"
        return _raw(body.data, why)
    text = body.data if body.is_source else None
    return Piece(EventKind.MESSAGE, payload=payload, text=text)


def _stream_pieces(body: Body) -> Iterator[Piece]:
    parser = SseParser(_UNBOUNDED)
    for item in parser.feed(body.data):
        if isinstance(item, SseEvent):
            yield from _event_pieces(item, body)
        elif isinstance(item, SseIgnoredLine):
            yield _raw(item.line, item.why)
        else:
            yield Piece(EventKind.SSE, {"comment": item.text})
    rest = parser.close()
    if rest or not body.is_whole:
        yield _raw(rest, f"{CUT_SHORT}an SSE event without the empty line that ends it")


def _event_pieces(event: SseEvent, body: Body) -> Iterator[Piece]:
    fields = {"id": event.id, "retry": event.retry, "event": event.type or None}
    present = {name: value for name, value in fields.items() if value is not None}
    if present or not event.data:
        yield Piece(EventKind.SSE, present)
    if event.is_message:
        yield _message_or_raw(Body(event.data or b"", is_source=body.is_source))
    elif event.data:
        yield _raw(event.data, f"the data of an SSE event of type {event.type[:80]!r}")


def _raw(data: bytes, why: str) -> Piece:
    kept, told = clipped(data, why)
    try:
        return Piece(EventKind.RAW, {"text": kept.decode("utf-8"), "why": told})
    except UnicodeDecodeError:
        return Piece(EventKind.RAW, {"base64": base64.b64encode(kept).decode(), "why": told})
