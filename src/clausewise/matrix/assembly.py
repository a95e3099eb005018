"""Put a matrix together: rows, the evidence about them, and what was declared."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from clausewise import registry
from clausewise.core.matrix import Evidence, EvidenceKind, Matrix, Problem, ProblemKind, Row, Source
from clausewise.core.suggestion import did_you_mean
from clausewise.core.vocabulary import Party, Revision
from clausewise.matrix.declarations import Declaration, declared_of
from clausewise.matrix.rows import rows_for
from clausewise.matrix.verdicts import decide, worst_first

_NO_ROW = "it binds the other party, is a MAY, or belongs to a revision that is not audited"


@dataclass(frozen=True, slots=True)
class Statement:
    """One piece of evidence with the clause or rule that it speaks about."""

    id: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Gathered:
    """What one source gave: evidence, its tally, and what is wrong with it."""

    statements: tuple[Statement, ...] = ()
    sources: tuple[Source, ...] = ()
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """What is audited: its name, the side it is, the revisions it means to keep."""

    title: str
    party: Party
    revisions: tuple[Revision, ...]
    declarations: tuple[Declaration, ...] = ()


def assemble(project: Project, gathered: Iterable[Gathered]) -> Matrix:
    """The matrix of `project` by everything that was gathered.

    A tag that names what is no row is a problem, and so is any id that no registry has.
    """
    parts = tuple(gathered)
    rows = rows_for(project.party, project.revisions)
    filing = _Filing(rows)
    for part in parts:
        filing.take(part.statements)
    decided, troubles = _decided(rows, filing.by_id, project.declarations)
    problems = (
        *(problem for part in parts for problem in part.problems),
        *filing.problems,
        *troubles,
        *_idle(rows, project.declarations),
    )
    return Matrix(
        title=project.title,
        party=project.party,
        revisions=tuple(sorted(set(project.revisions))),
        rows=decided,
        sources=tuple(source for part in parts for source in part.sources),
        problems=in_order(problems),
    )


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems by kind, place and message, each once."""
    kinds = list(ProblemKind)
    unique = dict.fromkeys(problems)
    return tuple(sorted(unique, key=lambda p: (kinds.index(p.kind), p.where, p.message)))


@dataclass(slots=True)
class _Filing:
    """Evidence by the row that it is about; what is about no row becomes a problem."""

    rows: tuple[Row, ...]
    by_id: dict[str, list[Evidence]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.by_id = {row.id: [] for row in self.rows}

    def take(self, statements: Iterable[Statement]) -> None:
        for statement in statements:
            about = self.by_id.get(statement.id)
            if about is None:
                self._homeless(statement)
            elif statement.evidence not in about:
                about.append(statement.evidence)

    def _homeless(self, statement: Statement) -> None:
        """A tag about no row is told; results and the suite speak of more than is audited."""
        id_, where, known = statement.id, statement.evidence.pointer, _known_ids()
        if id_ not in known:
            message = f"there is no clause or rule {id_}. {did_you_mean(id_, known)}".rstrip()
            self.problems.append(Problem(ProblemKind.UNKNOWN_ID, where, message))
        elif statement.evidence.kind is EvidenceKind.TEST:
            message = f"{id_} is no row of this audit: {_NO_ROW}"
            self.problems.append(Problem(ProblemKind.NOT_A_ROW, where, message))


def _known_ids() -> frozenset[str]:
    clauses = [id_ for revision in Revision for id_ in registry.clauses(revision)]
    return frozenset((*registry.rules(), *clauses))


def _decided(
    rows: Sequence[Row],
    evidence: dict[str, list[Evidence]],
    declarations: Sequence[Declaration],
) -> tuple[tuple[Row, ...], list[Problem]]:
    decided, troubles = [], []
    for row in rows:
        declared = declared_of(row, declarations)
        found = worst_first(evidence[row.id])
        decision = decide(row.level, found, declared)
        if decision.trouble is not None:
            troubles.append(Problem(decision.trouble, row.id, decision.notes[-1]))
        decided.append(
            dataclasses.replace(
                row,
                verdict=decision.verdict,
                reason=decision.reason,
                notes=decision.notes,
                evidence=found,
            )
        )
    return tuple(decided), troubles


def _idle(rows: Sequence[Row], declarations: Iterable[Declaration]) -> Iterator[Problem]:
    for declaration in declarations:
        if not any(declaration.covers(row) for row in rows):
            message = "covers no row of this audit"
            yield Problem(ProblemKind.IDLE_DECLARATION, declaration.name, message)
