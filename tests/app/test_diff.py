"""Two stored results compared: every change of a clause or rule, and what counts as a setback."""

from __future__ import annotations

from itertools import product

import pytest

from clausewise.app.diff import run
from clausewise.core.comparison import Change, Comparison
from clausewise.core.errors import NothingJudgedError, UsageError
from clausewise.core.matrix import Evidence, EvidenceKind, Matrix, RowVerdict, Source
from clausewise.core.matrix import Row as MatrixRow
from clausewise.core.results import Finding, RunResult, SubjectKind, Target, Verdict
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from clausewise.report.json import render
from clausewise.report.matrix.json import render as render_matrix

KEPT = (Outcome.PASS, Outcome.INFO)
BROKEN = (Outcome.FAIL, Outcome.WARN)
OPEN = tuple(outcome for outcome in Outcome if not outcome.is_judgement)


def verdict(outcome: Outcome, *messages: str, id_: str = "BASE-001") -> Verdict:
    severity = outcome if outcome in (*BROKEN, Outcome.INFO) else Outcome.FAIL
    told = messages or (("it broke",) if outcome in (*BROKEN, Outcome.INFO) else ())
    findings = tuple(
        Finding("base.check", Party.SERVER, severity, message, "", "", None, "", "")
        for message in told
    )
    return Verdict(SubjectKind.CLAUSE, id_, Revision.LEGACY, Level.MUST, outcome, 1, None, findings)


def stored(*verdicts: Verdict) -> bytes:
    result = RunResult("check", Target("stdio", "server"), None, (Revision.LEGACY,), verdicts)
    return render(result).encode()


def compared(old: tuple[Verdict, ...], new: tuple[Verdict, ...]) -> Comparison:
    return run(("old.json", stored(*old)), ("new.json", stored(*new)))


def change(old: Verdict, new: Verdict) -> Change | None:
    differences = compared((old,), (new,)).differences
    return differences[0].change if differences else None


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (KEPT, BROKEN, Change.BROKE),
        (OPEN, BROKEN, Change.NEWLY_BROKEN),
        (BROKEN, KEPT, Change.FIXED),
        (OPEN, KEPT, Change.NEWLY_KEPT),
        (KEPT, OPEN, Change.LOST),
        (BROKEN, OPEN, Change.LOST),
    ],
)
def test_a_change_is_named_by_what_the_outcome_was_and_is(
    before: tuple[Outcome, ...], after: tuple[Outcome, ...], expected: Change
) -> None:
    for old, new in product(before, after):
        assert change(verdict(old), verdict(new)) is expected, (old, new)


def test_an_unchanged_outcome_is_no_difference() -> None:
    for outcome in Outcome:
        assert change(verdict(outcome), verdict(outcome)) is None, outcome


def test_a_harsher_outcome_of_a_broken_clause_is_worse_and_a_milder_one_better() -> None:
    assert change(verdict(Outcome.WARN), verdict(Outcome.FAIL)) is Change.WORSE
    assert change(verdict(Outcome.FAIL), verdict(Outcome.WARN)) is Change.BETTER


def test_a_further_fault_makes_a_broken_clause_worse_even_when_another_is_gone() -> None:
    one, other = verdict(Outcome.FAIL, "one"), verdict(Outcome.FAIL, "other")
    both = verdict(Outcome.FAIL, "one", "other")
    assert change(one, both) is Change.WORSE
    assert change(one, other) is Change.WORSE
    assert change(both, one) is Change.BETTER


def test_a_message_that_differs_only_by_its_numbers_is_the_same_fault() -> None:
    assert change(verdict(Outcome.FAIL, "id 7"), verdict(Outcome.FAIL, "id 1203")) is None


def test_another_open_outcome_is_different_and_no_setback() -> None:
    different = compared((verdict(Outcome.NOT_OBSERVED),), (verdict(Outcome.NOT_APPLICABLE),))
    assert different.differences[0].change is Change.DIFFERENT
    assert different.setbacks == ()


def test_only_what_is_broken_and_was_not_known_to_be_is_a_setback() -> None:
    setbacks = {each for each in Change if each.is_setback}
    assert setbacks == {Change.BROKE, Change.WORSE, Change.NEWLY_BROKEN}


def test_a_clause_that_one_side_lacks_counts_as_open_there() -> None:
    shared = verdict(Outcome.PASS)
    added = verdict(Outcome.FAIL, id_="BASE-002")
    assert compared((shared,), (shared, added)).differences[0].change is Change.NEWLY_BROKEN
    assert compared((shared, added), (shared,)).differences[0].change is Change.LOST


