"""Lines out of bytes: bounds, and independence of chunks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clausewise.transport.lines import Line, LineFramer


def test_lines_end_at_newlines_and_keep_their_carriage_returns() -> None:
    framer = LineFramer(100)
    assert framer.feed(b"a\r\n\nb\xe2\x80") == [Line(b"a\r"), Line(b"")]
    assert framer.feed(b"\xa8c\nd") == [Line("b\u2028c".encode())]
    assert framer.close() == b"d"
    assert framer.close() == b""


def test_a_line_that_is_too_long_comes_once_and_the_next_is_whole() -> None:
    framer = LineFramer(4)
    assert framer.feed(b"abcd\nabcdefgh") == [Line(b"abcd"), Line(b"abcd", too_long=True)]
    assert framer.feed(b"ijkl") == []
    assert framer.feed(b"mn\nok\n") == [Line(b"ok")]


def test_nothing_is_left_of_a_line_that_was_too_long() -> None:
    framer = LineFramer(2)
    framer.feed(b"abcdef")
    assert framer.close() == b""


@given(st.lists(st.sampled_from([b"a", b"bcd", b"\n", b"\r", b"efghijk"])), st.integers(1, 5))
def test_any_cutting_into_chunks_gives_the_same_lines(pieces: list[bytes], width: int) -> None:
    stream = b"".join(pieces)
    whole, cut = LineFramer(6), LineFramer(6)
    expected = whole.feed(stream)
    lines = [x for i in range(0, len(stream), width) for x in cut.feed(stream[i : i + width])]
    assert lines == expected
    assert cut.close() == whole.close()
