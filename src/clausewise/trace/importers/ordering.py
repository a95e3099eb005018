"""Put exported HTTP exchanges into one order of events.

An export gives three times for each exchange: when its request was sent, when the head of the
response came, when its body ended. Requests keep the order of the first. Times are whole
milliseconds, so of what falls into one the response comes first: a client may have acted on it.

When the messages of a stream came is not known, only between which times. Those that answer a
POST are taken to have come with the head, those of a GET as late as what the client did
then allows: before its answer to a request, before it ended the session. So no message stands
after a reaction to it, and whatever else the true order was stays open, as across
exchanges it does in every recording.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import Event, EventKind
from clausewise.trace.importers import Imported
from clausewise.trace.importers.bodies import Piece, request_pieces, response_pieces
from clausewise.trace.importers.exchanges import ForeignExchange, Headers, path_of
from clausewise.trace.redaction import query_names, recorded_headers
from clausewise.wire.jsonrpc import IdKey, MessageClass, classify, id_key

_CLIENT = Direction.CLIENT_TO_SERVER
_SERVER = Direction.SERVER_TO_CLIENT


@dataclass(frozen=True, slots=True)
class _Placed:
    """A piece of a response with the request after which it comes, and when that was."""

    after: int
    when: float
    exchange: int
    piece: Piece
    ts: float | None = None


def as_events(exchanges: Sequence[ForeignExchange], notes: Iterable[str]) -> Imported:
    """The exchanges as events of a trace, labelled by exchange and stream.

    Headers are kept by allowlist, credentials only as a fact. Where an exchange has no times,
    all keep the order given, each whole before the next.
    """
    if all(e.started is not None for e in exchanges):
        ordered = sorted(exchanges, key=lambda e: e.started or 0.0)
        clock = _Clock([math.floor(e.started or 0.0) for e in ordered])
    else:
        ordered, clock = list(exchanges), None
    reactions = _Reactions(ordered)
    placed = sorted(
        (p for i, e in enumerate(ordered) for p in _response(i, e, clock, reactions)),
        key=lambda p: (p.after, p.when),
    )
    numbered = _Numbered(ordered)
    return Imported(tuple(numbered.events(placed)), tuple(notes), numbered.texts)


class _Clock:
    """Tells after which request something came."""

    def __init__(self, starts: list[int]) -> None:
        self._starts = starts

    def last_before(self, when: float) -> int:
        """The last request that was sent before `when`; -1 for none."""
        return bisect_left(self._starts, when) - 1


class _Reactions:
    """What the client did that proves an earlier message: where its answers and ends stand."""

    def __init__(self, exchanges: Sequence[ForeignExchange]) -> None:
        self._answers: dict[tuple[str | None, IdKey], list[int]] = {}
        self._progress: dict[tuple[str | None, IdKey], list[int]] = {}
        self._ends: dict[str | None, list[int]] = {}
        for index, exchange in enumerate(exchanges):
            if exchange.method == "DELETE":
                self._ends.setdefault(exchange.session_id, []).append(index)
            elif exchange.request_body is not None:
                self._take(exchange.request_body.value, exchange.session_id, index)

    def _take(self, value: Any, session: str | None, index: int) -> None:
        kind = classify(value)
        if kind in (MessageClass.RESULT, MessageClass.ERROR):
            self._answers.setdefault((session, id_key(value.get("id"))), []).append(index)
        elif kind is MessageClass.NOTIFICATION and isinstance(value.get("params"), dict):
            token = id_key(value["params"].get("progressToken"))
            self._progress.setdefault((session, token), []).append(index)

    def first_to(self, payload: Any, session: str | None, after: int) -> int | None:
        """The first exchange beyond `after` that reacts to a server's message."""
        if classify(payload) is not MessageClass.REQUEST:
            return None
        token = _progress_token(payload)
        found = _beyond(self._answers.get((session, id_key(payload["id"])), ()), after)
        if token is None:
            return found
        progress = _beyond(self._progress.get((session, id_key(token)), ()), after)
        return min((i for i in (found, progress) if i is not None), default=None)

    def end_of(self, session: str | None, after: int) -> int | None:
        """The first exchange beyond `after` that ends the session."""
        return _beyond(self._ends.get(session, ()), after)


def _beyond(indices: Sequence[int], after: int) -> int | None:
    place = bisect_left(indices, after + 1)
    return indices[place] if place < len(indices) else None


