"""Use case `diff`: two stored results in, what broke and what was fixed out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from clausewise.app.baseline import entry_of
from clausewise.core.comparison import Comparison, Figure, Row, Standing, Subject, compare
from clausewise.core.errors import NothingJudgedError, UsageError
from clausewise.core.results import RunResult, Verdict
from clausewise.core.vocabulary import SEVERITY_ORDER, Outcome
from clausewise.report.stored import load

_STANDINGS = {
    Outcome.PASS: Standing.KEPT,
    Outcome.INFO: Standing.KEPT,
    Outcome.FAIL: Standing.BROKEN,
    Outcome.WARN: Standing.BROKEN,
}
_UNDECIDED = (Outcome.INCONCLUSIVE, Outcome.NOT_OBSERVED, Outcome.CRASHED)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two, ready to be compared.

    Attributes:
        schema: what it was stored as; only like can be compared with like.
        figures: labels with values; sides of one schema have the same labels.
    """

    schema: str
    name: str
    rows: tuple[Row, ...]
    figures: tuple[tuple[str, str], ...]


def run(old: tuple[str, bytes], new: tuple[str, bytes]) -> Comparison:
    """Compare two stored documents, each with the name to call it by.

    Raises:
        UsageError: one is no stored result, or the two are of different kinds.
        NothingJudgedError: they have no clause or rule in common.
    """
    before, after = _side(*old), _side(*new)
    if before.schema != after.schema:
        raise UsageError(
            f"{before.name} is a {before.schema}, {after.name} a {after.schema}",
            "Give two of the same kind.",
        )
    figures = tuple(
        Figure(label, was, now)
        for (label, was), (_, now) in zip(before.figures, after.figures, strict=True)
    )
    comparison = compare((before.name, after.name), before.rows, after.rows, figures)
    if not comparison.shared:
        raise NothingJudgedError(
            f"{before.name} and {after.name} have no clause or rule in common",
            "Run the same command, with the same --revision and --select, before and after.",
        )
    return comparison


def _side(name: str, text: bytes) -> Side:
    result = load(text, name)
    return Side(
        "result",
        name,
        tuple(row_of(verdict) for verdict in result.verdicts),
        tuple(_figures(result)),
    )


def row_of(verdict: Verdict) -> Row:
    """A verdict of a run as a row; its faults are told apart as a baseline tells them."""
    standing = _STANDINGS.get(verdict.outcome, Standing.OPEN)
    return Row(
        subject=Subject(verdict.kind.value, verdict.revision.value, verdict.id),
        level=verdict.level.value,
        word=verdict.outcome.value,
        standing=standing,
        weight=-SEVERITY_ORDER.index(verdict.outcome) if standing is Standing.BROKEN else 0,
        faults=frozenset(
            f"{entry.check}: {entry.message}"
            for entry in (entry_of(verdict, finding) for finding in verdict.findings)
        ),
    )


def _figures(result: RunResult) -> Iterator[tuple[str, str]]:
    numbers = Counter(verdict.outcome for verdict in result.verdicts)
    kept = numbers[Outcome.PASS] + numbers[Outcome.INFO]
    broken = numbers[Outcome.FAIL] + numbers[Outcome.WARN]
    yield "judged", f"{kept} kept, {broken} broken"
    yield "broken MUST", str(numbers[Outcome.FAIL])
    yield "broken SHOULD", str(numbers[Outcome.WARN])
    yield "not decided", str(sum(numbers[outcome] for outcome in _UNDECIDED))
