"""The event model of trace format version 1."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from clausewise.core.vocabulary import Direction, TransportKind

FORMAT_NAME = "clausewise.trace"
FORMAT_VERSION = 1

_ABSENT = object()
_NONE: Mapping[str, Any] = MappingProxyType({})


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


class Event(Struct, gc=False, eq=False):
    """One recorded event. Treat it as read-only.

    A struct and no dataclass, since the judge gets one for each line: a decoder makes it from
    the line's text itself. The names that its inner members have in JSON occur in no trace.
    It refers to nothing that could refer back to it, so that the garbage collector may pass it by.

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
    fields: Mapping[str, Any] = field(default=_NONE, name="(fields)")
    exchange: str | int | None = None
    stream: str | int | None = None
    session: str | None = None
    ts: str | float | int | None = None
    injected: str | None = None
    text: bytes | None = field(default=None, name="(text)")
    _headers: Mapping[str, Any] | None = field(default=None, name="(headers)")

    def __eq__(self, other: object) -> bool:
        """Whether both hold the same, whichever way they were made."""
        if not isinstance(other, Event):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _COMPARED)

    __hash__ = None  # type: ignore[assignment]

    def but(self, **changes: Any) -> Event:
        """The same event with other values of some attributes."""
        return replace(self, _headers=None, **changes)

    @property
    def status(self) -> int | None:
        """The HTTP status of a response head, else None."""
        status = self.fields.get("status")
        return status if type(status) is int else None

    @property
    def has_headers(self) -> bool:
        """Whether the recorder kept headers for this HTTP head."""
        headers = self.fields.get("headers")
        return type(headers) is dict or isinstance(headers, Mapping)

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
        headers = self._by_name() if self._headers is None else self._headers
        value = headers.get(name, _ABSENT)
        if type(value) is str:
            return value
        if value is _ABSENT and name.islower():
            return None
        values = self.header_values(name)
        return ", ".join(values) if values else None

    @property
    def header_names(self) -> Collection[str]:
        """The names of the headers in lower case."""
        return self._by_name() if self._headers is None else self._headers

    def _by_name(self) -> Mapping[str, Any]:
        """The headers by their names in lower case; made once, since many ask."""
        if self._headers is None:
            headers = self.fields.get("headers")
            if type(headers) is not dict and not isinstance(headers, Mapping):
                self._headers = _NONE
            elif "".join(headers).islower():
                self._headers = headers
            else:
                self._headers = _in_lower_case(headers)
        return self._headers


_COMPARED = tuple(name for name in Event.__struct_fields__ if name != "_headers")


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
