"""The event model of trace format version 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from clausewise.core.vocabulary import Direction, TransportKind

FORMAT_VERSION = 1


class EventKind(StrEnum):
    """What an event holds; each kind's own fields are named in `FIELDS`."""

    MESSAGE = "message"
    HTTP = "http"
    SSE = "sse"
    RAW = "raw"
    LIFECYCLE = "lifecycle"
    STDERR = "stderr"
    TRACE = "trace"


FIELDS: Mapping[EventKind, tuple[str, ...]] = {
    EventKind.MESSAGE: ("payload",),
    EventKind.HTTP: ("method", "path", "query", "status", "headers"),
    EventKind.SSE: ("id", "retry", "event", "comment", "end"),
    EventKind.RAW: ("text", "base64", "why"),
    EventKind.LIFECYCLE: ("event", "code"),
    EventKind.STDERR: ("text",),
}
"""The fields of each kind beside the common ones; `query` has names, as values may be secret."""


class Lifecycle(StrEnum):
    """What happened to the transport; `process-exit` carries `code`."""

    OPEN = "transport-open"
    CLOSE = "transport-close"
    ABORT = "transport-abort"
    EXIT = "process-exit"


@dataclass(slots=True)
class Event:
    """One recorded event. Treat it as read-only.

    Not frozen, unlike the project's other dataclasses: a frozen one takes three times as
    long to make, and the judge makes one for each line.

    Attributes:
        seq: strictly increasing within a trace; the only order.
        payload: the JSON value of a message, else None.
        fields: the kind's own fields (`FIELDS`), without `payload`.
        exchange: label of the HTTP exchange (request and its response), or None.
        stream: label of the SSE stream, or None.
        session: label the recorder gives one session, or None.
        injected: why a test driver broke the rules on purpose in this event, or None.
        text: a message's JSON source text, kept verbatim, or None.
    """

    seq: int
    direction: Direction
    transport: TransportKind
    kind: EventKind
    payload: Any = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    exchange: str | int | None = None
    stream: str | int | None = None
    session: str | None = None
    ts: str | float | int | None = None
    injected: str | None = None
    text: bytes | None = None
    _headers: dict[str, tuple[str, ...]] | None = field(
        default=None, init=False, repr=False, compare=False
    )

    @property
    def status(self) -> int | None:
        """The HTTP status of a response head, else None."""
        status = self.fields.get("status")
        return status if isinstance(status, int) and not isinstance(status, bool) else None

    @property
    def has_headers(self) -> bool:
        """Whether the recorder kept headers for this HTTP head."""
        return isinstance(self.fields.get("headers"), Mapping)

    def header_values(self, name: str) -> tuple[str, ...]:
        """The values of the header `name` (any case) of an HTTP head, in order."""
        headers = self._headers
        if headers is None:
            headers = self._headers = _by_name(self.fields.get("headers"))
        return headers.get(name) or headers.get(name.lower(), ())

    def header(self, name: str) -> str | None:
        """The values of the header `name` joined with `, `, or None."""
        values = self.header_values(name)
        if len(values) == 1:
            return values[0]
        return ", ".join(values) if values else None


def _by_name(headers: Any) -> dict[str, tuple[str, ...]]:
    """The values of recorded headers by their names in lower case."""
    found: dict[str, tuple[str, ...]] = {}
    if isinstance(headers, Mapping):
        for key, value in headers.items():
            values = tuple(map(str, value)) if isinstance(value, list) else (str(value),)
            name = key.lower()
            found[name] = found[name] + values if name in found else values
    return found
