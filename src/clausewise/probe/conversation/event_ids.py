"""Event ids of a session's streams: which requests brought the same one forth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clausewise.probe.conversation.request import Request
from clausewise.trace.events import Event, EventKind

_RESUMES = b"last-event-id"


class EventIds:
    """The ids on a session's streams so far, each with the event that had it first."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, Request]] = {}

    def repeated(
        self, events: Iterable[Event], request: Request
    ) -> Iterator[tuple[int, Request, Request]]:
        """What the answer to `request` repeats of other answers, or they of it.

        Answers may come in another order than they end. A stream that resumes another may
        repeat its ids.

        Yields:
            The number of the later event, and the requests of the earlier and the later one.
        """
        if any(name.lower() == _RESUMES for name, _ in request.headers):
            return
        for event in events:
            event_id = event.fields.get("id") if event.kind is EventKind.SSE else None
            if not isinstance(event_id, str):
                continue
            here = event.seq, request
            other = self._first.setdefault(event_id, here)
            if other[1] is request:
                continue
            first, later = (other, here) if other[0] < event.seq else (here, other)
            self._first[event_id] = first
            yield later[0], first[1], later[1]
