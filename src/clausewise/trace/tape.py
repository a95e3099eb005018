"""A recording in progress: live code appends what it exchanges, in the order it saw it."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.wire.jsontext import JsonTextError, decode


@dataclass(frozen=True, slots=True)
class Track:
    """What several events have in common: transport, session label, exchange, stream, fault."""

    transport: TransportKind
    session: str | None = None
    exchange: int | None = None
    stream: str | None = None
    injected: str | None = None


class Tape:
    """The events of one run, numbered from 0.

    Each `listener` is called with every event as it is appended (a trace writer, a
    live view). With `keep` false events are only told, not kept: a recording may be long.
    """

    def __init__(self, *listeners: Callable[[Event], None], keep: bool = True) -> None:
        self._listeners = listeners
        self._events: list[Event] = []
        self._keep = keep
        self._next_seq = 0

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(self._events)

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Have one more `listener` told of every event from now on."""
        self._listeners = (*self._listeners, listener)

    def since(self, seq: int) -> tuple[Event, ...]:
        """The events from number `seq` on."""
        return tuple(self._events[seq:])

    @property
    def next_seq(self) -> int:
        return self._next_seq

    def add(
        self,
        track: Track,
        direction: Direction,
        kind: EventKind,
        fields: Mapping[str, Any] | None = None,
        *,
        payload: Any = None,
        text: bytes | None = None,
    ) -> Event:
        """Append one event with the kind's own `fields` and return it."""
        event = Event(
            seq=self._next_seq,
            direction=direction,
            transport=track.transport,
            kind=kind,
            payload=payload,
            fields=fields or {},
            exchange=track.exchange,
            stream=track.stream,
            session=track.session,
            ts=round(time.time(), 6),
            injected=track.injected,
            text=text,
        )
        self._next_seq += 1
        if self._keep:
            self._events.append(event)
        for listener in self._listeners:
            listener(event)
        return event

    def message(self, track: Track, direction: Direction, text: bytes) -> Event:
        """Append a message by its JSON text; text that is no JSON becomes a `raw` event."""
        try:
            payload = decode(text)
        except JsonTextError as error:
            return self.raw(track, direction, text, f"no JSON: {error}")
        return self.add(track, direction, EventKind.MESSAGE, payload=payload, text=text)

    def raw(self, track: Track, direction: Direction, data: bytes, why: str) -> Event:
        """Append bytes that are no message, as text when they are UTF-8, else in base64."""
        try:
            fields: dict[str, Any] = {"text": data.decode("utf-8"), "why": why}
        except UnicodeDecodeError:
            fields = {"base64": base64.b64encode(data).decode("ascii"), "why": why}
        return self.add(track, direction, EventKind.RAW, fields)

    def lifecycle(
        self, track: Track, direction: Direction, what: Lifecycle, code: int | None = None
    ) -> Event:
        """Append a transport's opening, closing or breaking, or a process's exit."""
        fields: dict[str, Any] = {"event": what.value}
        if code is not None:
            fields["code"] = code
        return self.add(track, direction, EventKind.LIFECYCLE, fields)
