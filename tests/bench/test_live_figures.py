"""What the benchmark says of live servers: round trips through the recorder, the comparison."""

from __future__ import annotations

import pytest
from bench.live import MOST_S, Comparison
from bench.relaying import Overhead, over_http, over_stdio

from clausewise.core.vocabulary import Revision

SUITE = dict.fromkeys(Revision, 2.0)


@pytest.mark.parametrize("measure", [over_http, over_stdio])
def test_round_trips_are_timed_directly_and_through_the_recorder(measure: object) -> None:
    found = measure(5)  # type: ignore[operator]
    assert 0 < found.direct < 1000
    assert 0 < found.recorded < 1000


def test_a_round_trip_has_two_messages() -> None:
    assert Overhead(direct=1.0, recorded=2.0).a_message == 0.5


@pytest.mark.parametrize(
    ("check", "suite", "met"),
    [
        (3.0, SUITE, True),
        (4.0, SUITE, True),
        (4.1, SUITE, False),
        (MOST_S + 0.1, dict.fromkeys(Revision, 60.0), False),
    ],
)
def test_a_check_is_to_be_quick_and_no_slower_than_the_suite(
    check: float, suite: dict[str, float], met: bool
) -> None:
    assert Comparison(check, suite).meets_target is met