def test_setbacks_come_first() -> None:
    old = [verdict(Outcome.FAIL, id_="BASE-001"), verdict(Outcome.PASS, id_="BASE-002")]
    new = [verdict(Outcome.PASS, id_="BASE-001"), verdict(Outcome.FAIL, id_="BASE-002")]
    differences = compared(tuple(old), tuple(new)).differences
    assert [each.change for each in differences] == [Change.BROKE, Change.FIXED]


def test_the_figures_count_both_sides() -> None:
    old = [verdict(Outcome.FAIL, id_="BASE-001"), verdict(Outcome.WARN, id_="BASE-002")]
    new = [verdict(Outcome.PASS, id_="BASE-001"), verdict(Outcome.INCONCLUSIVE, id_="BASE-002")]
    figures = compared(tuple(old), tuple(new)).figures
    assert [(figure.label, figure.old, figure.new) for figure in figures] == [
        ("judged", "0 kept, 2 broken", "1 kept, 0 broken"),
        ("broken MUST", "1", "0"),
        ("broken SHOULD", "1", "0"),
        ("not decided", "0", "1"),
    ]


def test_results_without_a_common_clause_cannot_be_compared() -> None:
    with pytest.raises(NothingJudgedError, match=r"old.json and new.json have no clause"):
        compared((verdict(Outcome.PASS),), (verdict(Outcome.PASS, id_="BASE-002"),))


def test_a_document_that_is_no_result_is_named() -> None:
    with pytest.raises(UsageError, match=r"new.json is no JSON"):
        run(("old.json", stored(verdict(Outcome.PASS))), ("new.json", b"{"))


def row(verdict_: RowVerdict, *evidence: Evidence, id_: str = "BASE-001") -> MatrixRow:
    return MatrixRow(
        SubjectKind.CLAUSE, id_, Revision.LEGACY, Level.MUST, "", verdict_, evidence=evidence
    )


def matrix(*rows: MatrixRow, sources: tuple[Source, ...] = ()) -> bytes:
    whole = Matrix("project", Party.SERVER, (Revision.LEGACY,), rows, sources)
    return render_matrix(whole).encode()


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (RowVerdict.CONFORMANT, RowVerdict.NON_CONFORMANT, Change.BROKE),
        (RowVerdict.CONFORMANT, RowVerdict.DEVIATION, Change.BROKE),
        (RowVerdict.CONFORMANT, RowVerdict.PARTLY, Change.WORSE),
        (RowVerdict.CONFORMANT, RowVerdict.UNPROVEN, Change.LOST),
        (RowVerdict.PARTLY, RowVerdict.CONFORMANT, Change.BETTER),
        (RowVerdict.NON_CONFORMANT, RowVerdict.DEVIATION, Change.BETTER),
        (RowVerdict.NON_CONFORMANT, RowVerdict.PARTLY, Change.FIXED),
        (RowVerdict.UNPROVEN, RowVerdict.NON_CONFORMANT, Change.NEWLY_BROKEN),
        (RowVerdict.UNPROVEN, RowVerdict.CONFORMANT, Change.NEWLY_KEPT),
        (RowVerdict.UNPROVEN, RowVerdict.NOT_IMPLEMENTED, Change.DIFFERENT),
    ],
)
def test_a_row_of_a_matrix_changes_by_its_verdict(
    before: RowVerdict, after: RowVerdict, expected: Change
) -> None:
    compared_ = run(("old", matrix(row(before))), ("new", matrix(row(after))))
    assert [each.change for each in compared_.differences] == [expected]


def test_the_figures_of_a_matrix_are_those_of_an_account() -> None:
    failed = Evidence(EvidenceKind.OFFICIAL, Outcome.FAIL, "ping/answers", "checks.json")
    counts = {Outcome.PASS: 48, Outcome.FAIL: 13}
    source = Source(EvidenceKind.OFFICIAL, "official", counts)
    old = matrix(
        row(RowVerdict.NON_CONFORMANT, failed),
        row(RowVerdict.NON_CONFORMANT, failed, id_="BASE-002"),
        row(RowVerdict.DEVIATION, failed, id_="BASE-003"),
        sources=(source,),
    )
    figures = {f.label: (f.old, f.new) for f in run(("a", old), ("b", old)).figures}
    assert figures["checks of the official suite"] == ("48 passed, 13 failed",) * 2
    assert figures["official failures that break the specification"] == ("1", "1")
    assert figures["non-conformant rows"] == ("3 (1 deliberate)",) * 2


def test_a_result_and_a_matrix_cannot_be_compared() -> None:
    with pytest.raises(UsageError, match=r"old is a result, new a matrix"):
        run(
            ("old", stored(verdict(Outcome.PASS))),
            ("new", matrix(row(RowVerdict.CONFORMANT))),
        )
