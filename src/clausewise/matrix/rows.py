"""The rows of a matrix before any evidence: what binds the audited party."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clausewise import registry
from clausewise.core.matrix import Row, RowVerdict
from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import Level, Party, Revision


def rows_for(party: Party, revisions: Iterable[Revision]) -> tuple[Row, ...]:
    """A row for each clause but the MAYs and each rule of `revisions` that binds `party`.

    All rules bind servers. Order: revision, rules before clauses, then as the registry has
    them, so area by area.
    """
    return tuple(row for revision in sorted(set(revisions)) for row in _of(party, revision))


def _of(party: Party, revision: Revision) -> Iterator[Row]:
    if party is Party.SERVER:
        yield from (
            _of_rule(rule) for rule in registry.rules().values() if rule.revision is revision
        )
    for clause in registry.clauses(revision).values():
        if party in clause.binds and clause.level is not Level.MAY:
            yield _of_clause(clause)


def _of_rule(rule: registry.Rule) -> Row:
    return Row(
        kind=SubjectKind.RULE,
        id=rule.id,
        revision=rule.revision,
        level=rule.effective_level,
        url=rule.url,
        verdict=RowVerdict.UNPROVEN,
    )


def _of_clause(clause: registry.Clause) -> Row:
    return Row(
        kind=SubjectKind.CLAUSE,
        id=clause.id,
        revision=clause.revision,
        level=clause.level,
        url=clause.url,
        verdict=RowVerdict.UNPROVEN,
        condition=clause.condition,
        excluded=None if clause.exclusion is None else clause.exclusion.reason,
    )
