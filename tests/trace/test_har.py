"""Importing HTTP archives: what is MCP in them, in what order it came, what they do not show."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from clausewise.core.errors import TraceError, UsageError
from clausewise.core.vocabulary import Outcome
from clausewise.judge.engine import judge
from clausewise.trace.events import EventKind
from clausewise.trace.importers import Imported, RecordingFormat, format_of
from clausewise.trace.importers.har import import_har
from clausewise.trace.raw import CUT_SHORT
from clausewise.trace.writer import encode_event
from tests.trace.har_notation import (
    INITIALIZE,
    INITIALIZE_RESULT,
    INITIALIZED,
    JSON,
    PING,
    PONG,
    STREAM,
    URL,
    entry,
    events,
    findings,
    handshake,
    har,
    headers,
    told,
)

Entry = dict[str, Any]


def imported(*entries: Entry, endpoint: str | None = None) -> Imported:
    return import_har(har(*entries), "t.har", endpoint)


def outcome(found: Imported, clause: str) -> Outcome:
    result = judge(found.events, trace="t.har")
    return next(v.outcome for v in result.verdicts if v.id == clause)


def test_a_session_becomes_labelled_events_that_can_be_judged() -> None:
    found = imported(*handshake(), entry(10, PING, answer=PONG))
    assert told(found) == [
        *("POST", "c:initialize:0", "200", "s:answer:0"),
        *("POST", "c:notifications/initialized:-", "202"),
        *("POST", "c:ping:1", "200", "s:answer:1"),
    ]
    assert [event.exchange for event in found.events] == [0] * 4 + [4] * 3 + [7] * 4
    assert [event.seq for event in found.events] == list(range(11))
    assert findings(found) == []
    assert outcome(found, "BASE-003") is Outcome.PASS
    assert found.notes == ()


def test_the_source_text_is_kept_and_of_the_query_only_the_names() -> None:
    text = '{ "jsonrpc": "2.0", "id": 12345678901234567890123, "method": "ping" }'
    found = imported(entry(0, text, url=f"{URL}?key=secret", answer=PONG))
    head, body = found.events[:2]
    assert head.fields["path"] == "/mcp"
    assert head.fields["query"] == ["key"]
    assert found.texts[body.seq] == text.encode()
    assert body.text is None, "the bytes are not known, only what they were decoded to"
    assert body.payload["id"] == 12345678901234567890123
    assert b"secret" not in b"".join(map(encode_event, found.events))


def test_credentials_and_unknown_headers_are_left_out_and_pseudo_headers_are_none() -> None:
    made = entry(0, PING, answer=PONG)
    made["request"]["headers"] += [
        {"name": ":authority", "value": "x"},
        {"name": "Authorization", "value": "Bearer secret"},
        {"name": "X-Api-Key", "value": "secret"},
        {"name": "origin", "value": "a"},
        {"name": "Origin", "value": "b"},
    ]
    kept = imported(made).events[0].fields["headers"]
    assert kept["authorization"] == "[redacted]"
    assert kept["origin"] == ["a", "b"]
    assert not {":authority", "x-api-key"} & set(kept)


def test_what_is_not_mcp_is_left_out() -> None:
    page = entry(0, None, method="GET", url="http://127.0.0.1:3001/", kind="text/html", answer="<")
    preflight = entry(1, None, method="OPTIONS", session=None, status=204, kind=None)
    other = entry(2, {"id": 1, "method": "eth_blockNumber"}, url="https://rpc/", session=None)
    form = entry(3, "a=b", url="http://127.0.0.1:3001/login", session=None)
    probe = entry(4, None, method="DELETE", session=None)
    found = imported(page, preflight, other, form, probe, *handshake(10))
    assert told(found)[:2] == ["POST", "c:initialize:0"]
    assert len(found.events) == 7


def test_get_delete_and_a_body_that_is_no_json_belong_to_the_endpoint() -> None:
    found = imported(
        *handshake(),
        entry(10, "{nonsense", status=400, kind="text/plain", answer="bad"),
        entry(20, None, method="GET", kind=STREAM, answer=events({"method": "notifications/x"})),
        entry(30, None, method="DELETE", kind=None, status=204),
    )
    assert told(found)[7:] == [
        *("POST", "raw", "400", "raw"),
        *("GET", "200", "sse", "s:notifications/x:-"),
        *("DELETE", "204"),
    ]
    assert [e.stream for e in found.events if e.stream] == ["stream-11"] * 2


def test_several_endpoints_must_be_chosen_from() -> None:
    other = "https://example.test:8443/mcp?key=1"
    both = [entry(0, PING, answer=PONG), entry(1, PING, url=other, answer=PONG)]
    with pytest.raises(TraceError) as caught:
        imported(*both)
    assert "http://127.0.0.1:3001/mcp, https://example.test:8443/mcp" in caught.value.message
    assert "--endpoint" in caught.value.hint
    assert len(imported(*both, endpoint="HTTPS://example.test:8443/mcp").events) == 4
    with pytest.raises(TraceError, match="no MCP traffic .* with http://else/ among 2"):
        imported(*both, endpoint="http://else/")
    with pytest.raises(UsageError, match="is no URL"):
        imported(*both, endpoint="mcp")


def test_the_older_transport_on_two_urls_is_not_taken_for_streamable_http() -> None:
    stream = entry(
        *(0, None),
        method="GET",
        url="http://h/sse",
        session=None,
        kind=STREAM,
        answer="event: endpoint\ndata: /messages?id=1\n\n",
    )
    posted = entry(5, INITIALIZE, url="http://h/messages?id=1", session=None, status=202, kind=None)
    with pytest.raises(TraceError, match="no MCP traffic over Streamable HTTP"):
        imported(stream, posted)


def test_entries_stand_in_the_order_of_their_times_not_of_the_file() -> None:
    first, second = handshake()
    second["startedDateTime"] = second["startedDateTime"].replace("Z", "+00:00")
    assert told(imported(second, first))[1] == "c:initialize:0"


@pytest.mark.parametrize("zone", ["Z", "+00:00", "-0000"])
def test_the_ways_of_writing_a_time_are_read(zone: str) -> None:
    entries = handshake()
    for made in entries:
        made["startedDateTime"] = made["startedDateTime"].replace("Z", zone)
    assert imported(*reversed(entries)).notes == ()


def test_without_times_the_file_gives_the_order_and_it_is_told() -> None:
    entries = [*handshake(), entry(10, PING, answer=PONG)]
    entries[1]["startedDateTime"] = "yesterday"
    found = imported(*entries)
    assert findings(found) == []
    assert len(told(found)) == 11
    assert "times are missing" in found.notes[0]


def test_an_answer_within_the_same_millisecond_comes_before_the_next_request() -> None:
    """Starts are cut to milliseconds, durations are not: 0 + 5.9 is beyond the next start, 5."""
    opening, initialized = handshake()
    opening.update(time=5.9, timings={"send": 0.1, "wait": 5.7})
    found = imported(opening, initialized)
    assert told(found)[:5] == ["POST", "c:initialize:0", "200", "s:answer:0", "POST"]
    assert findings(found) == []


def test_exchanges_that_overlap_are_not_put_one_after_the_other() -> None:
    slow = entry(10, {"id": 1, "method": "tools/list"}, answer=PONG, wait_ms=90, time_ms=100)
    quick = entry(50, {"id": 2, "method": "ping"}, answer={"id": 2, "result": {}})
    assert told(imported(slow, quick)) == [
        *("POST", "c:tools/list:1", "POST", "c:ping:2", "200", "s:answer:2", "200", "s:answer:1"),
    ]


def test_a_servers_request_in_a_stream_stands_before_the_answer_to_it() -> None:
    asked: Entry = {"id": 7, "method": "sampling/createMessage", "params": {}}
    called: Entry = {"id": 1, "method": "tools/call", "params": {"name": "x"}}
    streams = {
        "POST": entry(10, called, kind=STREAM, answer=events(asked, PONG), time_ms=500),
        "GET": entry(10, None, method="GET", kind=STREAM, answer=events(asked), time_ms=500),
    }
    answer = entry(100, {"id": 7, "result": {}}, status=202, kind=None)
    for stream in streams.values():
        words = told(imported(*handshake(), stream, answer))
        assert words.index("s:sampling/createMessage:7") < words.index("c:answer:7")


def test_the_result_of_initialize_in_a_stream_that_lingers_comes_before_initialized() -> None:
    lingering = entry(
        *(0, INITIALIZE),
        session=None,
        kind=STREAM,
        answer=events({"id": 0, "result": INITIALIZE_RESULT}),
        new_session="s1",
        time_ms=5000,
    )
    assert findings(imported(lingering, handshake()[1])) == []


def test_the_messages_of_a_get_come_before_the_end_of_the_session() -> None:
    get = entry(
        *(6, None),
        method="GET",
        kind=STREAM,
        answer=events({"method": "notifications/message", "params": {}}),
        time_ms=9000,
    )
    words = told(imported(*handshake(), get, entry(50, None, method="DELETE", kind=None)))
    assert words.index("s:notifications/message:-") < words.index("DELETE")


def test_a_stream_has_no_end_and_what_its_events_are_is_told() -> None:
    text = ': hi\n\nid: 7\nretry: 5\ndata: {"jsonrpc": "2.0", "id": 1, "result": {}}\n\ndata: {"a'
    found = imported(entry(0, PING, kind=STREAM, answer=text))
    rest = found.events[3:]
    assert [e.kind for e in rest] == [
        *(EventKind.SSE, EventKind.SSE, EventKind.MESSAGE, EventKind.RAW)
    ]
    assert rest[1].fields == {"id": "7", "retry": 5}
    assert rest[3].fields["why"].startswith(CUT_SHORT)
    assert not any("end" in event.fields for event in found.events)
    assert "does not show when the events of a stream came" in found.notes[0]


def test_bodies_in_base64_are_decoded() -> None:
    made = entry(0, PING, answer=PONG)
    text = made["response"]["content"]["text"]
    made["response"]["content"]["text"] = base64.b64encode(text.encode()).decode()
    made["response"]["content"]["encoding"] = "base64"
    assert told(imported(made))[-1] == "s:answer:1"


def _left_out(made: Entry) -> None:
    del made["response"]["content"]["text"]


def _cut(made: Entry) -> None:
    made["response"]["content"]["text"] = made["response"]["content"]["text"][:20]


def _still_coded(made: Entry) -> None:
    made["response"]["content"].update(text="H4sIAAAA", encoding="base64", size=6)
    made["response"]["headers"] += headers(content_encoding="gzip")


def _lost(made: Entry) -> None:
    made["response"]["content"]["text"] = "\ud800" * 40


@pytest.mark.parametrize("spoil", [_left_out, _cut, _still_coded, _lost])
def test_a_body_that_is_not_all_there_proves_no_fault(spoil: Callable[[Entry], None]) -> None:
    made = entry(10, PING, answer=PONG)
    spoil(made)
    found = imported(*handshake(), made)
    assert found.events[-1].fields["why"].startswith(CUT_SHORT)
    assert findings(found) == []


@pytest.mark.parametrize("size", [100, -1, None])
def test_an_exchange_whose_request_body_was_left_out_is_left_out_and_told(
    size: int | None,
) -> None:
    made = entry(10, PING, answer=PONG)
    del made["request"]["postData"]
    made["request"]["bodySize"] = size
    found = imported(*handshake(), made)
    assert len(found.events) == 7
    assert found.notes == ("1 exchange is left out: the body of its request is not in the export",)


def test_a_post_that_is_known_to_be_empty_is_kept() -> None:
    assert told(imported(*handshake(), entry(10, None, status=400)))[7:] == ["POST", "400"]


def test_a_202_whose_body_is_known_to_be_there_is_a_finding() -> None:
    made = entry(5, INITIALIZED, status=202, kind=JSON, answer="null")
    assert [m for _, m in findings(imported(handshake()[0], made))] != []
    del made["response"]["content"]["text"]
    assert [m for _, m in findings(imported(handshake()[0], made))] != []


def test_a_request_that_got_no_response_has_none() -> None:
    failed = entry(10, PING, status=0)
    failed["response"]["_error"] = "net::ERR_CONNECTION_RESET"
    assert told(imported(*handshake(), failed))[7:] == ["POST", "c:ping:1"]


def test_headers_that_were_not_exported_are_not_taken_for_absent() -> None:
    made = entry(10, PING, answer=PONG)
    made["request"]["headers"] = []
    made["response"]["headers"] = []
    found = imported(*handshake(), made)
    assert "headers" not in found.events[7].fields
    assert found.events[9].header("content-type") == JSON


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (b"{", "no JSON"),
        (b"[]", "no HAR"),
        (b'{"log": 3}', "no HAR"),
        (b'{"log": {}}', "no MCP traffic over Streamable HTTP among 0 exchanges"),
    ],
)
def test_what_is_no_har_is_named(document: bytes, why: str) -> None:
    with pytest.raises(TraceError) as caught:
        import_har(document, "t.har", None)
    assert caught.value.message.startswith(f"t.har: {why}")


def test_the_format_is_told_by_the_first_bytes_or_the_name() -> None:
    assert format_of(b'\xef\xbb\xbf\n{\n  "log" : {', "x") is RecordingFormat.HAR
    assert format_of(b"{}", "x.HAR.gz") is RecordingFormat.HAR
    assert format_of(b" [\n {", "x.json") is RecordingFormat.INSPECTOR
    assert format_of(b"[[", "x.json") is RecordingFormat.TRACE
    assert format_of(b"[{", "x.jsonl.zst") is RecordingFormat.TRACE
    assert format_of(b'{"kind": "trace"}', "x.jsonl") is RecordingFormat.TRACE
    assert format_of(b"", "-") is RecordingFormat.TRACE


def test_a_har_with_a_byte_order_mark_is_read() -> None:
    assert len(import_har(b"\xef\xbb\xbf" + har(*handshake()), "t", None).events) == 7
