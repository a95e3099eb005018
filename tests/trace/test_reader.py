"""Reading traces: good lines become events, bad ones are named, a cut recording is judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.core.errors import TraceError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace import reader
from clausewise.trace.events import Event, EventKind
from clausewise.trace.reader import BadLine, ReadLimits, read_events


def line(seq: int = 0, **fields: Any) -> bytes:
    record = {
        "seq": seq,
        "direction": "client-to-server",
        "transport": "stdio",
        "kind": "message",
        "payload": {"jsonrpc": "2.0", "id": 1, "method": "ping"},
    }
    return orjson.dumps(record | fields) + b"\n"


def read(*lines: bytes, limits: ReadLimits = ReadLimits()) -> list[Event]:
    return list(read_events(lines, "t.jsonl", limits=limits))


def read_leniently(*lines: bytes) -> tuple[list[Event], list[BadLine]]:
    bad: list[BadLine] = []
    return list(read_events(lines, "t.jsonl", on_bad_line=bad.append)), bad


def test_a_line_becomes_an_event_with_its_fields() -> None:
    (event,) = read(line(7, session="s", exchange=3, stream="x", injected="fault"))
    assert (event.seq, event.kind, event.transport) == (7, EventKind.MESSAGE, TransportKind.STDIO)
    assert event.direction is Direction.CLIENT_TO_SERVER
    assert (event.session, event.exchange, event.stream) == ("s", 3, "x")
    assert event.injected == "fault"
    assert event.payload["method"] == "ping"


def test_headers_are_found_in_any_case_and_duplicates_keep_their_order() -> None:
    headers = {"Content-Type": "text/html", "mcp-session-id": ["a", "b"]}
    (event,) = read(line(kind="http", status=200, headers=headers))
    assert event.status == 200
    assert event.header("content-type") == "text/html"
    assert event.header_values("MCP-Session-Id") == ("a", "b")
    assert event.header("accept") is None


def test_a_boolean_status_is_no_status() -> None:
    (event,) = read(line(kind="http", status=True))
    assert event.status is None


def test_integers_beyond_64_bit_stay_exact() -> None:
    big = 2**70 + 1
    text = line().replace(b'"id":1', b'"id":' + str(big).encode())
    (event,) = read(text)
    assert event.payload["id"] == big


def test_a_null_payload_is_a_message() -> None:
    (event,) = read(line(payload=None))
    assert event.kind is EventKind.MESSAGE
    assert event.payload is None


def test_a_header_line_is_no_event_and_its_version_is_checked() -> None:
    assert len(read(b'{"kind":"trace","version":1}\n', line())) == 1
    with pytest.raises(TraceError, match="t.jsonl:1: trace format version 2"):
        read(b'{"kind":"trace","version":2}\n')


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (b"{nope\n", "no JSON"),
        (b"[1]\n", "no JSON object"),
        (line(kind="banana"), "unknown kind 'banana'"),
        (line(kind=["message"]), "unknown kind"),
        (line(direction="up"), "unknown direction 'up'"),
        (line(transport="pigeon"), "unknown transport 'pigeon'"),
        (line(seq=True), "seq is no integer"),
        (line().replace(b'"payload"', b'"load"'), "a message without payload"),
        (b"\xff\n", "not UTF-8"),
        (b'{"seq":NaN}\n', "no JSON"),
        (b"[" * 100_000 + b"\n", "no JSON: nested too deeply"),
    ],
)
def test_a_bad_line_is_named_by_its_number(bad: bytes, why: str) -> None:
    with pytest.raises(TraceError) as caught:
        read(line(0), bad, line(1))
    assert caught.value.message.startswith("t.jsonl:2: ")
    assert why in caught.value.message
    assert "--keep-going" in caught.value.hint


def test_keep_going_skips_bad_lines_and_reads_the_rest() -> None:
    events, bad = read_leniently(line(0), b"garbage\n", line(1))
    assert [event.seq for event in events] == [0, 1]
    assert [(b.number, b.why.split(":")[0]) for b in bad] == [(2, "no JSON")]


def test_seq_must_increase() -> None:
    with pytest.raises(TraceError, match="seq 3 does not increase"):
        read(line(3), line(3))


def test_a_recording_cut_in_mid_line_is_read_up_to_there() -> None:
    assert [event.seq for event in read(line(0), line(1)[:20])] == [0]
    events, bad = read_leniently(line(0), line(1)[:20])
    assert len(events) == 1
    assert "stops in mid-line" in bad[0].why


def test_bounds_on_line_length_and_events_are_kept() -> None:
    with pytest.raises(TraceError, match="longer than 10 bytes"):
        read(line(), limits=ReadLimits(max_line_bytes=10))
    with pytest.raises(TraceError, match="more than 1 events"):
        read(line(0), line(1), limits=ReadLimits(max_events=1))


@given(st.lists(st.binary(max_size=80)))
def test_arbitrary_bytes_never_raise_when_kept_going(lines: list[bytes]) -> None:
    events, bad = read_leniently(*(text + b"\n" for text in lines))
    assert len(events) + len(bad) <= len(lines)


def test_every_recorded_session_of_the_corpus_is_read(shared: Path) -> None:
    traces = sorted((shared / "corpus").rglob("*.jsonl"))
    assert traces
    for trace in traces:
        with trace.open("rb") as lines:
            assert list(read_events(lines, trace.name))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=8,
)
INNER = ["fields", "(fields)", "text", "(text)", "x"]
OWN = ["id", "status", "method", "headers", "event", "end"]
COMMON = [
    "seq",
    "direction",
    "transport",
    "kind",
    "payload",
    "session",
    "exchange",
    "ts",
    "injected",
]
NAMES = st.sampled_from([*INNER, *OWN, *COMMON])
VALUES = st.sampled_from(["message", "http", "sse", "raw", "trace", "stdio", 7, 7.0, True, None])


@given(
    st.dictionaries(NAMES, VALUES | JSON, max_size=5),
    st.sampled_from(["message", "http", "sse", "raw", "lifecycle", "stderr"]),
    st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=2)), max_size=2),
)
def test_what_is_decoded_at_once_is_what_the_long_way_gives(
    changes: dict[str, Any], kind: str, edits: list[tuple[int, bytes]]
) -> None:
    text = bytearray(json.dumps(json.loads(line(kind=kind)) | changes).encode())
    for place, new in edits:
        text[place % len(text) : place % len(text) + 1] = new
    event = reader._usual_event(bytes(text), -1)
    if event is not None and b"(" not in text:
        slowly = reader._parse(bytes(text), 2, -1, ReadLimits())
        # By their text, since NaN is not itself.
        assert repr(held(event)) == repr(held(slowly))


def held(event: Event | None) -> list[Any]:
    assert event is not None
    names = ("seq", "direction", "transport", "kind", "payload", "exchange", "stream")
    rest = ("session", "ts", "injected", "text")
    return [dict(event.fields), *(getattr(event, name) for name in (*names, *rest))]
