"""Which traces give back the source text of their messages: those of recorders of ours."""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.events import Event
from clausewise.trace.reader import read_events
from clausewise.trace.tape import Tape, Track
from clausewise.trace.writer import encode_event, encode_header

TEXT = b'{"jsonrpc": "2.0",  "method": "x", "params": {"a": 1.0, "b": "},"}}'


def read_back(header: bytes, text: bytes = TEXT) -> Event:
    event = Tape().message(Track(TransportKind.STDIO), Direction.CLIENT_TO_SERVER, text)
    lines = [header, encode_event(event)] if header else [encode_event(event)]
    (read,) = read_events(lines, "t")
    return read


def test_a_recorded_message_is_read_with_its_source_text() -> None:
    event = read_back(encode_header())
    assert event.text == TEXT
    assert event.payload["params"]["b"] == "},"


def test_the_text_ends_where_the_message_does() -> None:
    line = encode_event(
        Tape().message(Track(TransportKind.STDIO), Direction.CLIENT_TO_SERVER, TEXT)
    )
    (event,) = read_events([encode_header(), line.rstrip(b"\n") + b" \r\n"], "t")
    assert event.text == TEXT


@pytest.mark.parametrize(
    "header",
    [
        b"",
        encode_header(source="har"),
        b'{"kind": "trace", "version": 1}\n',
        b'{"kind": "trace", "format": "another", "version": 1}\n',
    ],
)
def test_what_others_wrote_or_what_was_converted_has_no_source_text(header: bytes) -> None:
    assert read_back(header).text is None
