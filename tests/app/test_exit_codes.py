"""The exit code follows from outcomes, the threshold and the baseline, and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clausewise.app.exit import exit_code
from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.vocabulary import FailOn, Outcome

CASES = [
    # outcomes, then the code with must, should, inconclusive, never
    ("pass", 0, 0, 0, 0),
    ("pass info", 0, 0, 0, 0),
    ("info", 0, 0, 0, 0),
    ("pass fail", 1, 1, 1, 0),
    ("fail", 1, 1, 1, 0),
    ("pass warn", 0, 1, 1, 0),
    ("pass inconclusive", 0, 0, 1, 0),
    ("pass not-observed not-applicable excluded", 0, 0, 0, 0),
    ("pass crashed", 2, 2, 2, 2),
    ("fail crashed", 1, 1, 1, 2),
    ("warn crashed", 2, 1, 1, 2),
    ("crashed", 2, 2, 2, 2),
    ("crashed inconclusive", 2, 2, 2, 2),
    ("inconclusive", 3, 3, 3, 3),
    ("not-observed", 3, 3, 3, 3),
    ("not-applicable excluded", 3, 3, 3, 3),
    ("", 3, 3, 3, 3),
]


@pytest.mark.parametrize(
    ("outcomes", "fail_on", "code"),
    [
        (outcomes, fail_on, code)
        for outcomes, *codes in CASES
        for fail_on, code in zip(FailOn, codes, strict=True)
    ],
)
def test_the_exit_code_by_outcomes_and_threshold(
    outcomes: str,
    fail_on: FailOn,
    code: int,
    verdict: Callable[..., Verdict],
    finding: Callable[..., Finding],
    run_of: Callable[..., RunResult],
) -> None:
    found = [Outcome(word) for word in outcomes.split()]
    broken = (Outcome.FAIL, Outcome.WARN, Outcome.INFO)
    verdicts = [
        verdict(f"X-{n}", outcome, *([finding("m", outcome)] if outcome in broken else []))
        for n, outcome in enumerate(found)
    ]
    assert exit_code(run_of(*verdicts), fail_on) == code


def test_a_finding_in_the_baseline_does_not_count(
    verdict: Callable[..., Verdict],
    finding: Callable[..., Finding],
    run_of: Callable[..., RunResult],
) -> None:
    old, new = finding("old"), finding("new")
    known = frozenset({("X-1", old)})
    assert exit_code(run_of(verdict("X-1", Outcome.FAIL, old)), known=known) == 0
    assert exit_code(run_of(verdict("X-1", Outcome.FAIL, old, new)), known=known) == 1
    assert exit_code(run_of(verdict("X-2", Outcome.FAIL, old)), known=known) == 1


def test_a_known_fail_beside_a_new_warn_counts_from_should_on(
    verdict: Callable[..., Verdict],
    finding: Callable[..., Finding],
    run_of: Callable[..., RunResult],
) -> None:
    old, new = finding("old"), finding("new", Outcome.WARN)
    result, known = run_of(verdict("X-1", Outcome.FAIL, old, new)), frozenset({("X-1", old)})
    assert exit_code(result, FailOn.MUST, known) == 0
    assert exit_code(result, FailOn.SHOULD, known) == 1
