"""Import what the web client of the MCP Inspector (2.x) exports; older ones export no session.

It has two exports that hold messages, each a JSON array:

- `inspector-protocol-…`: the messages as the client's SDK saw them, an answer beside its request.
  It does not show the transport, HTTP, streams, source text, or anything that the SDK refused to
  read. Unless the user names the transport, events are given as of Streamable HTTP without heads
  and exchanges, the weaker claim: no order across messages of one side. Answers whose direction
  the export leaves open, because both sides used one id at a time, are left out.
- `inspector-network-…`: the HTTP requests of the client, also kept in a stored session. JSON is
  written anew (numbers beyond 53 bits are no longer exact), values under names like `token` or
  `code` are replaced, the streams of GET requests are left out. Headers are those that the client
  set, without what the HTTP library adds.

Both keep the last 1000 entries only, so the beginning of a session may be missing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

from clausewise.core.errors import TraceError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import Event, EventKind
from clausewise.trace.importers import ImportChoices, Imported
from clausewise.trace.importers.exchanges import (
    Body,
    ForeignExchange,
    Headers,
    mcp_exchanges,
    readable,
)
from clausewise.trace.importers.members import (
    decoded,
    encoded,
    mapping,
    milliseconds,
    moment,
    objects,
    status,
    text,
    word,
)
from clausewise.trace.importers.ordering import as_events
from clausewise.wire.jsonrpc import IdKey, id_key

_ORIGINS = {
    "client": Direction.CLIENT_TO_SERVER,
    "server": Direction.SERVER_TO_CLIENT,
}
_SESSION = "inspector"
_MOST_ENTRIES = 1000
_CUT_MARKS = ("[truncated]", "[truncated JSON body withheld")

_PROTOCOL_NOTE = (
    "an Inspector protocol export does not show the transport; it is read as Streamable HTTP, "
    "which proves less about order, unless --transport names another"
)
_NETWORK_NOTE = (
    "an Inspector network export leaves out the streams of GET requests, and does not show "
    "when the events of a stream came: what depends on that is not judged"
)
_FULL_NOTE = (
    f"the export holds {_MOST_ENTRIES} entries, which is all it can: earlier ones may be missing"
)


def import_inspector(
    document: bytes, name: str, choices: ImportChoices = ImportChoices()
) -> Imported:
    """The messages or HTTP traffic of an Inspector export as events.

    Raises:
        TraceError: as `import_document`.
    """
    root = {"entries": decoded(document, name)}
    stored = mapping(root, "entries")
    entries = objects(stored, "fetchRequests") if stored else objects(root, "entries")
    full = (_FULL_NOTE,) if len(entries) >= _MOST_ENTRIES else ()
    if any("requestHeaders" in entry or "responseStatus" in entry for entry in entries):
        fetched = [_exchange(e) for e in entries if text(e, "category") != "auth"]
        chosen, lost = readable(mcp_exchanges(fetched, name, choices.endpoint))
        return as_events(chosen, (_NETWORK_NOTE, *full, *lost))
    log = [entry for raw in entries if (entry := _entry(raw)) is not None]
    if not log:
        raise TraceError(
            f"{name}: no Inspector export with messages",
            "Export Protocol or Network; Logs and Console hold no exchange of messages.",
        )
    doubtful = _answers_in_doubt(log)
    transport = choices.transport or TransportKind.HTTP
    notes = [_PROTOCOL_NOTE, *full] if choices.transport is None else [*full]
    if doubtful:
        notes.append(f"{len(doubtful)} answers are left out: both sides used their ids at one time")
    return Imported(_numbered(log, doubtful, transport), tuple(notes))


@dataclass(frozen=True, slots=True)
class _Entry:
    """A line of the protocol log: a message and, beside a request, the answer to it.

    `sent` and `settled` are milliseconds since 1970; `settled` is None without an end.
    """

    origin: Direction
    message: Mapping[str, Any]
    answer: Mapping[str, Any] | None
    sent: float | None
    settled: float | None

    @property
    def is_request(self) -> bool:
        return "method" in self.message and "id" in self.message

    @property
    def key(self) -> IdKey:
        return id_key(self.message.get("id"))


def _entry(raw: Mapping[str, Any]) -> _Entry | None:
    origin, message = _ORIGINS.get(text(raw, "origin") or ""), raw.get("message")
    if origin is None or not isinstance(message, dict):
        return None
    answer, sent = raw.get("response"), moment(raw, "timestamp")
    has_end = sent is not None and "duration" in raw
    return _Entry(
        origin,
        message,
        answer if isinstance(answer, dict) else None,
        sent,
        sent + milliseconds(raw, "duration") if has_end and sent is not None else None,
    )


def _answers_in_doubt(log: Sequence[_Entry]) -> frozenset[int]:
    """The entries whose answer may be that to the other side's request with the same id.

    The Inspector joins an answer with the latest open request that has its id, whoever sent it.
    """
    requests: dict[IdKey, list[int]] = {}
    for index, entry in enumerate(log):
        if entry.is_request:
            requests.setdefault(entry.key, []).append(index)
    return frozenset(
        index
        for same in requests.values()
        for together in _open_together(log, same)
        if len({log[i].origin for i in together}) > 1
        for index in together
        if log[index].answer is not None
    )


def _open_together(log: Sequence[_Entry], same: list[int]) -> Iterator[list[int]]:
    """Requests with one id in groups that were open at one time, as far as the times tell."""
    if any(log[index].sent is None for index in same):
        yield same
        return
    group: list[int] = []
    reach = -math.inf
    for index in sorted(same, key=lambda i: log[i].sent or 0.0):
        entry = log[index]
        if group and (entry.sent or 0.0) > reach:
            yield group
            group = []
        group.append(index)
        reach = max(reach, math.inf if entry.settled is None else entry.settled)
    yield group


def _numbered(
    log: Sequence[_Entry], doubtful: frozenset[int], transport: TransportKind
) -> tuple[Event, ...]:
    """The messages in their order: entries as logged, each answer where its time puts it."""
    events: list[Event] = []
    waiting: list[tuple[float, int]] = []

    def add(direction: Direction, payload: Any, when: float | None) -> None:
        events.append(_event(len(events), direction, transport, payload, when))

    for index, entry in enumerate(log):
        while waiting and entry.sent is not None and waiting[0][0] <= entry.sent:
            when, answered = heappop(waiting)
            add(log[answered].origin.opposite, log[answered].answer, when)
        add(entry.origin, entry.message, entry.sent)
        if entry.answer is None or index in doubtful:
            continue
        if entry.settled is None:
            add(entry.origin.opposite, entry.answer, None)
        else:
            heappush(waiting, (entry.settled, index))
    while waiting:
        when, answered = heappop(waiting)
        add(log[answered].origin.opposite, log[answered].answer, when)
    return tuple(events)


def _event(
    seq: int, direction: Direction, transport: TransportKind, payload: Any, when: float | None
) -> Event:
    return Event(
        seq=seq,
        direction=direction,
        transport=transport,
        kind=EventKind.MESSAGE,
        payload=payload,
        session=_SESSION,
        ts=None if when is None else round(when / 1000, 6),
    )


def _exchange(entry: Mapping[str, Any]) -> ForeignExchange:
    started = moment(entry, "timestamp")
    headed = None if started is None else started + milliseconds(entry, "duration")
    return ForeignExchange(
        method=word(entry, "method").upper(),
        url=word(entry, "url"),
        request_headers=_headers(entry, "requestHeaders"),
        request_body=_body(text(entry, "requestBody")),
        status=status(entry, "responseStatus"),
        response_headers=_headers(entry, "responseHeaders"),
        response_body=_body(text(entry, "responseBody")),
        started=started,
        headed=headed,
    )


def _headers(entry: Mapping[str, Any], key: str) -> Headers | None:
    found = mapping(entry, key)
    kept = tuple((name, value) for name, value in found.items() if isinstance(value, str))
    return kept or None


def _body(value: str | None) -> Body | None:
    if value is None:
        return None
    data = encoded(value)
    if data is None:
        return Body(b"", is_whole=False)
    is_cut = any(mark in value[-200:] for mark in _CUT_MARKS)
    return Body(data, is_whole=not is_cut, is_source=False)
