"""Record one HTTP exchange that passes by: the request, what it holds, and its answer."""

from __future__ import annotations

from dataclasses import replace

import h11

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.record.http_bodies import BodyLog
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.trace.raw import CUT_SHORT
from clausewise.trace.redaction import query_names, recorded_headers
from clausewise.trace.tape import Tape, Track
from clausewise.transport.limits import Limits
from clausewise.transport.recording import Recording
from clausewise.transport.targets import without_query

_CLIENT = Direction.CLIENT_TO_SERVER
_SERVER = Direction.SERVER_TO_CLIENT


class Transcript(Recording):
    """A recording that keeps no events: the exchange may last for days."""

    def __init__(self, tape: Tape, track: Track) -> None:
        super().__init__(tape, track, None)

    def keep(self, event: Event) -> None:
        """The event is on the tape, which is enough."""


class HttpExchange:
    """A request, recorded from its head on.

    Attributes:
        method: the request's method.
        answered: whether the whole response has passed.
    """

    def __init__(self, request: h11.Request, tape: Tape, limits: Limits) -> None:
        self.method = request.method.decode("ascii")
        self.answered = False
        self._limits = limits
        # The number of the exchange's first event is unique on the tape.
        self._track = Track(TransportKind.HTTP, exchange=tape.next_seq)
        self._asked = Transcript(tape, self._track)
        self._told = Transcript(tape, self._track)
        target = request.target.decode("latin-1")
        fields = {
            "method": self.method,
            "path": without_query(target),
            "query": query_names(target),
            "headers": recorded_headers(request.headers.raw_items()),
        }
        self._asked.add(_CLIENT, EventKind.HTTP, fields)
        self._request_body: BodyLog | None = BodyLog(
            self._asked, _CLIENT, request.headers, limits, None
        )
        self._response_body: BodyLog | None = None

    def request_body(self, data: bytes) -> None:
        if self._request_body is not None:
            self._request_body.feed(data)

    def request_end(self, *, whole: bool = True) -> None:
        if self._request_body is not None:
            self._request_body.finish(whole)
            self._request_body = None

    def response(self, response: h11.InformationalResponse | h11.Response) -> None:
        """Record a response head, interim or final."""
        headers = recorded_headers(response.headers.raw_items())
        self._told.add(
            _SERVER, EventKind.HTTP, {"status": response.status_code, "headers": headers}
        )
        if isinstance(response, h11.Response):
            stream = replace(self._track, stream=f"stream-{self._track.exchange}")
            self._response_body = BodyLog(
                self._told, _SERVER, response.headers, self._limits, stream
            )

    def response_body(self, data: bytes) -> None:
        if self._response_body is not None:
            self._response_body.feed(data)

    def response_end(self) -> None:
        self._end_response(whole=True)
        self.answered = True

    def raw(self, direction: Direction, data: bytes, why: str) -> None:
        """Record bytes that cannot be followed."""
        (self._asked if direction is _CLIENT else self._told).raw(direction, data, why)

    def abort(self, side: Direction | None, why: str = "") -> None:
        """The exchange ends before its answer did.

        Args:
            side: who broke off; None when the recorder itself is being stopped.
            why: why there is no answer, if the server could not be asked.
        """
        self.request_end(whole=False)
        self._end_response(whole=False)
        if why:
            self._told.raw(_SERVER, b"", CUT_SHORT + why)
        if side is not None:
            self._told.lifecycle(side, Lifecycle.ABORT)

    def _end_response(self, *, whole: bool) -> None:
        if self._response_body is not None:
            self._response_body.finish(whole)
            self._response_body = None
