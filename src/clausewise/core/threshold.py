"""Which verdicts count against a run: the threshold of `--fail-on`, less the known findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from clausewise.core.results import Finding, Verdict
from clausewise.core.vocabulary import FailOn, Outcome

KnownFindings: TypeAlias = frozenset[tuple[str, Finding]]
"""Findings that a baseline lists, each with the id of its clause or rule."""

COUNTING: Mapping[FailOn, frozenset[Outcome]] = {
    FailOn.MUST: frozenset({Outcome.FAIL}),
    FailOn.SHOULD: frozenset({Outcome.FAIL, Outcome.WARN}),
    FailOn.INCONCLUSIVE: frozenset({Outcome.FAIL, Outcome.WARN, Outcome.INCONCLUSIVE}),
    FailOn.NEVER: frozenset(),
}
"""The outcomes at or above each threshold."""


def counts(verdict: Verdict, fail_on: FailOn, known: KnownFindings = frozenset()) -> bool:
    """Whether `verdict` is at or above `fail_on` by something that `known` does not list."""
    outcomes = COUNTING[fail_on]
    if verdict.outcome not in outcomes:
        return False
    if not verdict.findings:
        return True
    return any(
        finding.severity in outcomes and (verdict.id, finding) not in known
        for finding in verdict.findings
    )
