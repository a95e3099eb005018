"""Every case in `tests/cases`, judged with all checks on, gives exactly its marked findings."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from clausewise.core.vocabulary import Outcome, Revision
from clausewise.judge.engine import JudgeResult, judge
from clausewise.judge.registration import checks
from clausewise.registry import clauses
from tests.judge.notation import Case, Mark, read_cases

FOLDER = Path(__file__).resolve().parent.parent / "cases"
FILES = sorted(FOLDER.glob("*/*.md"))
CASES = [(path, case) for path in FILES for case in read_cases(path)]


def _check_name(path: Path) -> str:
    return f"{path.parent.name}.{path.stem}"


def _judged(case: Case) -> JudgeResult:
    return judge(case.events, trace="case")


def _found(result: JudgeResult) -> list[Mark]:
    return sorted(
        Mark(finding.at.seq if finding.at else -1, verdict.id, finding.severity, finding.party)
        for verdict in result.verdicts
        for finding in verdict.findings
    )


@pytest.mark.parametrize(
    ("path", "case"), CASES, ids=[f"{_check_name(p)}: {c.title}" for p, c in CASES]
)
def test_a_case_gives_exactly_its_marked_findings(path: Path, case: Case) -> None:
    result = _judged(case)
    assert _found(result) == sorted(case.marks)
    outcomes = {verdict.id: verdict.outcome for verdict in result.verdicts}
    assert {clause: outcomes[clause] for clause in case.outcomes} == case.outcomes
    assert Outcome.CRASHED not in outcomes.values()


@cache
def _shown_by_case_files() -> dict[str, set[str]]:
    """What each check's own case file shows: `breaks`, `holds`."""
    shown: dict[str, set[str]] = {}
    for path, case in CASES:
        name = _check_name(path)
        mine = [v for v in _judged(case).verdicts if name in _checks_of(v.id)]
        found = any(f.check == name for v in mine for f in v.findings)
        if found:
            shown.setdefault(name, set()).add("breaks")
        elif any(v.outcome is Outcome.PASS and v.occasions for v in mine):
            shown.setdefault(name, set()).add("holds")
    return shown


def _checks_of(clause: str) -> tuple[str, ...]:
    return clauses(Revision.LEGACY)[clause].checks


@pytest.mark.parametrize("name", list(checks()))
def test_each_check_has_a_case_that_breaks_and_one_that_holds(name: str) -> None:
    assert _shown_by_case_files().get(name, set()) == {"breaks", "holds"}


def test_each_case_file_names_a_check() -> None:
    assert [path for path in FILES if _check_name(path) not in checks()] == []
