"""A matrix beside the recorded one: what fell, what was lost."""

from __future__ import annotations

import dataclasses
from itertools import product

import pytest

from clausewise.core.matrix import (
    Evidence,
    EvidenceKind,
    Matrix,
    Problem,
    ProblemKind,
    Row,
    RowVerdict,
)
from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from clausewise.matrix.ratchet import Fall, LostTag, falls, lost_tags, to_record

V = RowVerdict


def row(id_: str, verdict: RowVerdict, *tests: tuple[str, str, int]) -> Row:
    evidence = tuple(
        Evidence(EvidenceKind.TEST, Outcome.PASS, f"{path}:{line}", path, line, test)
        for path, test, line in tests
    )
    return Row(
        SubjectKind.CLAUSE,
        id_,
        Revision.LEGACY,
        Level.MUST,
        "https://x",
        verdict,
        evidence=evidence,
    )


def matrix(*rows: Row) -> Matrix:
    return Matrix("m", Party.SERVER, (Revision.LEGACY,), rows)


FALLS = {
    (V.CONFORMANT, V.PARTLY),
    (V.CONFORMANT, V.DEVIATION),
    (V.CONFORMANT, V.NOT_IMPLEMENTED),
    (V.CONFORMANT, V.UNPROVEN),
    (V.CONFORMANT, V.NON_CONFORMANT),
    (V.NOT_APPLICABLE, V.PARTLY),
    (V.NOT_APPLICABLE, V.DEVIATION),
    (V.NOT_APPLICABLE, V.NOT_IMPLEMENTED),
    (V.NOT_APPLICABLE, V.UNPROVEN),
    (V.NOT_APPLICABLE, V.NON_CONFORMANT),
    (V.PARTLY, V.DEVIATION),
    (V.PARTLY, V.NOT_IMPLEMENTED),
    (V.PARTLY, V.UNPROVEN),
    (V.PARTLY, V.NON_CONFORMANT),
    (V.NOT_IMPLEMENTED, V.UNPROVEN),
    (V.NOT_IMPLEMENTED, V.NON_CONFORMANT),
    (V.DEVIATION, V.UNPROVEN),
    (V.DEVIATION, V.NON_CONFORMANT),
    (V.UNPROVEN, V.NON_CONFORMANT),
}


@pytest.mark.parametrize(("was", "now"), list(product(RowVerdict, RowVerdict)))
def test_which_changes_are_falls(was: RowVerdict, now: RowVerdict) -> None:
    found = list(falls(matrix(row("BASE-003", was)), matrix(row("BASE-003", now))))
    assert found == ([Fall("BASE-003", was, now)] if (was, now) in FALLS else [])


def test_a_proven_row_that_is_gone_fell() -> None:
    recorded = matrix(row("BASE-001", V.CONFORMANT), row("BASE-002", V.UNPROVEN))
    assert list(falls(recorded, matrix())) == [Fall("BASE-001", V.CONFORMANT, None)]


def test_what_is_no_longer_audited_did_not_fall() -> None:
    recorded = matrix(row("BASE-001", V.CONFORMANT))
    of_other = dataclasses.replace(matrix(), revisions=(Revision.MODERN,))
    assert list(falls(recorded, of_other)) == []
    assert list(falls(recorded, dataclasses.replace(matrix(), party=Party.CLIENT))) == []


def test_a_test_that_moved_is_not_lost_and_one_that_is_gone_is() -> None:
    recorded = matrix(row("BASE-003", V.CONFORMANT, ("a.py", "test_a", 3), ("b.py", "test_b", 9)))
    now = matrix(row("BASE-003", V.CONFORMANT, ("a.py", "test_a", 30), ("c.py", "test_b", 9)))
    assert list(lost_tags(recorded, now)) == [LostTag("BASE-003", "b.py:9", "test_b")]
    assert len(list(lost_tags(recorded, matrix()))) == 2


def test_runs_without_a_tag_are_not_recorded() -> None:
    problems = (
        Problem(ProblemKind.RUN_WITHOUT_TAG, "j.xml", "9 runs"),
        Problem(ProblemKind.UNKNOWN_ID, "a.py:1", "no such"),
    )
    recorded = to_record(dataclasses.replace(matrix(), problems=problems))
    assert recorded.problems == problems[1:]


def test_evidence_without_an_occasion_is_not_recorded() -> None:
    silent = Evidence(EvidenceKind.PROBE, Outcome.NOT_OBSERVED, "c", "c", None, "no occasion")
    telling = dataclasses.replace(silent, outcome=Outcome.INCONCLUSIVE)
    whole = dataclasses.replace(row("BASE-003", V.UNPROVEN), evidence=(telling, silent))
    assert to_record(matrix(whole)).rows[0].evidence == (telling,)
