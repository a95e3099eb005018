"""How grave it is that a test or an official check failed: as grave as the clause's keyword."""

from __future__ import annotations

from functools import cache

from clausewise import registry
from clausewise.core.vocabulary import Outcome, Revision


def breach_of(id_: str, outcome: Outcome) -> Outcome:
    """`outcome`, but a fail about a SHOULD is a warn, and about a rule what its text supports."""
    return _severities().get(id_, outcome) if outcome is Outcome.FAIL else outcome


@cache
def _severities() -> dict[str, Outcome]:
    clauses = (c for revision in Revision for c in registry.clauses(revision).values())
    rules = {rule.id: rule.effective_severity for rule in registry.rules().values()}
    return {clause.id: clause.level.severity for clause in clauses} | rules
