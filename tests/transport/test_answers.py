"""Reading an answer: headers, the matching response, and whether it says anything at all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.tape import Tape, Track
from clausewise.transport.answers import Answer, Ending, blocked_reason

EMPTY = Answer(0, 200, (), b"", (), (), Ending.COMPLETE)


def holding(*texts: bytes, answer: Answer = EMPTY) -> Answer:
    tape, track = Tape(), Track(TransportKind.HTTP)
    events = tuple(tape.message(track, Direction.SERVER_TO_CLIENT, text) for text in texts)
    return replace(answer, messages=events, events=events)


def test_headers_are_found_in_any_case_and_joined_in_order() -> None:
    headers = (
        (b"X-A", b"1"),
        (b"Content-TYPE", b"Application/JSON; charset=utf-8"),
        (b"x-a", b"2"),
    )
    answer = replace(EMPTY, headers=headers)
    assert answer.headers_named("X-a") == ("1", "2")
    assert answer.header("x-A") == "1, 2"
    assert answer.header("none") is None
    assert answer.media_type == "application/json"
    assert EMPTY.media_type is None


@pytest.mark.parametrize(
    ("wanted", "place"),
    [(1, 2), ("1", 1), (True, None), (None, 3), (2**60 + 1, 4), (2**60, None), ("", None)],
)
def test_a_response_is_matched_by_type_and_value_of_its_id(wanted: Any, place: int | None) -> None:
    answer = holding(
        b'{"id":1,"method":"m"}',
        b'{"id":"1","result":{}}',
        b'{"id":1.0,"error":{}}',
        b'{"id":null,"error":{}}',
        b'{"id":1152921504606846977,"result":{}}',
        b"[1]",
        b'{"result":{}}',
    )
    expected = None if place is None else answer.messages[place]
    assert answer.response_to(wanted) is expected


ERROR = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"x"}}'


@pytest.mark.parametrize(
    ("status", "texts", "words"),
    [
        (200, (ERROR,), None),
        (202, (), None),
        (400, (), None),
        (400, (ERROR,), None),
        (405, (), None),
        (404, (ERROR,), None),
        (404, (), "nothing seems to be at this path"),
        (401, (ERROR,), "wants authorization"),
        (403, (ERROR,), "forbidden"),
        (407, (), "proxy"),
        (429, (ERROR,), "too many requests"),
        (302, (), "redirects to /login"),
        (500, (ERROR,), None),
        (502, (), "gateway"),
    ],
)
def test_a_status_blocks_unless_the_target_itself_spoke(
    status: int, texts: tuple[bytes, ...], words: str | None
) -> None:
    answer = holding(
        *texts, answer=replace(EMPTY, status=status, headers=((b"location", b"/login"),))
    )
    reason = blocked_reason(answer)
    if words is None:
        assert reason is None
    else:
        assert reason is not None
        assert reason.startswith(f"HTTP {status}")
        assert words in reason


@pytest.mark.parametrize("ending", list(Ending))
def test_a_broken_ending_blocks_unless_a_response_came_first(ending: Ending) -> None:
    progress = b'{"jsonrpc":"2.0","method":"notifications/progress"}'
    broken = replace(EMPTY, ending=ending, detail="so it went")
    reason = blocked_reason(holding(progress, answer=broken))
    if ending in (Ending.COMPLETE, Ending.CUT):
        assert reason is None
    else:
        assert reason is not None
        assert reason.endswith(": so it went")
    assert blocked_reason(holding(progress, ERROR, answer=broken)) is None
