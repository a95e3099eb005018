"""Verdicts of several traces become one each."""

from __future__ import annotations

from collections.abc import Callable

from clausewise.app.merging import merged
from clausewise.core.results import Finding, Verdict
from clausewise.core.vocabulary import Outcome, Revision


def test_the_worst_outcome_wins_with_its_reason_and_all_findings(
    verdict: Callable[..., Verdict], finding: Callable[..., Finding]
) -> None:
    broken, other = finding("one"), finding("two")
    parts = [
        verdict("X-1", Outcome.PASS),
        verdict("X-2", Outcome.NOT_OBSERVED),
        verdict("X-1", Outcome.FAIL, broken),
        verdict("X-1", Outcome.FAIL, other),
    ]
    first, second = merged(parts)
    assert (first.id, first.outcome, first.occasions) == ("X-1", Outcome.FAIL, 3)
    assert first.findings == (broken, other)
    assert second == parts[1]


def test_the_same_id_in_two_revisions_stays_two_verdicts(
    verdict: Callable[..., Verdict],
) -> None:
    parts = [verdict("X-1", Outcome.PASS, revision=revision) for revision in Revision]
    assert merged(parts) == parts
