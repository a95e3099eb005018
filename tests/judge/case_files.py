"""The files in `tests/cases`, and what each shows of its check."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clausewise.core.vocabulary import Outcome, Revision
from clausewise.judge.engine import judge
from clausewise.judge.registration import checks
from clausewise.registry import clauses
from tests.judge.notation import Case, read_cases

FOLDER = Path(__file__).resolve().parent.parent / "cases"
FILES = sorted(FOLDER.glob("*/*.md"))
FIELD = "field"
"""The folder of cases from the field, which belong to no single check."""


@dataclass
class Shown:
    """How many cases of a check's own file break it, and how many keep it."""

    breaking: int = 0
    holding: int = 0


def is_field(path: Path) -> bool:
    """Whether the file belongs to no single check."""
    return path.parent.name == FIELD


def check_name(path: Path) -> str:
    """The check that a file belongs to: `area.slug`."""
    return f"{path.parent.name}.{path.stem}"


@cache
def shown_by_case_files() -> Mapping[str, Shown]:
    """What each check's own case file shows, for all checks by name."""
    shown = {name: Shown() for name in checks()}
    for path in FILES:
        name = check_name(path)
        if name in shown:
            for case in read_cases(path):
                _count(case, name, shown[name])
    return shown


def _count(case: Case, name: str, shown: Shown) -> None:
    judged = judge(case.events, trace="case").verdicts
    mine = [v for v in judged if name in clauses(Revision.LEGACY)[v.id].checks]
    if any(finding.check == name for verdict in mine for finding in verdict.findings):
        shown.breaking += 1
    elif any(verdict.outcome is Outcome.PASS and verdict.occasions for verdict in mine):
        shown.holding += 1
