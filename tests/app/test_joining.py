"""What the recording shows of a clause and what probes decided become one verdict."""

from __future__ import annotations

import dataclasses

from clausewise.app.joining import joined, told_once
from clausewise.core.results import Finding, Place, SubjectKind, Verdict
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from clausewise.probe.clause_experiments import ClauseVerdict

LEGACY = Revision.LEGACY


def of(
    outcome: Outcome, *findings: Finding, occasions: int = 0, reason: str | None = None
) -> Verdict:
    kind = SubjectKind.CLAUSE
    return Verdict(kind, "X-1", LEGACY, Level.MUST, outcome, occasions, reason, findings)


def finding(check: str, seq: int, reproduce: str | None = None, message: str = "wrong") -> Finding:
    at = Place("check", seq)
    return Finding(
        check, Party.SERVER, Outcome.FAIL, message, "a", "b", at, "https://x", "mend", reproduce
    )


def joined_with(judged: Verdict, *probed: Verdict) -> Verdict:
    (one,) = joined([judged], [ClauseVerdict(f"x.probe-{n}", v) for n, v in enumerate(probed)])
    return one


def test_a_clause_without_a_probe_stays_as_it_is() -> None:
    judged = of(Outcome.EXCLUDED, reason="no recording shows it")
    other = ClauseVerdict("x.probe", dataclasses.replace(of(Outcome.FAIL), id="X-2"))
    assert joined([judged], [other]) == [judged]


def test_an_excluded_clause_is_what_its_probe_says() -> None:
    judged = of(Outcome.EXCLUDED, reason="no recording shows it")
    for outcome in (Outcome.PASS, Outcome.NOT_OBSERVED, Outcome.NOT_APPLICABLE):
        one = joined_with(judged, of(outcome, reason="said the probe"))
        assert (one.outcome, one.reason) == (outcome, "said the probe")


def test_the_worst_wins_and_occasions_add_up() -> None:
    broken = finding("x.probe", 3)
    one = joined_with(of(Outcome.PASS, occasions=4), of(Outcome.FAIL, broken, occasions=2))
    assert (one.outcome, one.occasions, one.findings) == (Outcome.FAIL, 6, (broken,))


def test_what_is_kept_on_the_recording_is_not_undone_by_a_probe_that_saw_nothing() -> None:
    one = joined_with(of(Outcome.PASS, occasions=4), of(Outcome.NOT_OBSERVED, reason="no tool"))
    assert (one.outcome, one.occasions, one.reason) == (Outcome.PASS, 4, None)


def test_two_reasons_for_the_same_outcome_are_both_told_and_equal_ones_once() -> None:
    judged = of(Outcome.NOT_OBSERVED, reason="no cancelled request")
    one = joined_with(judged, of(Outcome.NOT_OBSERVED, reason="no slow tool"))
    assert one.reason == "no cancelled request; no slow tool"
    assert joined_with(judged, judged).reason == "no cancelled request"


def test_what_was_decided_beside_an_inconclusive_probe_is_told() -> None:
    blocked = of(Outcome.INCONCLUSIVE, reason="HTTP 429")
    one = joined_with(of(Outcome.PASS, occasions=3), blocked)
    assert (one.outcome, one.reason) == (
        Outcome.INCONCLUSIVE,
        "HTTP 429; decided 3 times otherwise",
    )


def test_one_fault_at_one_event_is_one_finding_that_can_be_reproduced() -> None:
    judged = of(Outcome.FAIL, finding("x.check", 7), finding("x.check", 9))
    one = joined_with(judged, of(Outcome.FAIL, finding("x.probe", 7, "curl …")))
    assert [(f.check, f.reproduce) for f in one.findings] == [
        ("x.check", "curl …"),
        ("x.check", None),
    ]


def test_a_fault_that_shows_in_every_session_is_told_of_the_first() -> None:
    sessions = {1: "a", 2: "a", 3: "b", 4: "b"}
    findings = [finding("x.check", seq) for seq in sessions]
    (one,) = told_once([of(Outcome.FAIL, *findings, occasions=4)], sessions)
    assert [f.at.seq for f in one.findings if f.at] == [1, 2]
    assert one.occasions == 4


def test_another_fault_of_a_later_session_is_told_too() -> None:
    sessions = {1: "a", 2: "b"}
    findings = (finding("x.check", 1), finding("x.check", 2, message="wrong otherwise"))
    (one,) = told_once([of(Outcome.FAIL, *findings)], sessions)
    assert one.findings == findings
