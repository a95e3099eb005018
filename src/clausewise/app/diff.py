"""Use case `diff`: two stored results or two matrices in, what broke and what was fixed out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from clausewise.app.baseline import entry_of
from clausewise.core.comparison import Comparison, Figure, Row, Standing, Subject, compare
from clausewise.core.errors import NothingJudgedError, UsageError
from clausewise.core.matrix import EvidenceKind, Matrix, RowVerdict, tally
from clausewise.core.matrix import Row as MatrixRow
from clausewise.core.results import RunResult, Verdict
from clausewise.core.vocabulary import SEVERITY_ORDER, Outcome
from clausewise.report.matrix.json import MATRIX_SCHEMA
from clausewise.report.matrix.json import load as load_matrix
from clausewise.report.stored import load as load_result
from clausewise.wire.jsontext import JsonTextError, decode

_OUTCOMES = {
    Outcome.PASS: Standing.KEPT,
    Outcome.INFO: Standing.KEPT,
    Outcome.FAIL: Standing.BROKEN,
    Outcome.WARN: Standing.BROKEN,
}
_UNDECIDED = (Outcome.INCONCLUSIVE, Outcome.NOT_OBSERVED, Outcome.CRASHED)
_VERDICTS = {
    RowVerdict.CONFORMANT: (Standing.KEPT, 0),
    RowVerdict.PARTLY: (Standing.KEPT, 1),
    RowVerdict.DEVIATION: (Standing.BROKEN, 0),
    RowVerdict.NON_CONFORMANT: (Standing.BROKEN, 1),
}
_BROKEN = (Outcome.FAIL, Outcome.WARN)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two, ready to be compared.

    Attributes:
        kind: `result` or `matrix`; only like can be compared with like.
        figures: labels with values; sides of one kind have the same labels.
    """

    kind: str
    name: str
    rows: tuple[Row, ...]
    figures: tuple[tuple[str, str], ...]


def run(old: tuple[str, bytes], new: tuple[str, bytes]) -> Comparison:
    """Compare two stored documents, each with the name to call it by.

    Raises:
        UsageError: one is no stored result or matrix, or the two are of different kinds.
        NothingJudgedError: they have no clause or rule in common.
    """
    before, after = _side(*old), _side(*new)
    if before.kind != after.kind:
        raise UsageError(
            f"{before.name} is a {before.kind}, {after.name} a {after.kind}",
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
    if _schema_of(text) == MATRIX_SCHEMA:
        matrix = load_matrix(text, name)
        rows = tuple(_matrix_row(row) for row in matrix.rows)
        return Side("matrix", name, rows, tuple(_matrix_figures(matrix)))
    result = load_result(text, name)
    rows = tuple(_result_row(verdict) for verdict in result.verdicts)
    return Side("result", name, rows, tuple(_result_figures(result)))


def _schema_of(text: bytes) -> object:
    """The schema that a document names; None where it cannot be told."""
    try:
        record = decode(text)
    except JsonTextError:
        return None
    return record.get("schema") if isinstance(record, dict) else None


def _result_row(verdict: Verdict) -> Row:
    """A verdict of a run; its faults are told apart as a baseline tells them."""
    standing = _OUTCOMES.get(verdict.outcome, Standing.OPEN)
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


def _result_figures(result: RunResult) -> Iterator[tuple[str, str]]:
    numbers = Counter(verdict.outcome for verdict in result.verdicts)
    kept = numbers[Outcome.PASS] + numbers[Outcome.INFO]
    broken = numbers[Outcome.FAIL] + numbers[Outcome.WARN]
    yield "judged", f"{kept} kept, {broken} broken"
    yield "broken MUST", str(numbers[Outcome.FAIL])
    yield "broken SHOULD", str(numbers[Outcome.WARN])
    yield "not decided", str(sum(numbers[outcome] for outcome in _UNDECIDED))


def _matrix_row(row: MatrixRow) -> Row:
    """A row of a matrix; its faults are the evidence that shows it broken."""
    standing, weight = _VERDICTS.get(row.verdict, (Standing.OPEN, 0))
    faults = frozenset(
        f"{evidence.kind} {evidence.pointer}"
        for evidence in row.evidence
        if standing is Standing.BROKEN and evidence.outcome in _BROKEN
    )
    subject = Subject(row.kind.value, row.revision.value, row.id)
    return Row(subject, row.level.value, row.verdict.value, standing, weight, faults)


def _matrix_figures(matrix: Matrix) -> Iterator[tuple[str, str]]:
    """The lines of the account: checks, failures that break the specification, rows."""
    for kind in EvidenceKind:
        counts: Counter[Outcome] = Counter()
        for source in matrix.sources:
            if source.kind is kind:
                counts.update(source.counts)
        broken = sum(counts[outcome] for outcome in _BROKEN)
        yield _SOURCES[kind], f"{counts[Outcome.PASS]} passed, {broken} failed"
    yield "official failures that break the specification", str(_official_breaches(matrix))
    rows = tally(matrix.rows)
    deliberate = rows[RowVerdict.DEVIATION]
    broken = rows[RowVerdict.NON_CONFORMANT]
    yield "non-conformant rows", f"{broken + deliberate} ({deliberate} deliberate)"
    for verdict in (RowVerdict.PARTLY, RowVerdict.CONFORMANT, RowVerdict.UNPROVEN):
        yield f"{verdict} rows", str(rows[verdict])


_SOURCES = {
    EvidenceKind.TEST: "tests",
    EvidenceKind.OFFICIAL: "checks of the official suite",
    EvidenceKind.PROBE: "clauses and rules probed",
    EvidenceKind.REPLAY: "clauses replayed",
}


def _official_breaches(matrix: Matrix) -> int:
    """How many failed checks of the official suite are evidence of a row that is broken."""
    return len(
        {
            evidence.pointer
            for row in matrix.rows
            if row.verdict is RowVerdict.NON_CONFORMANT
            for evidence in row.evidence
            if evidence.kind is EvidenceKind.OFFICIAL and evidence.outcome in _BROKEN
        }
    )
