"""Recording: the tape numbers events, the writer keeps source text, credentials stay out."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import Event, EventKind, Lifecycle
from clausewise.trace.reader import read_events
from clausewise.trace.redaction import query_names, recorded_headers
from clausewise.trace.tape import Tape, Track
from clausewise.trace.writer import TraceWriter, encode_event

STDIO = Track(TransportKind.STDIO, session="process-1")
OUT = Direction.CLIENT_TO_SERVER


def read_back(data: bytes) -> list[Event]:
    return list(read_events(data.splitlines(keepends=True), "t"))


def test_the_tape_numbers_events_and_tells_its_listeners() -> None:
    heard: list[int] = []
    tape = Tape(lambda event: heard.append(event.seq))
    tape.lifecycle(STDIO, OUT, Lifecycle.OPEN)
    tape.message(STDIO, OUT, b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    assert heard == [0, 1]
    assert tape.next_seq == 2
    assert [event.kind for event in tape.since(1)] == [EventKind.MESSAGE]


def test_text_that_is_no_json_becomes_a_raw_event_and_is_kept() -> None:
    tape = Tape()
    text = tape.message(STDIO, OUT, b"Listening on port 3000")
    data = tape.message(STDIO, OUT, b"\xff\xfe")
    assert (text.kind, text.fields["text"]) == (EventKind.RAW, "Listening on port 3000")
    assert (data.kind, data.fields["base64"]) == (EventKind.RAW, "//4=")


def test_a_message_keeps_its_source_text_through_writing_and_reading() -> None:
    tape = Tape()
    text = b'{ "id": 12345678901234567890123,\r\n "a": 1, "a": 2, "x": 1.0 }'
    written = encode_event(tape.message(STDIO, OUT, text))
    assert written.count(b"\n") == 1
    assert text.replace(b"\r\n", b"  ") in written
    (event,) = read_back(written)
    assert event.payload["id"] == 12345678901234567890123


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists))
def test_any_value_survives_writing_and_reading(value: object) -> None:
    if isinstance(value, str) and any(0xD800 <= ord(c) < 0xE000 for c in value):
        return
    tape = Tape()
    event = tape.message(STDIO, OUT, json.dumps(value).encode())
    (read,) = read_back(encode_event(event))
    assert read.payload == value


def test_every_field_survives_writing_and_reading() -> None:
    tape = Tape()
    track = Track(TransportKind.HTTP, "s", 4, "4/sse", "MCP-HDR-001")
    tape.add(track, OUT, EventKind.HTTP, {"method": "POST", "path": "/mcp", "headers": {"a": "b"}})
    tape.lifecycle(track, Direction.SERVER_TO_CLIENT, Lifecycle.EXIT, code=3)
    written = b"".join(map(encode_event, tape.events))
    assert read_back(written) == list(tape.events)


def test_a_written_trace_begins_with_its_format_and_holds_each_event_at_once(
    tmp_path: Path,
) -> None:
    path = tmp_path / "s.jsonl"
    with TraceWriter(path) as writer:
        tape = Tape(writer.write)
        tape.message(STDIO, OUT, b"{}")
        so_far = path.read_bytes()
    lines = so_far.splitlines()
    assert orjson.loads(lines[0])["version"] == 1
    assert orjson.loads(lines[1])["payload"] == {}
    assert len(read_back(so_far)) == 1


def test_a_trace_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write the trace .*: No such file or directory"):
        TraceWriter(tmp_path / "no" / "s.jsonl")


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("/mcp", []),
        ("/mcp?", []),
        ("/mcp?access%5Ftoken=secret&tenant=", ["access_token", "tenant"]),
        ("/mcp?secret", []),
        ("/mcp?a=b=secret#c=d", ["a"]),
    ],
)
def test_of_a_query_only_names_are_recorded(target: str, names: list[str]) -> None:
    assert query_names(target) == names


def test_only_allowed_headers_are_recorded_and_credentials_never() -> None:
    headers = recorded_headers(
        [
            (b"Authorization", b"Bearer secret"),
            (b"Cookie", b"session=secret"),
            (b"X-Api-Key", b"secret"),
            (b"Content-Type", b"application/json"),
            (b"Mcp-Param-Region", b"us-west1"),
            (b"MCP-Session-Id", b"a"),
            (b"mcp-session-id", b"b"),
        ]
    )
    assert headers == {
        "authorization": "[redacted]",
        "cookie": "[redacted]",
        "content-type": "application/json",
        "mcp-param-region": "us-west1",
        "mcp-session-id": ["a", "b"],
    }
