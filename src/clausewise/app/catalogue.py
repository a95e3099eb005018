"""The catalogues: which clauses and rules there are, and which are implemented."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise import registry
from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Level, Party, Revision
from clausewise.judge.registration import checks
from clausewise.probe.registration import probes
from clausewise.registry import Clause, Origin, Rule
from clausewise.report.catalogue import (
    ClauseCatalogue,
    ClauseEntry,
    ClauseStatus,
    RuleEntry,
    RuleStatus,
)


@dataclass(frozen=True, slots=True)
class ClauseFilter:
    """Which clauses to list; an empty field lets every clause through."""

    statuses: frozenset[ClauseStatus] = frozenset()
    levels: frozenset[Level] = frozenset()
    party: Party | None = None

    def takes(self, entry: ClauseEntry) -> bool:
        """Whether this clause is listed."""
        return (
            (not self.statuses or entry.status in self.statuses)
            and (not self.levels or entry.clause.level in self.levels)
            and self.party in (None, *entry.clause.binds)
        )


def clause_catalogue(revision: Revision, wanted: ClauseFilter | None = None) -> ClauseCatalogue:
    """The clauses of `revision` that `wanted` lets through."""
    held = registry.clauses(revision)
    wanted = wanted or ClauseFilter()
    entries = (clause_entry(clause) for clause in held.values())
    return ClauseCatalogue(revision, tuple(entry for entry in entries if wanted.takes(entry)))


def rule_catalogue(group: str | None = None) -> tuple[RuleEntry, ...]:
    """The rules, those of the published list first, or those of one `group`.

    `DSC` names a group, `MCP-DSC` and `CW-DSC` the rules in it of one origin; in any case.

    Raises:
        UsageError: there is no such group.
    """
    rules = sorted(registry.rules().values(), key=lambda rule: list(Origin).index(rule.origin))
    if group is not None:
        wanted = group.upper()
        rules = [rule for rule in rules if wanted in (rule.group, rule.id.rpartition("-")[0])]
        if not rules:
            groups = ", ".join(registry.groups())
            raise UsageError(f"no group of rules {group!r}", f"Groups: {groups}.")
    return tuple(rule_entry(rule) for rule in rules)


def clause_entry(clause: Clause) -> ClauseEntry:
    """A clause with its status: planned as long as none of its checks is implemented."""
    if clause.exclusion is not None:
        return ClauseEntry(clause, ClauseStatus.EXCLUDED)
    judged = any(name in checks() for name in clause.checks)
    return ClauseEntry(clause, ClauseStatus.JUDGED if judged else ClauseStatus.PLANNED)


def rule_entry(rule: Rule) -> RuleEntry:
    """A rule with its status."""
    implemented = rule.id in probes()
    return RuleEntry(rule, RuleStatus.IMPLEMENTED if implemented else RuleStatus.PLANNED)
