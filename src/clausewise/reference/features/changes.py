"""Changes that clients can subscribe to, handed to every listener."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

_MAX_WAITING = 100

ListName = Literal["tools", "prompts", "resources"]


@dataclass(frozen=True, slots=True)
class Change:
    """A list that changed (`list_name`), or a resource that did (`uri`)."""

    list_name: ListName | None = None
    uri: str | None = None

    @property
    def notification(self) -> str:
        """The method of the notification that tells of this change, without its prefix."""
        return f"{self.list_name}/list_changed" if self.list_name else "resources/updated"


@dataclass(slots=True)
class ChangeFeed:
    """Hands each published change to every listener.

    A listener that does not keep up loses changes beyond a bound; it never holds up others.
    `updates` counts the changes of each resource.
    """

    updates: Counter[str] = field(default_factory=Counter)

    _listeners: set[MemoryObjectSendStream[Change]] = field(default_factory=set)

    @contextmanager
    def listen(self) -> Iterator[MemoryObjectReceiveStream[Change]]:
        """The changes published while the context is open; ends when the server stops."""
        send, receive = anyio.create_memory_object_stream[Change](_MAX_WAITING)
        self._listeners.add(send)
        try:
            with send, receive:
                yield receive
        finally:
            self._listeners.discard(send)

    @property
    def listener_count(self) -> int:
        return len(self._listeners)

    def publish(self, change: Change) -> None:
        """Hand `change` to every listener."""
        if change.uri is not None:
            self.updates[change.uri] += 1
        for listener in self._listeners:
            try:
                listener.send_nowait(change)
            except (anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
                continue

    def close(self) -> None:
        """End every listener's stream: the server stops."""
        for listener in self._listeners:
            listener.close()
