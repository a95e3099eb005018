"""Importing what the MCP Inspector exports: its protocol log and its network log."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausewise.core.errors import TraceError
from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.engine import judge
from clausewise.trace.importers import ImportChoices, Imported
from clausewise.trace.importers.inspector import import_inspector
from clausewise.trace.reader import read_events
from clausewise.trace.writer import encode_event
from tests.trace.har_notation import (
    INITIALIZE,
    INITIALIZE_RESULT,
    INITIALIZED,
    JUNK,
    PING,
    URL,
    findings,
    message,
    spoiled,
    told,
)

Entry = dict[str, Any]
_START = datetime(2026, 3, 1, 12, tzinfo=UTC)


def time_of(at_ms: int) -> str:
    moment = _START + timedelta(milliseconds=at_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def logged(
    at_ms: int,
    members: Entry,
    *,
    origin: str = "client",
    response: Entry | None = None,
    duration: int = 1,
) -> Entry:
    """An entry of the protocol log."""
    kind = "request" if "id" in members else "notification"
    answered = {"response": {"jsonrpc": "2.0", **(response or {})}, "duration": duration}
    return {
        "id": f"00000000-{at_ms}",
        "timestamp": time_of(at_ms),
        "direction": kind if "method" in members else "response",
        "origin": origin,
        "message": {"jsonrpc": "2.0", **members},
        **(answered if response is not None else {}),
    }


def fetched(
    at_ms: int,
    body: Entry | None,
    *,
    status: int = 200,
    answer: Entry | str | None = None,
    kind: str = "application/json",
    method: str = "POST",
    session: str | None = "s1",
    new_session: str | None = None,
) -> Entry:
    """An entry of the network log."""
    sent = {"accept": "application/json, text/event-stream", "authorization": "[REDACTED]"}
    if session is not None:
        sent |= {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
    got = {"content-type": kind} | ({"mcp-session-id": new_session} if new_session else {})
    text = message(answer) if isinstance(answer, dict) else answer
    return {
        "id": f"{at_ms}-abc",
        "timestamp": time_of(at_ms),
        "method": method,
        "url": URL,
        "requestHeaders": sent,
        **({"requestBody": message(body)} if body is not None else {}),
        "responseStatus": status,
        "responseStatusText": "OK",
        "responseHeaders": got,
        **({"responseBody": text} if text is not None else {}),
        "duration": 2,
        "category": "transport",
    }


def imported(*entries: Entry) -> Imported:
    return import_inspector(json.dumps(entries, indent=2).encode(), "t.json")


OPENING = [
    logged(0, INITIALIZE, response={"id": 0, "result": INITIALIZE_RESULT}, duration=3),
    logged(4, INITIALIZED),
]
NETWORK = [
    fetched(
        *(0, INITIALIZE),
        session=None,
        answer={"id": 0, "result": INITIALIZE_RESULT},
        new_session="s1",
    ),
    fetched(4, INITIALIZED, status=202, answer=""),
]


def test_a_protocol_log_becomes_messages_with_each_answer_in_its_time() -> None:
    found = imported(
        *OPENING,
        logged(10, {"id": 1, "method": "tools/list"}, response={"id": 1, "result": {"tools": []}}),
        logged(20, {"id": 2, "method": "ping"}, response={"id": 2, "result": {}}, duration=50),
        logged(30, {"method": "notifications/progress"}, origin="server"),
        logged(
            40, {"id": "s", "method": "ping"}, origin="server", response={"id": "s", "result": {}}
        ),
    )
    assert told(found) == [
        *("c:initialize:0", "s:answer:0", "c:notifications/initialized:-"),
        *("c:tools/list:1", "s:answer:1", "c:ping:2"),
        *("s:notifications/progress:-", "s:ping:s", "c:answer:s", "s:answer:2"),
    ]
    assert {event.session for event in found.events} == {"inspector"}
    assert all(event.text is None and event.exchange is None for event in found.events)
    assert "does not show the transport" in found.notes[0]


def test_a_fault_in_the_messages_is_found() -> None:
    found = imported(
        *OPENING,
        logged(10, {"id": 1, "method": "ping"}, response={"id": 1, "result": {}}),
        logged(20, {"id": 1, "method": "ping"}, response={"id": 1, "result": {}}),
    )
    assert [clause for clause, _ in findings(found)] == ["BASE-003"]


def test_heads_streams_and_lines_are_not_judged_on_a_protocol_log() -> None:
    result = judge(imported(*OPENING, logged(9, PING)).events, trace="t")
    judged = [v.id for v in result.verdicts if v.id.startswith("TRAN-") and v.outcome.is_judgement]
    assert judged == []
    assert not [v.id for v in result.verdicts if v.findings]


def test_the_user_may_name_the_transport_of_a_protocol_log() -> None:
    document = json.dumps([*OPENING, logged(9, PING)]).encode()
    found = import_inspector(document, "t", ImportChoices(transport=TransportKind.STDIO))
    assert {event.transport for event in found.events} == {TransportKind.STDIO}
    assert found.notes == ()
    result = judge(found.events, trace="t")
    assert not [
        v.id for v in result.verdicts if v.id.startswith("TRAN-") and v.outcome.is_judgement
    ]


def test_an_answer_that_stands_alone_keeps_its_side() -> None:
    found = imported(*OPENING, logged(9, {"id": 5, "result": {}}, origin="server"))
    assert found.events[-1].direction is Direction.SERVER_TO_CLIENT


def test_answers_to_an_id_that_both_sides_used_at_once_are_left_out_and_told() -> None:
    answer = {"id": 1, "result": {}}
    crossing = [
        logged(10, {"id": 1, "method": "tools/call"}, response=answer, duration=50),
        logged(20, {"id": 1, "method": "ping"}, origin="server", response=answer, duration=5),
    ]
    found = imported(*OPENING, *crossing)
    assert told(found)[3:] == ["c:tools/call:1", "s:ping:1"]
    assert "2 answers are left out" in found.notes[1]
    apart = [crossing[0], logged(90, {"id": 1, "method": "ping"}, origin="server", response=answer)]
    assert told(imported(*OPENING, *apart))[3:] == [
        *("c:tools/call:1", "s:answer:1", "s:ping:1", "c:answer:1")
    ]


def test_a_network_log_becomes_labelled_exchanges() -> None:
    found = imported(
        *NETWORK,
        fetched(10, None, method="GET", kind="text/event-stream"),
        fetched(20, {"id": 1, "method": "ping"}, answer={"id": 1, "result": {}}),
        {**fetched(30, None, method="GET"), "url": "http://auth/token", "category": "auth"},
    )
    assert told(found) == [
        *("POST", "c:initialize:0", "200", "s:answer:0"),
        *("POST", "c:notifications/initialized:-", "202", "GET", "200"),
        *("POST", "c:ping:1", "200", "s:answer:1"),
    ]
    assert findings(found) == []
    assert found.events[0].fields["headers"]["authorization"] == "[redacted]"
    assert not found.texts, "JSON is written anew in the export"
    assert "leaves out the streams of GET" in found.notes[0]


def test_a_stored_session_holds_a_network_log() -> None:
    document = json.dumps({"fetchRequests": NETWORK, "createdAt": 1}).encode()
    assert len(import_inspector(document, "t").events) == 7


def test_a_body_that_the_inspector_cut_proves_no_fault() -> None:
    withheld = "[truncated JSON body withheld: an incomplete body cannot be redacted]"
    made = fetched(9, {"id": 1, "method": "ping"}, status=403, answer=withheld)
    found = imported(*NETWORK, made)
    assert found.events[-1].fields["why"].startswith("cut short: ")
    assert findings(found) == []


def test_a_request_that_failed_has_no_response() -> None:
    made = fetched(9, PING)
    del made["responseStatus"], made["responseHeaders"]
    assert told(imported(*NETWORK, {**made, "error": "fetch failed"}))[7:] == ["POST", "c:ping:1"]
    assert told(imported(*NETWORK, {**made, "responseStatus": 10**30}))[7:] == ["POST", "c:ping:1"]


def test_a_full_log_is_told_as_perhaps_without_its_beginning() -> None:
    pings = [logged(i, {"id": i, "method": "ping"}) for i in range(1000)]
    assert "earlier ones may be missing" in imported(*pings).notes[1]
    result = judge(imported(*pings).events, trace="t")
    assert not [v.id for v in result.verdicts if v.outcome is Outcome.FAIL]


@pytest.mark.parametrize(
    "document",
    [
        b"[]",
        b"3",
        b'[{"timestamp": "2026-03-01T12:00:00Z", "message": "a line of stderr"}]',
        b'[{"direction": "request", "origin": "nobody", "message": {}}]',
        b'{"mcpServers": {"default-server": {"command": "x"}}}',
    ],
)
def test_exports_without_messages_are_refused(document: bytes) -> None:
    with pytest.raises(TraceError, match="no Inspector export with messages"):
        import_inspector(document, "t.json")


@settings(deadline=None)
@given(st.data())
def test_an_export_with_anything_in_it_is_read_or_refused_and_what_is_read_can_be_written(
    data: st.DataObject,
) -> None:
    asked = logged(
        9, {"id": 0, "method": "ping"}, origin="server", response={"id": 0, "result": {}}
    )
    whole = data.draw(st.sampled_from([[*OPENING, asked], NETWORK]))
    document = json.dumps(spoiled(whole, data)).encode()
    try:
        found = import_inspector(document, "t.json")
    except TraceError as error:
        assert error.message.startswith("t.json: ")
        return
    again = list(read_events([encode_event(event) for event in found.events], "t"))
    assert [event.seq for event in again] == list(range(len(found.events)))
    assert judge(found.events, trace="t").verdicts


@settings(deadline=None)
@given(JUNK)
def test_any_json_is_refused_as_no_export(value: Any) -> None:
    with pytest.raises(TraceError):
        import_inspector(json.dumps(value).encode(), "t.json")
