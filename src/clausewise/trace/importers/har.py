"""Import HTTP archives (HAR 1.2), as browsers and proxies export them.

What a HAR does not show is not in the events: when the events of a stream came (`ordering` says
what is made of that), which side ended a stream, the bytes before decoding, trailers,
what went over stdio. A body that was left out or cut is told as such and proves no fault.
Browsers may leave out credentials and export a request of which no response was read; it then has
no answer. Pseudo headers of HTTP/2 (`:path`) are no headers.

Source: the HAR 1.2 specification, and what Chrome, Firefox, mitmproxy and Charles make of it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from clausewise.core.errors import TraceError
from clausewise.trace.importers import Imported
from clausewise.trace.importers.exchanges import (
    Body,
    ForeignExchange,
    Headers,
    mcp_exchanges,
    readable,
)
from clausewise.trace.importers.members import (
    decoded,
    encoded,
    mapping,
    milliseconds,
    moment,
    objects,
    status,
    text,
    word,
)
from clausewise.trace.importers.ordering import as_events

_BEFORE_THE_HEAD = ("blocked", "dns", "connect", "send", "wait")
_NOTE = (
    "a HAR does not show when the events of a stream came, nor which side ended it: "
    "what depends on that is not judged"
)


def import_har(document: bytes, name: str, endpoint: str | None) -> Imported:
    """The MCP traffic with `endpoint` (None: the only one there is) in a HAR, as events.

    Raises:
        TraceError: as `import_document`.
    """
    root = decoded(document, name)
    if not isinstance(root, dict) or not isinstance(root.get("log"), dict):
        raise TraceError(f"{name}: no HAR: it has no object `log`")
    entries = [_exchange(entry) for entry in objects(root["log"], "entries")]
    chosen, lost = readable(mcp_exchanges(entries, name, endpoint))
    notes = [_NOTE] if any(exchange.streams for exchange in chosen) else []
    notes += lost
    if any(exchange.started is None for exchange in chosen):
        notes.append("times are missing: each exchange is taken to end before the next begins")
    return as_events(chosen, notes)


def _exchange(entry: Mapping[str, Any]) -> ForeignExchange:
    request, response = mapping(entry, "request"), mapping(entry, "response")
    timings = mapping(entry, "timings")
    started = moment(entry, "startedDateTime")
    headed = ended = None
    if started is not None:
        # The negative durations of phases that did not occur are none; `ssl` is in `connect`.
        headed = started + sum(milliseconds(timings, phase) for phase in _BEFORE_THE_HEAD)
        ended = max(headed, started + milliseconds(entry, "time"))
    response_headers = _headers(response)
    content = mapping(response, "content")
    kind = text(content, "mimeType")
    if response_headers is None and kind:
        response_headers = (("content-type", kind),)
    return ForeignExchange(
        method=word(request, "method").upper(),
        url=word(request, "url"),
        request_headers=_headers(request),
        request_body=_request_body(request),
        status=status(response, "status"),
        response_headers=response_headers,
        response_body=_body(content, content.get("size")),
        started=started,
        headed=headed,
        ended=ended,
    )


def _headers(message: Mapping[str, Any]) -> Headers | None:
    """The headers; None where there are none, since no message of HTTP has none."""
    found = tuple(
        (item["name"], item["value"])
        for item in objects(message, "headers")
        if isinstance(item.get("name"), str) and isinstance(item.get("value"), str)
        if not item["name"].startswith(":")
    )
    return found or None


def _request_body(request: Mapping[str, Any]) -> Body | None:
    """The body; a POST without one is taken to have lost it, unless its size is known to be 0."""
    size = request.get("bodySize")
    body = _body(mapping(request, "postData"), size)
    if body is None and size != 0 and text(request, "method") == "POST":
        return Body(b"", is_whole=False)
    return body


def _body(content: Mapping[str, Any], size: Any) -> Body | None:
    """The body in `text`; what `size` says is missing makes it a part. None: none, or unknown."""
    value = text(content, "text")
    has_size = isinstance(size, int) and not isinstance(size, bool) and size > 0
    if value is None:
        return Body(b"", is_whole=False) if has_size else None
    data = _binary(value) if text(content, "encoding") == "base64" else encoded(value)
    if data is None:
        return Body(b"", is_whole=False)
    return Body(data, is_whole=not (has_size and len(data) < size))


def _binary(value: str) -> bytes | None:
    try:
        return base64.b64decode(value, validate=False)
    except (binascii.Error, ValueError):
        return None