def _progress_token(payload: Mapping[str, Any]) -> Any:
    params = payload.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get("progressToken") if isinstance(meta, dict) else None


def _response(
    index: int, exchange: ForeignExchange, clock: _Clock | None, reactions: _Reactions
) -> Iterator[_Placed]:
    """The head and the pieces of a response, placed."""
    if exchange.status is None:
        return
    headed, ended = exchange.headed, exchange.ended
    head_at = _place(index, headed, clock)
    end_at = max(head_at, _place(index, ended, clock))
    fields: dict[str, Any] = {"status": exchange.status}
    _add_headers(fields, exchange.response_headers)
    head_time = math.floor(headed or 0.0)
    yield _Placed(head_at, head_time, index, Piece(EventKind.HTTP, fields), headed)
    pieces = response_pieces(exchange)
    late = exchange.method == "GET" or not exchange.streams
    when = max(head_time, math.floor(ended or 0.0)) if late else head_time
    bounds = _bounds(index, exchange, pieces, reactions) if exchange.streams else None
    start = end_at if late else head_at
    known = ended if not exchange.streams else None
    for number, piece in enumerate(pieces):
        after = start if bounds is None else int(max(head_at, min(start, bounds[number])))
        yield _Placed(after, when, index, piece, known)


def _place(index: int, when: float | None, clock: _Clock | None) -> int:
    if clock is None or when is None:
        return index
    return max(index, clock.last_before(math.floor(when)))


def _bounds(
    index: int, exchange: ForeignExchange, pieces: Sequence[Piece], reactions: _Reactions
) -> list[float]:
    """For each piece of a stream the last request that it may come after."""
    bounds: list[float] = []
    end = reactions.end_of(exchange.session_id, index) if exchange.method == "GET" else None
    bound = math.inf if end is None else end - 1
    for piece in reversed(pieces):
        if piece.kind is EventKind.MESSAGE:
            reaction = reactions.first_to(piece.payload, exchange.session_id, index)
            bound = bound if reaction is None else min(bound, reaction - 1)
        bounds.append(bound)
    return bounds[::-1]


def _add_headers(fields: dict[str, Any], headers: Headers | None) -> None:
    if headers is not None:
        fields["headers"] = recorded_headers(
            (name.encode("latin-1", "replace"), value.encode("latin-1", "replace"))
            for name, value in headers
        )


class _Numbered:
    """Makes events of requests and placed pieces, numbered in their order."""

    def __init__(self, exchanges: Sequence[ForeignExchange]) -> None:
        self._exchanges = exchanges
        self.texts: dict[int, bytes] = {}
        self._labels: dict[int, int] = {}
        self._seq = 0

    def events(self, placed: Iterable[_Placed]) -> Iterator[Event]:
        """Every event; `placed` is in order."""
        sent = 0
        for response in placed:
            while sent <= response.after:
                yield from self._request(sent)
                sent += 1
            yield self._event(response.exchange, _SERVER, response.piece, response.ts)
        for index in range(sent, len(self._exchanges)):
            yield from self._request(index)

    def _request(self, index: int) -> Iterator[Event]:
        exchange = self._exchanges[index]
        fields: dict[str, Any] = {"method": exchange.method, "path": path_of(exchange.url)}
        if names := query_names(exchange.url):
            fields["query"] = names
        _add_headers(fields, exchange.request_headers)
        self._labels[index] = self._seq
        yield self._event(index, _CLIENT, Piece(EventKind.HTTP, fields), exchange.started)
        if exchange.request_body is not None:
            for piece in request_pieces(exchange.request_body):
                yield self._event(index, _CLIENT, piece, None)

    def _event(self, index: int, direction: Direction, piece: Piece, when: float | None) -> Event:
        label = self._labels[index]
        in_stream = direction is _SERVER and piece.kind is not EventKind.HTTP
        event = Event(
            seq=self._seq,
            direction=direction,
            transport=TransportKind.HTTP,
            kind=piece.kind,
            payload=piece.payload,
            fields=piece.fields,
            exchange=label,
            stream=f"stream-{label}" if in_stream and self._exchanges[index].streams else None,
            ts=None if when is None else round(when / 1000, 6),
        )
        if piece.text is not None:
            self.texts[self._seq] = piece.text
        self._seq += 1
        return event
