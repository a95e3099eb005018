"""Collect the events of one answer while they go onto the tape."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.trace.raw import clipped
from clausewise.trace.tape import Tape, Track
from clausewise.wire.jsontext import JsonTextError, decode


class Recording:
    """Appends events to the tape under one track, and keeps them for the answer.

    `until` is asked about each message event from the server until it says yes.
    """

    def __init__(self, tape: Tape, track: Track, until: Callable[[Event], bool] | None) -> None:
        self._tape = tape
        self._track = track
        self._until = until
        self._events: list[Event] = []
        self._awaited_came = False

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    @property
    def count(self) -> int:
        return len(self._events)

    @property
    def messages(self) -> tuple[Event, ...]:
        """The message events from the server."""
        return tuple(e for e in self._events if _is_from_server(e))

    @property
    def awaited_came(self) -> bool:
        """Whether a message satisfied `until`."""
        return self._awaited_came

    def keep(self, event: Event) -> None:
        """Take in an event that is already on the tape."""
        self._events.append(event)
        if self._until is not None and not self._awaited_came and _is_from_server(event):
            self._awaited_came = self._until(event)

    def follow(self, track: Track) -> None:
        """Record under another track from now on."""
        self._track = track

    def add(self, direction: Direction, kind: EventKind, fields: Mapping[str, Any]) -> None:
        """Record an event with its kind's own fields."""
        self.keep(self._tape.add(self._track, direction, kind, fields))

    def message(self, direction: Direction, text: bytes) -> None:
        """Record JSON text as a message, anything else as raw."""
        self.keep(record_message(self._tape, self._track, direction, text))

    def raw(self, direction: Direction, data: bytes, why: str) -> None:
        """Record bytes that are no message, clipped."""
        self.keep(record_raw(self._tape, self._track, direction, data, why))

    def lifecycle(self, direction: Direction, what: Lifecycle) -> None:
        """Record what became of the transport."""
        self.keep(self._tape.lifecycle(self._track, direction, what))


def _is_from_server(event: Event) -> bool:
    return event.kind is EventKind.MESSAGE and event.direction is Direction.SERVER_TO_CLIENT


def record_message(tape: Tape, track: Track, direction: Direction, text: bytes) -> Event:
    """Append a message by its JSON text; text that is no JSON becomes a clipped `raw` event."""
    try:
        payload = decode(text)
    except JsonTextError as error:
        return record_raw(tape, track, direction, text, f"no JSON: {error}")
    return tape.add(track, direction, EventKind.MESSAGE, payload=payload, text=text)


def record_raw(tape: Tape, track: Track, direction: Direction, data: bytes, why: str) -> Event:
    """Append at most RAW_CLIP_BYTES of `data` as a `raw` event; a cut is said in its `why`."""
    kept, told = clipped(data, why)
    return tape.raw(track, direction, kept, told)
