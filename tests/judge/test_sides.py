"""What is remembered of the requests of one party, however it numbers them."""

from __future__ import annotations

from clausewise.core.vocabulary import Direction
from clausewise.judge.session.messages import Request
from clausewise.judge.session.sides import MAX_HIDDEN, Side


def asked(seq: int) -> Request:
    return Request(seq, Direction.CLIENT_TO_SERVER, 1, "ping", None, False)


def hidden_by(request: Request | None) -> int:
    """How many requests are remembered below this one."""
    count = 0
    while request is not None and request.older is not None:
        request, count = request.older, count + 1
    return count


def test_the_latest_request_with_an_id_is_answered_first_and_then_those_that_it_hides() -> None:
    side = Side()
    for seq in range(3):
        side.issue(asked(seq), counts=True)
    settled = [side.settle(1) for _ in range(4)]
    assert [one.seq if one is not None else None for one in settled] == [2, 1, 0, None]
    assert not side.forgetful


def test_one_id_used_without_end_is_remembered_a_bounded_number_of_times() -> None:
    side = Side()
    for seq in range(50 * MAX_HIDDEN):
        side.issue(asked(seq), counts=True)
        assert hidden_by(side.open[1]) <= MAX_HIDDEN
    assert side.forgetful
    latest = side.settle(1)
    assert latest is not None
    assert latest.seq == 50 * MAX_HIDDEN - 1
