"""The turns of requests: a bound on their rate, and pauses that the server asks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.transport import pace as pace_module
from clausewise.transport.pace import Pace

QUICK = 0.01
SLACK_S = 0.02


@dataclass
class Said:
    """An answer with a status and perhaps Retry-After."""

    status: int | None = 200
    retry_after: str | None = None

    def header(self, name: str) -> str | None:
        assert name == "retry-after"
        return self.retry_after


@dataclass
class Counter:
    """Gives answers one after the other, the last for ever, and notes when it was asked."""

    answers: list[Said]
    asked: list[float] = field(default_factory=list)

    async def __call__(self) -> Said:
        self.asked.append(anyio.current_time())
        return self.answers[min(len(self.asked), len(self.answers)) - 1]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same behaviour in hundredths of a second."""
    monkeypatch.setattr(pace_module, "_FIRST_PAUSE_S", QUICK)
    monkeypatch.setattr(pace_module, "_SHORTEST_PAUSE_S", QUICK)
    monkeypatch.setattr(pace_module, "_FIRST_SLOWER_INTERVAL_S", QUICK)


def test_turns_taken_side_by_side_keep_the_rate() -> None:
    taken: list[float] = []

    async def take(pace: Pace) -> None:
        await pace.turn()
        taken.append(anyio.current_time())

    async def run() -> None:
        pace = Pace(rate=50)
        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(take, pace)

    anyio.run(run)
    assert len(taken) == 6
    assert min(later - earlier for earlier, later in pairwise(taken)) > 0.02 - SLACK_S / 2


def test_without_a_rate_nobody_waits() -> None:
    async def run() -> float:
        pace = Pace()
        began = anyio.current_time()
        for _ in range(100):
            await pace.turn()
        return anyio.current_time() - began

    assert anyio.run(run) < 0.5


def test_a_rate_below_one_a_second_is_a_longer_gap() -> None:
    async def run() -> bool:
        pace = Pace(rate=0.01)
        await pace.turn()
        with anyio.move_on_after(0.05):
            await pace.turn()
            return False
        return True

    assert anyio.run(run)


def test_waiting_for_a_turn_does_not_count_against_who_waits() -> None:
    async def run() -> bool:
        pace = Pace(rate=10)
        await pace.turn()
        with anyio.move_on_after(0.05) as own, pace.excusing(own):
            await pace.turn()
        return not own.cancelled_caught

    assert anyio.run(run)


def test_the_excuse_ends_with_its_block() -> None:
    async def run() -> float:
        pace = Pace(rate=20)
        with anyio.move_on_after(5) as own:
            with pace.excusing(own):
                pass
            before = own.deadline
            await pace.turn()
            await pace.turn()
        return own.deadline - before

    assert anyio.run(run) == 0.0


@pytest.mark.usefixtures("quick")
def test_a_refused_request_is_asked_again_until_it_is_served() -> None:
    async def run() -> tuple[Said, int, str | None]:
        pace, ask = Pace(), Counter([Said(429), Said(429), Said(200)])

        async def in_turn() -> Said:
            await pace.turn()
            return await ask()

        return await pace.patiently(in_turn), len(ask.asked), pace.given_up

    answer, asked, given_up = anyio.run(run)
    assert (answer.status, asked, given_up) == (200, 3, None)


def test_the_pause_is_as_long_as_the_server_asks() -> None:
    async def run() -> float:
        pace, ask = Pace(), Counter([Said(429, "1"), Said()])

        async def in_turn() -> Said:
            await pace.turn()
            return await ask()

        await pace.patiently(in_turn)
        return ask.asked[1] - ask.asked[0]

    assert 1.0 - SLACK_S < anyio.run(run) < 2.0


def test_a_date_is_understood_too() -> None:
    soon = datetime.now(UTC) + timedelta(seconds=1000)
    seconds = pace_module._seconds(format_datetime(soon, usegmt=True))
    assert seconds == pytest.approx(1000, abs=5)
    assert pace_module._seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0


def test_a_pause_beyond_the_patience_is_not_made() -> None:
    async def run() -> tuple[int | None, int]:
        pace, ask = Pace(patience_s=5), Counter([Said(429, "3600")])
        answer = await pace.patiently(ask)
        return answer.status, len(ask.asked)

    with_bound = anyio.run(run)
    assert with_bound == (429, 1)


@pytest.mark.usefixtures("quick")
def test_a_server_that_never_relents_is_given_up_with_a_reason() -> None:
    async def run() -> list[str | None]:
        pace, ask = Pace(), Counter([Said(429, "0")])
        reasons = []
        for _ in range(4):
            await pace.patiently(ask)
            reasons.append(pace.given_up)
        pace_after = Counter([Said(200)])
        await pace.patiently(pace_after)
        return [*reasons, pace.given_up]

    first, second, third, fourth, served = anyio.run(run)
    assert (first, second, served) == (None, None, None)
    assert third == fourth
    assert third is not None
    assert third.startswith("HTTP 429: ")
    assert third.endswith("Retry-After: 0")


@pytest.mark.usefixtures("quick")
def test_what_may_not_be_repeated_is_asked_once() -> None:
    async def run() -> int:
        pace, ask = Pace(), Counter([Said(429), Said(200)])
        await pace.patiently(ask, lambda: False)
        return len(ask.asked)

    assert anyio.run(run) == 1


@pytest.mark.usefixtures("quick")
def test_after_a_refusal_requests_keep_a_distance() -> None:
    async def run() -> list[float]:
        pace, ask = Pace(), Counter([Said(429), Said(200)])
        await pace.patiently(ask)
        taken = []
        for _ in range(4):
            await pace.turn()
            taken.append(anyio.current_time())
        return taken

    taken = anyio.run(run)
    assert taken[-1] - taken[0] > 3 * QUICK - SLACK_S / 2


@given(st.text(max_size=60))
def test_no_header_breaks_the_pause(text: str) -> None:
    seconds = pace_module._seconds(text)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize("text", ["", "soon", "-5", "1.5", "٣", "Wed, 99 Foo 99999 99:99:99 GMT"])
def test_what_is_no_retry_after_is_none(text: str) -> None:
    assert pace_module._seconds(text) is None


def test_a_huge_number_is_just_too_long() -> None:
    assert (pace_module._seconds("9" * 400) or 0) > 1e8
