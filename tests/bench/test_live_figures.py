"""What the benchmark says of live servers: round trips through the recorder, the comparison."""

from __future__ import annotations

import pytest
from bench.live import MOST_S, Comparison
from bench.relaying import Overhead, over_http, over_stdio

from clausewise.core.vocabulary import Revision, TransportKind

SUITE = {revision.value: 2.0 for revision in Revision}


@pytest.mark.parametrize("measure", [over_http, over_stdio])
def test_round_trips_are_timed_directly_and_through_the_recorder(measure: object) -> None:
    found = measure(5)  # type: ignore[operator]
    assert 0 < found.direct < 1000
    assert 0 < found.recorded < 1000


def test_a_round_trip_has_two_messages() -> None:
    assert Overhead(direct=1.0, recorded=2.0).a_message == 0.5


@pytest.mark.parametrize(
    ("http", "stdio", "suite", "met"),
    [
        (3.0, 3.0, SUITE, True),
        (4.0, 4.1, SUITE, True),
        (4.1, 4.0, SUITE, False),
        (MOST_S + 0.1, 4.0, dict.fromkeys(SUITE, 60.0), False),
        (4.0, MOST_S + 0.1, dict.fromkeys(SUITE, 60.0), False),
    ],
)
def test_a_check_is_to_be_quick_and_no_slower_than_the_suite(
    http: float, stdio: float, suite: dict[str, float], met: bool
) -> None:
    checks = {TransportKind.HTTP: http, TransportKind.STDIO: stdio}
    assert Comparison(checks, suite).meets_target is met


def test_the_ratio_is_to_the_suite_at_both_revisions() -> None:
    checks = {TransportKind.HTTP: 2.0, TransportKind.STDIO: 3.0}
    found = Comparison(checks, SUITE)
    assert [found.ratio(transport) for transport in checks] == [0.5, 0.75]
