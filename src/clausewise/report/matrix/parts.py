"""What every rendering of a matrix shows: sections by area, tallies, evidence worth showing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from clausewise import registry
from clausewise.core.matrix import Evidence, EvidenceKind, Matrix, Row, RowVerdict, Source
from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import SEVERITY_ORDER, Level, Outcome, Revision
from clausewise.report.subjects import Group

OPEN = (
    RowVerdict.NON_CONFORMANT,
    RowVerdict.PARTLY,
    RowVerdict.DEVIATION,
)
"""The verdicts whose rows a reader has to see first, worst first."""

_SILENT = frozenset({Outcome.NOT_OBSERVED, Outcome.NOT_APPLICABLE, Outcome.EXCLUDED})

COLUMNS: Mapping[str, tuple[Level, ...]] = {
    "MUST": (Level.MUST, Level.MUST_NOT),
    "SHOULD": (Level.SHOULD, Level.SHOULD_NOT),
    "MAY": (Level.MAY,),
}
"""The columns of a tally; a column without rows is left out."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rows of one revision have each verdict, by level; the last column is all."""

    revision: Revision
    columns: tuple[str, ...]
    lines: tuple[tuple[RowVerdict, tuple[int, ...]], ...]
    sums: tuple[int, ...]


def tallies(matrix: Matrix) -> list[Tally]:
    """A tally for each revision that has rows."""
    found = (_tally(revision, matrix.rows) for revision in matrix.revisions)
    return [tally for tally in found if tally.sums[-1]]


def _tally(revision: Revision, rows: Iterable[Row]) -> Tally:
    of_revision = [row for row in rows if row.revision is revision]
    columns = {
        name: Counter(row.verdict for row in of_revision if row.level in levels)
        for name, levels in COLUMNS.items()
    }
    columns = {name: numbers for name, numbers in columns.items() if numbers}
    whole = Counter(row.verdict for row in of_revision)
    counted = (*columns.values(), whole)
    lines = tuple(
        (verdict, tuple(numbers[verdict] for numbers in counted))
        for verdict in RowVerdict
        if whole[verdict]
    )
    return Tally(revision, tuple(columns), lines, tuple(n.total() for n in counted))


def sections(rows: Iterable[Row]) -> Mapping[Group, list[Row]]:
    """Rows by area, in their order."""
    found: dict[Group, list[Row]] = {}
    for row in rows:
        found.setdefault(Group(row.kind, row.revision, row.area), []).append(row)
    return found


def open_rows(matrix: Matrix) -> list[Row]:
    """The rows with one of the OPEN verdicts, in that order."""
    rows = [row for row in matrix.rows if row.verdict in OPEN]
    return sorted(rows, key=lambda row: OPEN.index(row.verdict))


def shown(row: Row) -> Sequence[Evidence]:
    """The evidence of a row that says something; where none does, why it does not apply."""
    telling = [item for item in row.evidence if item.outcome not in _SILENT]
    if telling or row.verdict is not RowVerdict.NOT_APPLICABLE:
        return telling
    return [item for item in row.evidence if item.outcome is Outcome.NOT_APPLICABLE][:1]


def title(row: Row) -> str:
    """The sentence of a clause, the title of a rule; empty where the registry lacks it."""
    if row.kind is SubjectKind.RULE:
        rule = registry.rules().get(row.id)
        return rule.title if rule else ""
    clause = registry.clauses(row.revision).get(row.id)
    return clause.statement if clause else ""


def remarks(row: Row) -> list[str]:
    """What is said beside the evidence: the declared reason, notes, why only a test can tell."""
    said = [*([row.reason] if row.reason else []), *row.notes]
    if row.verdict is RowVerdict.UNPROVEN and row.excluded:
        said.append(f"a recording cannot show it: {row.excluded}")
    return said


def counted(source: Source) -> str:
    """`62 pass, 10 fail` in the order of severity, passes first."""
    order = (Outcome.PASS, *(o for o in SEVERITY_ORDER if o is not Outcome.PASS))
    told = [f"{source.counts[o]} {o}" for o in order if source.counts.get(o)]
    return ", ".join(told) or "nothing"


COUNTED: Mapping[EvidenceKind, str] = {
    EvidenceKind.TEST: "runs of tagged tests",
    EvidenceKind.OFFICIAL: "checks of the official suite",
    EvidenceKind.PROBE: "clauses and rules probed",
    EvidenceKind.REPLAY: "clauses judged",
}
"""What the counts of a source count."""
