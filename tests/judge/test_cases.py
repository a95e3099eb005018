"""Every case in `tests/cases`, judged with all checks on, gives exactly its marked findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from clausewise.core.vocabulary import Outcome
from clausewise.judge.engine import JudgeResult, judge
from clausewise.judge.registration import checks
from tests.judge.case_files import FILES, check_name, is_field, shown_by_case_files
from tests.judge.notation import Case, Mark, read_cases

CASES = [(path, case) for path in FILES for case in read_cases(path)]


def _judged(case: Case) -> JudgeResult:
    return judge(case.events, trace="case")


def _found(result: JudgeResult) -> list[Mark]:
    return sorted(
        Mark(finding.at.seq if finding.at else -1, verdict.id, finding.severity, finding.party)
        for verdict in result.verdicts
        for finding in verdict.findings
    )


@pytest.mark.parametrize(
    ("path", "case"), CASES, ids=[f"{check_name(p)}: {c.title}" for p, c in CASES]
)
def test_a_case_gives_exactly_its_marked_findings(path: Path, case: Case) -> None:
    result = _judged(case)
    assert _found(result) == sorted(case.marks)
    outcomes = {verdict.id: verdict.outcome for verdict in result.verdicts}
    assert {clause: outcomes[clause] for clause in case.outcomes} == case.outcomes
    assert Outcome.CRASHED not in outcomes.values()


@pytest.mark.parametrize("name", list(checks()))
def test_each_check_has_a_case_that_breaks_and_one_that_holds(name: str) -> None:
    shown = shown_by_case_files()[name]
    assert shown.breaking and shown.holding


def test_each_case_file_names_a_check() -> None:
    assert [p for p in FILES if not is_field(p) and check_name(p) not in checks()] == []
