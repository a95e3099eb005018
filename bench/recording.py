"""Conversations as recorded events: on stdio or Streamable HTTP, several at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from random import Random
from typing import Any

import orjson

from bench.conversation import Message, Sent, Turn, Voice, handshake
from bench.features import FEATURES, list_tools
from clausewise.core.vocabulary import Direction, Party, Revision, TransportKind
from clausewise.trace.events import EventKind, Lifecycle

Record = dict[str, Any]

_C2S = Direction.CLIENT_TO_SERVER.value
_S2C = Direction.SERVER_TO_CLIENT.value
_DIRECTIONS = {Party.CLIENT: _C2S, Party.SERVER: _S2C}
_STREAM = {"content-type": "text/event-stream", "cache-control": "no-cache, no-transform"}
_ANSWER = {"content-type": "application/json"}
_FEATURES = [feature for feature, _ in FEATURES]
_WEIGHTS = [weight for _, weight in FEATURES]


def conversation(random: Random, features: int) -> Iterator[Turn]:
    """A whole session: its handshake, the tools, and a number of random features."""
    voice = Voice(random)
    yield from handshake(voice)
    yield from list_tools(voice)
    for feature in random.choices(_FEATURES, _WEIGHTS, k=features):
        yield from feature(voice)


class Stdio:
    """Records sessions on stdio, each labelled with its number."""

    transport = TransportKind.STDIO

    def record(self, turns: Iterable[Turn], number: int) -> Iterator[Record]:
        """The events of a session, without seq."""
        session = f"s{number}"
        yield _lifecycle(session, Lifecycle.OPEN)
        for turn in turns:
            yield from (_said(direction, session, m) for direction, m in _in_order(turn))
        yield _lifecycle(session, Lifecycle.CLOSE)


def _lifecycle(session: str, what: Lifecycle) -> Record:
    kind = EventKind.LIFECYCLE.value
    return {"direction": _C2S, "kind": kind, "session": session, "event": what.value}


def _said(direction: str, session: str, message: Message) -> Record:
    kind = EventKind.MESSAGE.value
    return {"direction": direction, "kind": kind, "session": session, "payload": message}


def _in_order(turn: Turn) -> Iterator[tuple[str, Message]]:
    if turn.asked is not None:
        yield _C2S, turn.asked
    for sent in turn.between:
        yield _DIRECTIONS[sent.sender], sent.message
    if turn.answer is not None:
        yield _S2C, turn.answer


class Http:
    """Records sessions on Streamable HTTP; exchanges are labelled over the whole recording."""

    transport = TransportKind.HTTP

    def __init__(self) -> None:
        self._exchanges = 0
        self._events = 0

    def record(self, turns: Iterable[Turn], number: int) -> Iterator[Record]:
        """The events of a session, without seq."""
        session_id = f"0b6f2c1e-77aa-4d0e-9d5c-{number:012d}"
        stream: int | None = None
        for turn in turns:
            if turn.asked is None:
                if stream is None:
                    stream = self._next_exchange()
                    yield from _opened_stream(stream, session_id)
                yield from self._between(turn.between, stream, session_id)
            else:
                yield from self._posted(turn, session_id)
        last = self._next_exchange()
        yield _request_head(last, "DELETE", session_id)
        yield _response_head(last, 204, {})

    def _next_exchange(self) -> int:
        self._exchanges += 1
        return self._exchanges

    def _event(self, exchange: int) -> Record:
        """The fields of an SSE event; its data, if not empty, is the message after it."""
        self._events += 1
        return _sse(exchange, id=f"{exchange}-{self._events}")

    def _posted(self, turn: Turn, session_id: str) -> Iterator[Record]:
        asked = turn.asked or {}
        exchange = self._next_exchange()
        initializes = asked.get("method") == "initialize"
        yield _request_head(exchange, "POST", None if initializes else session_id)
        yield _message(exchange, _C2S, asked)
        if "id" not in asked:
            yield _response_head(exchange, 202, {})
        elif turn.answer is None or turn.between:
            yield _response_head(exchange, 200, _STREAM)
            yield self._event(exchange)
            yield from self._between(turn.between, exchange, session_id)
            if turn.answer is not None:
                yield self._event(exchange)
                yield _message(exchange, _S2C, turn.answer)
                yield _sse(exchange, end=True)
        else:
            issued = {"mcp-session-id": session_id} if initializes else {}
            yield _response_head(exchange, 200, {**_ANSWER, **issued})
            yield _message(exchange, _S2C, turn.answer)

    def _between(
        self, between: tuple[Sent, ...], exchange: int, session_id: str
    ) -> Iterator[Record]:
        for sent in between:
            if sent.sender is Party.SERVER:
                yield self._event(exchange)
                yield _message(exchange, _S2C, sent.message)
                continue
            own = self._next_exchange()
            yield _request_head(own, "POST", session_id)
            yield _message(own, _C2S, sent.message)
            yield _response_head(own, 202, {})


def _opened_stream(exchange: int, session_id: str) -> Iterator[Record]:
    yield _request_head(exchange, "GET", session_id)
    yield _response_head(exchange, 200, _STREAM)


def _sse(exchange: int, **fields: Any) -> Record:
    return {"direction": _S2C, "kind": EventKind.SSE.value, "exchange": exchange, **fields}


def _message(exchange: int, direction: str, message: Message) -> Record:
    kind = EventKind.MESSAGE.value
    return {"direction": direction, "kind": kind, "exchange": exchange, "payload": message}


def _request_head(exchange: int, method: str, session_id: str | None) -> Record:
    headers = {
        "host": "127.0.0.1:3001",
        "accept": "text/event-stream" if method == "GET" else "application/json, text/event-stream",
        "accept-encoding": "gzip, deflate, br",
        "connection": "keep-alive",
        "accept-language": "en-GB,en;q=0.8",
        "user-agent": "bench-client/2.0.0 (linux; x64) python-httpx/0.28.1",
        "traceparent": f"00-4bf92f3577b34da6a3ce929d0e0e4736-{exchange:016x}-01",
    }
    if method == "POST":
        headers |= {"content-type": "application/json", "content-length": "512"}
    if session_id is not None:
        headers |= {
            "mcp-session-id": session_id,
            "mcp-protocol-version": Revision.LEGACY.value,
        }
    kind = EventKind.HTTP.value
    place = {"method": method, "path": "/mcp", "headers": headers}
    return {"direction": _C2S, "kind": kind, "exchange": exchange, **place}


def _response_head(exchange: int, status: int, own: dict[str, str]) -> Record:
    headers = {
        "date": "Mon, 05 Jan 2026 10:30:00 GMT",
        "server": "bench-server/1.4.2 uvicorn",
        "strict-transport-security": "max-age=31536000; includeSubDomains",
        "x-content-type-options": "nosniff",
        "vary": "Origin",
        "x-request-id": f"req-{exchange:012d}",
        **own,
    }
    kind = EventKind.HTTP.value
    head = {"status": status, "headers": headers}
    return {"direction": _S2C, "kind": kind, "exchange": exchange, **head}


def interleaved(
    begin: Callable[[int], Iterator[Record]], random: Random, at_a_time: int
) -> Iterator[Record]:
    """The events of sessions without end, `at_a_time` of them mixed in small random runs."""
    begun = at_a_time
    live = [begin(number) for number in range(at_a_time)]
    while True:
        place = random.randrange(at_a_time)
        for _ in range(random.randrange(1, 7)):
            record = next(live[place], None)
            if record is None:
                live[place] = begin(begun)
                begun += 1
                break
            yield record


def lines(records: Iterable[Record], transport: TransportKind, count: int) -> Iterator[bytes]:
    """The first `count` events as lines of a trace."""
    for seq, record in zip(range(count), records, strict=False):
        yield orjson.dumps({"seq": seq, "transport": transport.value, **record}) + b"\n"


def mixed_sessions(
    recorder: Stdio | Http, count: int, *, features: int = 60, at_a_time: int = 4, seed: int = 1
) -> Iterator[bytes]:
    """A trace of `count` events in which both sides keep the specification."""
    random = Random(seed)  # noqa: S311 - the same trace each time, nothing secret

    def begin(number: int) -> Iterator[Record]:
        return recorder.record(conversation(random, features), number)

    return lines(interleaved(begin, random, at_a_time), recorder.transport, count)
