"""One HTTP exchange: write the request, read its answer piece by piece, record both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio
import h11

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.trace.raw import CUT_SHORT
from clausewise.trace.redaction import query_names, recorded_headers
from clausewise.trace.tape import Tape, Track
from clausewise.transport.answers import Answer, Ending, media_type_of
from clausewise.transport.http_body import Body, EventStream, WholeBody
from clausewise.transport.http_wire import HttpWire, WireFault
from clausewise.transport.limits import Limits
from clausewise.transport.recording import Recording
from clausewise.transport.targets import HttpRequest, without_query

_CLIENT = Direction.CLIENT_TO_SERVER
_SERVER = Direction.SERVER_TO_CLIENT

_PEER_BROKE = frozenset({Ending.RESET, Ending.GARBLED})


class Exchange:
    """A request on its way, and what has come back so far."""

    def __init__(
        self,
        wire: HttpWire,
        tape: Tape,
        limits: Limits,
        *,
        until: Callable[[Event], bool] | None,
        injected: str | None,
        session: str | None,
    ) -> None:
        self._wire = wire
        self._limits = limits
        # The number of the exchange's first event is unique on the tape.
        self._track = Track(TransportKind.HTTP, session, tape.next_seq, injected=injected)
        self._recording = Recording(tape, self._track, until)
        self._response: h11.Response | None = None
        self._body: Body | None = None
        self._received = bytearray()

    async def run(self, request: HttpRequest, request_target: str, timeout_s: float) -> Answer:
        """Send the request and read its answer until that ends in one way or another."""
        self._record_request(request, request_target)
        scope = anyio.CancelScope(deadline=anyio.current_time() + timeout_s)
        ending, detail = Ending.CUT, "reading was cancelled"
        try:
            with scope:
                await self._wire.send(request, request_target)
                await self._read(scope)
                ending, detail = Ending.COMPLETE, ""
            if scope.cancelled_caught:
                ending, detail = self._out_of_time(timeout_s)
        except WireFault as fault:
            ending, detail = fault.ending, fault.detail
        finally:
            self._record_end(ending)
        return self._answer(ending, detail)

    def _record_request(self, request: HttpRequest, request_target: str) -> None:
        path = request_target if request.path is None else request.path
        fields = {
            "method": request.method,
            "path": without_query(path),
            "query": query_names(path),
            "headers": recorded_headers(request.headers),
        }
        self._recording.add(_CLIENT, EventKind.HTTP, fields)
        if request.body:
            self._recording.message(_CLIENT, request.body)
        self._recording.follow(replace(self._track, injected=None))

    async def _read(self, scope: anyio.CancelScope) -> None:
        body = await self._read_head()
        winding_down = False
        while (data := await self._wire.body()) is not None:
            self._received += data
            body.feed(data)
            self._check_limits(body)
            if self._recording.awaited_came and not winding_down:
                winding_down = True
                quiet_end = anyio.current_time() + self._limits.quiet_s
                scope.deadline = min(scope.deadline, quiet_end)

    async def _read_head(self) -> Body:
        while True:
            head = await self._wire.head()
            headers = recorded_headers(head.headers.raw_items())
            fields = {"status": head.status_code, "headers": headers}
            self._recording.add(_SERVER, EventKind.HTTP, fields)
            if isinstance(head, h11.Response):
                self._response = head
                self._body = self._body_of(head)
                return self._body
            self._check_event_count()

    def _body_of(self, response: h11.Response) -> Body:
        headers = {name: value.decode("latin-1") for name, value in response.headers}
        kind = media_type_of(headers.get(b"content-type"))
        coding = headers.get(b"content-encoding", "").strip().lower()
        if coding in ("", "identity"):
            coding = ""
            if kind == "text/event-stream":
                stream = f"stream-{self._track.exchange}"
                self._recording.follow(replace(self._track, injected=None, stream=stream))
                return EventStream(self._recording, self._limits.max_line_bytes)
        return WholeBody(self._recording, kind, coding)

    def _check_limits(self, body: Body) -> None:
        if body.overflow is not None:
            raise WireFault(Ending.LIMIT, body.overflow)
        if len(self._received) > self._limits.max_body_bytes:
            raise WireFault(
                Ending.LIMIT, f"a body of more than {self._limits.max_body_bytes} bytes"
            )
        self._check_event_count()

    def _check_event_count(self) -> None:
        if self._recording.count > self._limits.max_events:
            raise WireFault(Ending.LIMIT, f"more than {self._limits.max_events} events")

    def _out_of_time(self, timeout_s: float) -> tuple[Ending, str]:
        if self._recording.awaited_came:
            return Ending.CUT, "the stream stayed open after the awaited message"
        state = "no answer" if self._response is None else "the answer did not end"
        return Ending.TIMEOUT, f"{state} in {timeout_s:g} s"

    def _record_end(self, ending: Ending) -> None:
        """Record what the parsers could not use, and which side broke off."""
        if self._body is not None:
            self._body.finish(ending is Ending.COMPLETE)
        elif self._wire.head_bytes:
            why = "no HTTP/1.1 response head"
            if ending is not Ending.GARBLED:
                why = f"{CUT_SHORT}the response head broke off"
            self._recording.raw(_SERVER, self._wire.head_bytes, why)
        if ending is Ending.GARBLED and self._body is not None:
            why = "the piece in which the framing of the body is wrong"
            self._recording.raw(_SERVER, self._wire.last_piece, why)
        if ending is Ending.COMPLETE:
            if self._wire.unread:
                self._recording.raw(_SERVER, self._wire.unread, "bytes after the end of the answer")
            return
        side = _SERVER if ending in _PEER_BROKE else _CLIENT
        self._recording.lifecycle(side, Lifecycle.ABORT)

    def _answer(self, ending: Ending, detail: str) -> Answer:
        response = self._response
        return Answer(
            exchange=self._track.exchange,
            status=None if response is None else response.status_code,
            headers=() if response is None else tuple(response.headers.raw_items()),
            body=bytes(self._received),
            messages=self._recording.messages,
            events=self._recording.events,
            ending=ending,
            detail=detail,
            raw_head=self._wire.head_bytes,
        )
