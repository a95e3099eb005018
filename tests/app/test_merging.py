"""Verdicts of several traces become one each."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from clausewise.app.merging import Merging
from clausewise.core.results import SubjectKind, Verdict, worst
from clausewise.core.vocabulary import Level, Outcome, Revision


def merged(*parts: tuple[str, Verdict]) -> list[Verdict]:
    merging = Merging()
    for trace, verdict in parts:
        merging.add(trace, [verdict])
    return merging.verdicts()


def of(outcome: Outcome, reason: str | None = None, occasions: int = 0) -> Verdict:
    return Verdict(
        SubjectKind.CLAUSE, "X-1", Revision.LEGACY, Level.MUST, outcome, occasions, reason
    )


def test_the_worst_outcome_wins_with_its_reason_and_all_findings(
    verdict: Callable[..., Verdict], finding: Callable[..., object]
) -> None:
    broken, other = finding("one"), finding("two")
    unseen = verdict("X-2", Outcome.NOT_OBSERVED)
    first, second = merged(
        ("a", verdict("X-1", Outcome.PASS)),
        ("a", unseen),
        ("b", verdict("X-1", Outcome.FAIL, broken)),
        ("c", verdict("X-1", Outcome.FAIL, other)),
    )
    assert (first.id, first.outcome, first.occasions) == ("X-1", Outcome.FAIL, 3)
    assert first.findings == (broken, other)
    assert second == unseen


def test_the_same_id_in_two_revisions_stays_two_verdicts(
    verdict: Callable[..., Verdict],
) -> None:
    parts = [verdict("X-1", Outcome.PASS, revision=revision) for revision in Revision]
    assert merged(*(("a", part) for part in parts)) == parts


def test_a_reason_that_every_trace_gives_stays_as_it_is() -> None:
    (one,) = merged(*((name, of(Outcome.NOT_OBSERVED, "no ping")) for name in "ab"))
    assert one.reason == "no ping"


def test_a_reason_that_some_traces_give_names_them() -> None:
    (one,) = merged(
        ("a", of(Outcome.NOT_APPLICABLE, "tools is not declared")),
        ("b", of(Outcome.NOT_OBSERVED, "no tools/list")),
    )
    assert (one.outcome, one.reason) == (Outcome.NOT_OBSERVED, "no tools/list (b)")


def test_an_inconclusive_trace_beside_a_decided_one_tells_both() -> None:
    (one,) = merged(
        ("a", of(Outcome.PASS, occasions=4)), ("b", of(Outcome.INCONCLUSIVE, "crossed"))
    )
    assert one.outcome is Outcome.INCONCLUSIVE
    assert one.reason == "b: crossed; decided 4 times in other traces"


def test_many_traces_and_reasons_stay_readable() -> None:
    parts = [(f"t{i}", of(Outcome.INCONCLUSIVE, f"why {i % 5}")) for i in range(50)]
    (one,) = merged(*parts)
    assert one.reason is not None
    assert "t0, t5, t10 and 7 more: why 0" in one.reason
    assert one.reason.endswith("and 2 more reasons")


@given(st.lists(st.sampled_from(list(Outcome)), min_size=1))
def test_no_trace_makes_another_better(outcomes: list[Outcome]) -> None:
    parts = [of(outcome, f"why {outcome}", occasions=1) for outcome in outcomes]
    (one,) = merged(*(("t", dataclasses.replace(part)) for part in parts))
    assert one.outcome is worst(outcomes)
    assert one.occasions == len(outcomes)
