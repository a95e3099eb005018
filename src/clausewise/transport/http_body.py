"""Turn the body of an HTTP response into events."""

from __future__ import annotations

from typing import Any, Protocol

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import EventKind
from clausewise.trace.raw import CUT_SHORT
from clausewise.transport.recording import Recording
from clausewise.wire.jsontext import JsonTextError, decode
from clausewise.wire.sse import SseComment, SseEvent, SseIgnoredLine, SseParser

_SERVER = Direction.SERVER_TO_CLIENT


class Body(Protocol):
    """Takes a body piece by piece and records what it holds."""

    @property
    def overflow(self) -> str | None:
        """Which bound the body has exceeded, in words, or None."""

    def feed(self, data: bytes) -> None: ...

    def finish(self, whole: bool) -> None:
        """Record what is left; `whole` is false when the body broke off."""


class EventStream:
    """A `text/event-stream` body: recorded as it arrives."""

    def __init__(self, recording: Recording, max_event_bytes: int) -> None:
        self._recording = recording
        self._parser = SseParser(max_event_bytes)
        self._max_event_bytes = max_event_bytes

    @property
    def overflow(self) -> str | None:
        if not self._parser.overflowed:
            return None
        return f"an SSE event of more than {self._max_event_bytes} bytes"

    def feed(self, data: bytes) -> None:
        for item in self._parser.feed(data):
            if isinstance(item, SseEvent):
                self._record(item)
            elif isinstance(item, SseComment):
                self._recording.add(_SERVER, EventKind.SSE, {"comment": item.text})
            else:
                self._record_ignored(item)

    def finish(self, whole: bool) -> None:
        rest = self._parser.close()
        if rest:
            why = "an SSE event without the empty line that ends it"
            self._recording.raw(_SERVER, rest, why if whole else CUT_SHORT + why)
        if whole:
            self._recording.add(_SERVER, EventKind.SSE, {"end": True})

    def _record(self, event: SseEvent) -> None:
        fields: dict[str, Any] = {"id": event.id, "retry": event.retry, "event": event.type or None}
        fields = {name: value for name, value in fields.items() if value is not None}
        if fields or not event.data:
            self._recording.add(_SERVER, EventKind.SSE, fields)
        if event.is_message:
            self._recording.message(_SERVER, event.data or b"")
        elif event.data:
            why = f"the data of an SSE event of type {event.type[:80]!r}"
            self._recording.raw(_SERVER, event.data, why)

    def _record_ignored(self, item: SseIgnoredLine) -> None:
        self._recording.raw(_SERVER, item.line, item.why)


class WholeBody:
    """Any other body, of a response unless `direction` says otherwise: recorded at its end."""

    def __init__(
        self,
        recording: Recording,
        media_type: str | None,
        coding: str,
        direction: Direction = _SERVER,
    ) -> None:
        self._recording = recording
        self._direction = direction
        self._media_type = media_type
        self._coding = coding
        self._data = bytearray()

    @property
    def overflow(self) -> str | None:
        return None

    def feed(self, data: bytes) -> None:
        self._data += data

    def finish(self, whole: bool) -> None:
        data = bytes(self._data)
        if not data:
            return
        if not whole:
            self._recording.raw(self._direction, data, f"{CUT_SHORT}the body broke off")
        elif self._coding:
            why = f"a body in the coding {self._coding[:80]!r}, which was not asked for"
            self._recording.raw(self._direction, data, why)
        elif self._may_be_message(data):
            self._recording.message(self._direction, data)
        else:
            self._recording.raw(
                self._direction, data, f"a body of type {(self._media_type or 'none')[:80]!r}"
            )

    def _may_be_message(self, data: bytes) -> bool:
        """JSON by its label, or JSON in fact: a wrong Content-Type hides no message."""
        media_type = self._media_type or ""
        if media_type == "application/json" or media_type.endswith("+json"):
            return True
        if not data.lstrip().startswith((b"{", b"[")):
            return False
        try:
            decode(data)
        except JsonTextError:
            return False
        return True
