"""`python -m tests.judge.list_cases`: each check with its cases that break it and that keep it."""

from __future__ import annotations

from clausewise.core.vocabulary import Revision
from clausewise.judge.registration import checks
from clausewise.registry import clauses
from tests.judge.case_files import FILES, is_field, shown_by_case_files
from tests.judge.notation import read_cases


def table() -> list[str]:
    """A line a check: its name, clauses, and the numbers of its breaking and keeping cases."""
    judged_by: dict[str, list[str]] = {name: [] for name in checks()}
    for clause in clauses(Revision.LEGACY).values():
        for name in clause.checks:
            judged_by[name].append(clause.id)
    lines = [_line("check", "clauses", "break", "keep")]
    for name, shown in shown_by_case_files().items():
        numbers = str(shown.breaking), str(shown.holding)
        lines.append(_line(name, " ".join(judged_by[name]), *numbers))
    field = sum(len(list(read_cases(path))) for path in FILES if is_field(path))
    return [*lines, "", f"{len(judged_by)} checks; {field} further cases from the field"]


def _line(name: str, of: str, breaking: str, holding: str) -> str:
    return f"{name:<46} {of:<28} {breaking:>5} {holding:>5}"


if __name__ == "__main__":
    print("\n".join(table()))
