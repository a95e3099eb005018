"""What a verdict is about, in words: its title, its area, its group in a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from clausewise import registry
from clausewise.core.results import SubjectKind, Verdict
from clausewise.core.vocabulary import SEVERITY_ORDER, Outcome, Revision

Titles: TypeAlias = Callable[[Verdict], str]
"""Gives the sentence or title of a verdict's clause or rule; empty when it is unknown."""


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """The verdicts that stand together in a report: one kind, revision and area."""

    kind: SubjectKind
    revision: Revision
    area: str

    @property
    def heading(self) -> str:
        if self.kind is SubjectKind.RULE:
            title = registry.groups().get(self.area.rpartition("-")[2])
        else:
            title = registry.areas(self.revision).get(self.area)
        name = f"{self.area} {title}" if title else self.area
        return f"{name} ({self.kind}s of {self.revision})"


def registered_title(verdict: Verdict) -> str:
    """A rule's title; a clause's sentence, or its first and last words."""
    if verdict.kind is SubjectKind.RULE:
        rule = registry.rules().get(verdict.id)
        return rule.title if rule else ""
    clause = registry.clauses(verdict.revision).get(verdict.id)
    return clause.statement if clause else ""


def group_of(verdict: Verdict) -> Group:
    """The group of `verdict`; its area is the id without its number: `MCP-ERR`, `BASE`."""
    return Group(verdict.kind, verdict.revision, verdict.id.rpartition("-")[0] or verdict.id)


def grouped(verdicts: Iterable[Verdict]) -> Mapping[Group, list[Verdict]]:
    """Verdicts by group, the groups in the order of their first verdict."""
    groups: dict[Group, list[Verdict]] = {}
    for verdict in verdicts:
        groups.setdefault(group_of(verdict), []).append(verdict)
    return groups


def worst_first(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Verdicts by outcome, worst first; equal ones keep their order."""
    return sorted(verdicts, key=lambda verdict: SEVERITY_ORDER.index(verdict.outcome))


def by_reason(verdicts: Iterable[Verdict], outcome: Outcome) -> Mapping[str, list[Verdict]]:
    """The verdicts of one `outcome` by their reason, in order."""
    reasons: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        if verdict.outcome is outcome:
            reasons.setdefault(verdict.reason or "no reason given", []).append(verdict)
    return reasons
