"""The SSE parser: the WHATWG grammar, what a client would skip, and independence of chunks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.wire.sse import SseComment, SseEvent, SseIgnoredLine, SseItem, SseParser


def parse(data: bytes, bound: int = 1000) -> list[SseItem]:
    return SseParser(bound).feed(data)


def test_a_block_of_data_lines_is_one_event() -> None:
    assert parse(b"data: one\ndata:two\ndata\n\n") == [SseEvent(b"one\ntwo\n")]


@pytest.mark.parametrize("newline", [b"\n", b"\r", b"\r\n"])
def test_each_newline_ends_a_line(newline: bytes) -> None:
    stream = newline.join([b"id: 7", b"data: x", b"", b"data: y", b"", b""])
    assert parse(stream) == [SseEvent(b"x", id="7"), SseEvent(b"y")]


def test_a_line_separator_character_is_no_newline() -> None:
    text = "data: a\u2028b\u0085c\n\n".encode()
    assert parse(text) == [SseEvent("a\u2028b\u0085c".encode())]


def test_one_byte_order_mark_at_the_start_is_skipped() -> None:
    assert parse(b"\xef\xbb\xbfdata: x\n\n") == [SseEvent(b"x")]
    twice = parse(b"\xef\xbb\xbf\xef\xbb\xbfdata: x\n\n")
    assert twice == [
        SseIgnoredLine(b"\xef\xbb\xbfdata: x", "an SSE line that names no known field")
    ]


def test_only_one_space_after_the_colon_is_skipped() -> None:
    assert parse(b"data:  x\n\n") == [SseEvent(b" x")]


def test_a_comment_comes_at_once_and_ends_no_block() -> None:
    assert parse(b"data: x\n: ping\n\n") == [SseComment("ping"), SseEvent(b"x")]


def test_a_block_without_data_keeps_its_fields() -> None:
    assert parse(b"id: 1\nretry: 250\n\n") == [SseEvent(None, id="1", retry=250)]
    assert not SseEvent(None, id="1").is_message


def test_a_priming_event_with_empty_data_is_no_message() -> None:
    (event,) = parse(b"id: 1\ndata:\n\n")
    assert event == SseEvent(b"", id="1")
    assert isinstance(event, SseEvent)
    assert not event.is_message


def test_only_the_default_type_is_a_message() -> None:
    events = parse(
        b"event: message\ndata: x\n\nevent: ping\ndata: x\n\nevent: Message\ndata: x\n\n"
    )
    assert [isinstance(e, SseEvent) and e.is_message for e in events] == [True, False, False]


def test_an_id_is_that_of_its_block_and_may_be_empty() -> None:
    assert parse(b"id: 1\ndata: x\n\ndata: y\n\nid\ndata: z\n\n") == [
        SseEvent(b"x", id="1"),
        SseEvent(b"y"),
        SseEvent(b"z", id=""),
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"id: a\0b", "NUL"),
        (b"retry: 1s", "no number"),
        (b"retry: \xd9\xa1", "no number"),
        (b"retry: " + b"9" * 5000, "out of range"),
        (b"retry:", "no number"),
        (b'{"jsonrpc":"2.0"}', "no known field"),
        (b" data: x", "no known field"),
        (b"Data: x", "no known field"),
    ],
)
def test_a_line_that_a_client_ignores_is_reported(line: bytes, why: str) -> None:
    (item, event) = parse(line + b"\ndata: x\n\n", bound=10_000)
    assert isinstance(item, SseIgnoredLine)
    assert item.line == line
    assert why in item.why
    assert event == SseEvent(b"x")


def test_blank_lines_alone_are_nothing() -> None:
    assert parse(b"\n\n\r\n\r\r") == []


def test_what_no_blank_line_ended_is_given_back_at_the_end() -> None:
    parser = SseParser(1000)
    assert parser.feed(b"event: e\nid: 1\nretry: 5\ndata: a\ndata: b\ndat") == []
    assert parser.close() == b"data: a\ndata: b\nevent: e\nid: 1\nretry: 5\ndat"
    assert parser.close() == b""


def test_half_a_byte_order_mark_is_given_back_at_the_end() -> None:
    parser = SseParser(1000)
    assert parser.feed(b"\xef\xbb") == []
    assert parser.close() == b"\xef\xbb"


@pytest.mark.parametrize(
    "endless",
    [b"data: " + b"x" * 100, b":" + b"x" * 100, b"data: 0123456789\n" * 20, b"data\n" * 50],
)
def test_an_endless_block_or_line_stops_the_parser(endless: bytes) -> None:
    parser = SseParser(64)
    assert parser.feed(b"data: ok\n\n" + endless) == [SseEvent(b"ok")]
    assert parser.overflowed
    assert parser.feed(b"\n\ndata: more\n\n") == []


FIELDS = [b"data: ", b"data:\xe4\xb8\x96", b"id: 1", b"event: e", b"retry: 5", b": c", b"junk"]
BREAKS = [b"\r", b"\n", b"\r\n", b"\n\n", b"\xef\xbb\xbf", b"\0", b"\xff", "\u2028".encode()]
PIECES = st.lists(st.sampled_from([*FIELDS, *BREAKS]))


@given(PIECES.map(b"".join), st.lists(st.integers(0, 200)), st.integers(5, 60))
def test_any_cutting_into_chunks_gives_the_same_items(
    stream: bytes, cuts: list[int], bound: int
) -> None:
    whole = SseParser(bound)
    expected = whole.feed(stream)
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    parser = SseParser(bound)
    items: list[SseItem] = []
    for begin, end in pairwise(edges):
        items += parser.feed(stream[begin:end])
    assert items == expected
    assert parser.overflowed == whole.overflowed
    assert parser.close() == whole.close()


@given(PIECES.map(b"".join))
def test_byte_by_byte_gives_the_same_items(stream: bytes) -> None:
    parser = SseParser(1000)
    items = [item for i in range(len(stream)) for item in parser.feed(stream[i : i + 1])]
    assert items == parse(stream)
