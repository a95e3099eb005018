"""How the events of independent sessions are interleaved in a recording changes no finding.

Only the head of a request and its body stay together, as a recorder writes them.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.judge.engine import judge
from clausewise.trace.events import Event, EventKind

Origin = tuple[int, int]
"""Which session an event is of, and its number there."""

_SEQ = re.compile(r"\bseq (\d+)")
_UP, _DOWN = Direction.CLIENT_TO_SERVER, Direction.SERVER_TO_CLIENT
_INFO = {"name": "n", "version": "1"}
_INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _INFO}
_RESULT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "logging": {}},
    "serverInfo": _INFO,
}
_TOOL = {"name": "t", "inputSchema": {"type": "object"}}

Said = tuple[Direction, Any]

TURNS: list[list[Said]] = [
    [(_UP, {"id": 1, "method": "ping"}), (_DOWN, {"id": 1, "result": {}})],
    [(_UP, {"id": 1, "method": "ping"}), (_DOWN, {"id": "1", "result": {}})],
    [(_UP, {"id": 2, "method": "tools/list"}), (_DOWN, {"id": 2, "result": {"tools": [_TOOL]}})],
    [(_UP, {"id": 2, "method": "tools/list"}), (_DOWN, {"id": 2, "result": {"tools": 3}})],
    [(_UP, {"id": 3, "method": "tools/list", "params": {"cursor": "made up"}})],
    [(_UP, {"id": None, "method": "ping"}), (_DOWN, {"id": None, "result": {}})],
    [(_UP, {"id": 4, "method": "ping"}), (_DOWN, {"id": 4, "result": {}, "error": {}})],
    [(_UP, {"id": 5, "method": "resources/list"}), (_DOWN, {"id": 5, "result": {"resources": []}})],
    [(_UP, {"method": "notifications/cancelled", "params": {"requestId": 99}})],
    [(_UP, {"method": "notifications/nothing", "id": 8})],
    [(_UP, {"id": 6, "method": "ping", "jsonrpc": "1.0"}), (_DOWN, {"id": 6, "result": {}})],
    [
        (_UP, {"id": 7, "method": "tools/call", "params": {"name": "t", "arguments": {}}}),
        (_DOWN, {"id": 7, "result": {"content": [], "isError": False}}),
    ],
    [
        (_UP, {"id": 9, "method": "initialize", "params": _INITIALIZE}),
        (_DOWN, {"id": 9, "result": _RESULT}),
    ],
]
OPENING: list[list[Said]] = [
    [
        (_UP, {"id": 0, "method": "initialize", "params": _INITIALIZE}),
        (_DOWN, {"id": 0, "result": _RESULT}),
    ],
    [(_UP, {"method": "notifications/initialized"})],
]


def stdio_session(number: int, turns: list[list[Said]]) -> list[list[Event]]:
    """A session on stdio, labelled by the recorder: its events, each by itself."""
    return [
        [_message(TransportKind.STDIO, way, payload, session=f"process-{number}")]
        for turn in turns
        for way, payload in turn
    ]


def http_session(number: int, turns: list[list[Said]]) -> list[list[Event]]:
    """A session on Streamable HTTP with an id of its own, each exchange labelled.

    Its events, of which the head of a request and the body stay together.
    """
    events: list[list[Event]] = []
    named = {"mcp-session-id": f"s{number}", "mcp-protocol-version": "2025-11-25"}
    for place, turn in enumerate(turns):
        label = f"{number}-{place}"
        asked = [payload for way, payload in turn if way is _UP]
        answers = [payload for way, payload in turn if way is _DOWN]
        sent = {"accept": "application/json, text/event-stream"} | (named if place else {})
        got = {"content-type": "application/json"} if answers else {}
        if not place:
            got = {**got, "mcp-session-id": f"s{number}"}
        head = _head(_UP, {"method": "POST", "path": "/mcp", "headers": sent}, label)
        events.append(
            [head, *(_message(TransportKind.HTTP, _UP, p, exchange=label) for p in asked)]
        )
        status = 200 if answers else 202
        events.append([_head(_DOWN, {"status": status, "headers": got}, label)])
        events += [[_message(TransportKind.HTTP, _DOWN, p, exchange=label)] for p in answers]
    return events


def _head(way: Direction, fields: dict[str, Any], exchange: str) -> Event:
    return Event(0, way, TransportKind.HTTP, EventKind.HTTP, None, fields, exchange)


def _message(
    transport: TransportKind,
    way: Direction,
    payload: dict[str, Any],
    *,
    session: str | None = None,
    exchange: str | None = None,
) -> Event:
    whole = {"jsonrpc": "2.0", **payload}
    return Event(0, way, transport, EventKind.MESSAGE, whole, exchange=exchange, session=session)


def findings(sessions: list[list[list[Event]]], order: list[int]) -> list[tuple[Any, ...]]:
    """What is found with the sessions' events in an order (a session's number for each).

    Places are told by session and number within it, so that orders can be compared.
    """
    rest = [list(session) for session in sessions]
    taken = [0] * len(sessions)
    origins: list[Origin] = []
    events: list[Event] = []
    for number in order:
        for event in rest[number].pop(0):
            origins.append((number, taken[number]))
            events.append(event.but(seq=len(events)))
            taken[number] += 1
    result = judge(events, trace="t")

    def placed(text: str) -> str:
        return _SEQ.sub(lambda found: f"at {origins[int(found[1])]}", text)

    broken = [
        (v.id, f.check, f.party, f.severity, placed(f.message), placed(f.seen), origins[f.at.seq])
        for v in result.verdicts
        for f in v.findings
        if f.at is not None
    ]
    outcomes = [(v.id, v.outcome, v.occasions, v.reason) for v in result.verdicts]
    return [*sorted(broken), *outcomes, result.revisions]


TURN_LISTS = st.lists(st.sampled_from(TURNS), max_size=6)


@pytest.mark.parametrize("make", [stdio_session, http_session])
@settings(deadline=None, max_examples=60)
@given(data=st.data(), chosen=st.lists(TURN_LISTS, min_size=2, max_size=4))
def test_interleaving_independent_sessions_changes_no_finding(
    make: Any, data: st.DataObject, chosen: list[list[list[Said]]]
) -> None:
    sessions = [make(number, OPENING + turns) for number, turns in enumerate(chosen)]
    one_after_the_other = [n for n, events in enumerate(sessions) for _ in events]
    shuffled = data.draw(st.permutations(one_after_the_other))
    assert findings(sessions, shuffled) == findings(sessions, one_after_the_other)


@settings(deadline=None, max_examples=30)
@given(data=st.data(), on_stdio=TURN_LISTS, on_http=TURN_LISTS)
def test_sessions_on_both_transports_in_one_recording_do_not_touch_each_other(
    data: st.DataObject, on_stdio: list[list[Said]], on_http: list[list[Said]]
) -> None:
    sessions = [stdio_session(0, OPENING + on_stdio), http_session(1, OPENING + on_http)]
    one_after_the_other = [n for n, events in enumerate(sessions) for _ in events]
    shuffled = data.draw(st.permutations(one_after_the_other))
    assert findings(sessions, shuffled) == findings(sessions, one_after_the_other)


def test_the_turns_break_clauses_of_either_party() -> None:
    """Otherwise the properties above would compare nothing."""
    for make in (stdio_session, http_session):
        session = make(0, OPENING + TURNS)
        found = findings([session], [0] * len(session))
        parties = {item[2] for item in found if len(item) == 7}
        assert len(parties) == 2
        assert len({item[0] for item in found if len(item) == 7}) >= 8
