"""Compare a matrix with the recorded one: verdicts that fell, tests that are gone."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from clausewise.core.matrix import EvidenceKind, Matrix, ProblemKind, Row, RowVerdict
from clausewise.core.vocabulary import Outcome

_NOT_RECORDED = frozenset({ProblemKind.RUN_WITHOUT_TAG})


@dataclass(frozen=True, slots=True)
class Fall:
    """A row whose verdict is worse than the recorded one; `now` is None where the row is gone."""

    id: str
    was: RowVerdict
    now: RowVerdict | None


@dataclass(frozen=True, slots=True)
class LostTag:
    """A test that the record cites for a clause and that is not cited any more."""

    id: str
    pointer: str
    test: str


def falls(recorded: Matrix, matrix: Matrix) -> Iterator[Fall]:
    """Rows that got a worse verdict by `RowVerdict.rank`, in the order of the record.

    A row that is gone fell if it was proven, unless its revision is no longer audited.
    """
    now = {row.key: row.verdict for row in matrix.rows}
    for row in recorded.rows:
        if row.revision in matrix.revisions and matrix.party is recorded.party:
            verdict = now.get(row.key)
            if row.verdict.rank < (RowVerdict.UNPROVEN if verdict is None else verdict).rank:
                yield Fall(row.id, row.verdict, verdict)


def changed_rows(recorded: Matrix, matrix: Matrix) -> Iterator[str]:
    """Ids of rows that are not as recorded, rows of one of the two among them, in order."""
    before = {row.key: row for row in recorded.rows}
    after = {row.key: row for row in matrix.rows}
    yield from (key[2] for key in {**before, **after} if before.get(key) != after.get(key))


def lost_tags(recorded: Matrix, matrix: Matrix) -> Iterator[LostTag]:
    """Tests that the record cites and `matrix` does not: the tag, its line or its file is gone.

    A test that only moved within its file is not lost.
    """
    now = {row.key: row for row in matrix.rows}
    for row in recorded.rows:
        kept = _cited(now[row.key]) if row.key in now else {}
        for (path, test), pointer in _cited(row).items():
            if (path, test) not in kept:
                yield LostTag(row.id, pointer, test)


def to_record(matrix: Matrix) -> Matrix:
    """`matrix` as it is written and compared: what shows nothing is left out.

    That is evidence without an occasion, which had its say in the verdict, and the problems
    that any new test would change.
    """
    problems = tuple(p for p in matrix.problems if p.kind not in _NOT_RECORDED)
    return dataclasses.replace(
        matrix, rows=tuple(_without_silence(row) for row in matrix.rows), problems=problems
    )


def _without_silence(row: Row) -> Row:
    telling = tuple(e for e in row.evidence if e.outcome is not Outcome.NOT_OBSERVED)
    return dataclasses.replace(row, evidence=telling)


def _cited(row: Row) -> dict[tuple[str, str], str]:
    """Path and name of each test that the row cites, with its pointer."""
    return {
        (item.path, item.detail): item.pointer
        for item in row.evidence
        if item.kind is EvidenceKind.TEST
    }
