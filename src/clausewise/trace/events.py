"""The event model of trace format version 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from clausewise.core.vocabulary import Direction, TransportKind

FORMAT_NAME = "clausewise.trace"
FORMAT_VERSION = 1

_ABSENT = object()


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
    _headers: Mapping[str, Any] | None = field(default=None, init=False, repr=False, compare=False)

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
        value = self._by_name().get(name.lower(), _ABSENT)
        if type(value) is str:
            return (value,)
        if value is _ABSENT:
            return ()
        return tuple(map(str, value)) if isinstance(value, list) else (str(value),)

    def header(self, name: str) -> str | None:
        """The values of the header `name` joined with `, `, or None."""
        value = self._by_name().get(name)
        if type(value) is str:
            return value
        values = self.header_values(name)
        return ", ".join(values) if values else None

    def _by_name(self) -> Mapping[str, Any]:
        """The headers by their names in lower case; made once, since many ask."""
        if self._headers is None:
            headers = self.fields.get("headers")
            if not isinstance(headers, Mapping):
                self._headers = {}
            elif "".join(headers).islower():
                self._headers = headers
            else:
                self._headers = _in_lower_case(headers)
        return self._headers


def _in_lower_case(headers: Mapping[str, Any]) -> dict[str, Any]:
    """Headers by name, those whose names differ in case alone with all their values."""
    found: dict[str, Any] = {}
    for key, value in headers.items():
        name = key.lower()
        if name in found:
            before = found[name]
            found[name] = [
                *(before if isinstance(before, list) else [before]),
                *(value if isinstance(value, list) else [value]),
            ]
        else:
            found[name] = value
    return found
