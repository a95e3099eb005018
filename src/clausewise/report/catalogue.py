"""The catalogues of clauses and rules: what they hold, and how they are shown."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import Any

from clausewise import registry
from clausewise.core.vocabulary import Revision
from clausewise.registry import Clause, Origin, Rule
from clausewise.report.documents import shipped_schema
from clausewise.report.text import count

_NARROWEST_TEXT = 30
_MARKDOWN_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>|"})


class ClauseStatus(StrEnum):
    """Whether a check judges the clause, none can, or one is still to be written."""

    JUDGED = "judged"
    EXCLUDED = "excluded"
    PLANNED = "planned"


class RuleStatus(StrEnum):
    """Whether the rule has a probe."""

    IMPLEMENTED = "implemented"
    PLANNED = "planned"


class CatalogueFormat(StrEnum):
    """How a catalogue can be shown."""

    HUMAN = "human"
    JSON = "json"
    MARKDOWN = "markdown"


@dataclass(frozen=True, slots=True)
class ClauseEntry:
    """A clause in the catalogue."""

    clause: Clause
    status: ClauseStatus

    @property
    def is_beyond(self) -> bool:
        """Whether a check judges it although the published requirements exclude it."""
        return self.clause.beyond and self.status is ClauseStatus.JUDGED

    @property
    def is_probed(self) -> bool:
        """Whether no recording shows it, but a probe of a live server does."""
        return bool(self.clause.probes) and self.status is ClauseStatus.EXCLUDED


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A rule in the catalogue."""

    rule: Rule
    status: RuleStatus


@dataclass(frozen=True, slots=True)
class ClauseCatalogue:
    """The clauses of one revision that were asked for, in the order of the registry."""

    revision: Revision
    entries: tuple[ClauseEntry, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many entries there are in all and of each status.

        Of the judged how many `beyond` the requirements; of the excluded how many `probed`.
        """
        statuses = [entry.status for entry in self.entries]
        return {
            "all": len(statuses),
            **{status.value: statuses.count(status) for status in ClauseStatus},
            "beyond": sum(entry.is_beyond for entry in self.entries),
            "probed": sum(entry.is_probed for entry in self.entries),
        }


def render_clauses(catalogue: ClauseCatalogue, format_: CatalogueFormat, width: int = 100) -> str:
    """The catalogue as text with a final newline; `width` is for `human`, in columns."""
    if format_ is CatalogueFormat.JSON:
        return json_text(clauses_document(catalogue))
    if format_ is CatalogueFormat.MARKDOWN:
        return _text(_clauses_markdown(catalogue))
    return _text(_clauses_human(catalogue, width))


def render_rules(entries: Sequence[RuleEntry], format_: CatalogueFormat, width: int = 100) -> str:
    """The rules as text with a final newline; `width` is for `human`, in columns."""
    if format_ is CatalogueFormat.JSON:
        return json_text(rules_document(entries))
    if format_ is CatalogueFormat.MARKDOWN:
        return _text(_rules_markdown(entries))
    return _text(_rules_human(entries, width))


def clauses_document(catalogue: ClauseCatalogue) -> dict[str, Any]:
    """The catalogue as a JSON value of schema `clausewise.requirements/1`."""
    return {
        "schema": "clausewise.requirements/1",
        "revision": catalogue.revision.value,
        "counts": catalogue.counts,
        "clauses": [clause_record(entry) for entry in catalogue.entries],
    }


def rules_document(entries: Iterable[RuleEntry]) -> dict[str, Any]:
    """The rules as a JSON value of schema `clausewise.rules/1`."""
    return {"schema": "clausewise.rules/1", "rules": [rule_record(entry) for entry in entries]}


def clause_record(entry: ClauseEntry) -> dict[str, Any]:
    """One member of `clauses`."""
    clause = entry.clause
    exclusion = clause.exclusion
    return {
        "id": clause.id,
        "level": clause.level.value,
        "binds": [party.value for party in clause.binds],
        "condition": clause.condition,
        "page": clause.page,
        "anchor": clause.anchor,
        "url": clause.url,
        "quote": clause.quote,
        "statement": clause.statement,
        "status": entry.status.value,
        "checks": list(clause.checks),
        "exclusion": exclusion and {"type": exclusion.type.value, "reason": exclusion.reason},
        "beyond": clause.beyond,
        "probes": list(clause.probes),
        "rules": list(clause.rules),
    }


def rule_record(entry: RuleEntry) -> dict[str, Any]:
    """One member of `rules`."""
    rule = entry.rule
    return {
        "id": rule.id,
        "origin": rule.origin.value,
        "group": rule.group,
        "title": rule.title,
        "level": rule.level.value,
        "severity": rule.severity.value,
        "effective": {
            "level": rule.effective_level.value,
            "severity": rule.effective_severity.value,
        },
        "note": rule.note,
        "clauses": list(rule.clauses),
        "url": rule.url,
        "needs": list(rule.needs),
        "official": rule.official,
        "status": entry.status.value,
    }


def schema(name: str) -> dict[str, Any]:
    """A shipped JSON Schema (2020-12): `requirements-1`, `rules-1` or `explanation-1`."""
    return shipped_schema(name)


def json_text(document: dict[str, Any]) -> str:
    """A JSON value as indented text with a final newline."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def clause_totals(catalogue: ClauseCatalogue) -> str:
    """`348 clauses of 2025-11-25: 130 judged (28+ …), 218 excluded (14 …), 0 planned`."""
    counts = catalogue.counts
    parts = {status: f"{counts[status]} {status}" for status in ClauseStatus}
    if counts["beyond"]:
        parts[ClauseStatus.JUDGED] += f" ({counts['beyond']}+ beyond the published requirements)"
    if counts["probed"]:
        parts[ClauseStatus.EXCLUDED] += f" ({counts['probed']} decided by a probe of a live server)"
    return f"{count(counts['all'], 'clause')} of {catalogue.revision}: {', '.join(parts.values())}"


def rule_totals(entries: Sequence[RuleEntry]) -> str:
    """`79 rules of 2026-07-28: 79 implemented, 0 planned; 68 of our own: 68 implemented, …`."""
    listed, own = (
        [entry.status for entry in entries if entry.rule.origin is origin] for origin in Origin
    )
    text = f"{count(len(listed), 'rule')} of {Revision.MODERN}: {_by_status(listed)}"
    return f"{text}; {len(own)} of our own: {_by_status(own)}" if own else text


def _by_status(statuses: Sequence[RuleStatus]) -> str:
    return ", ".join(f"{statuses.count(status)} {status}" for status in RuleStatus)


def _rule_groups(entries: Iterable[RuleEntry]) -> Iterator[tuple[str, Iterator[RuleEntry]]]:
    """The entries by group with its heading; `HDR: Request metadata headers, our own`."""
    titles = registry.groups()
    for (group, origin), members in groupby(entries, key=lambda e: (e.rule.group, e.rule.origin)):
        own = ", our own" if origin is Origin.CLAUSEWISE else ""
        yield f"{group}: {titles[group]}{own}", members


def _clauses_human(catalogue: ClauseCatalogue, width: int) -> Iterator[str]:
    titles = registry.areas(catalogue.revision)
    for area, entries in groupby(catalogue.entries, key=lambda entry: entry.clause.area):
        yield f"{area}: {titles[area]}"
        for entry in entries:
            clause = entry.clause
            columns = (
                f"{clause.id:<8}",
                f"{clause.level:<10}",
                f"{', '.join(clause.binds):<14}",
                f"{_status(entry):<8}",
            )
            yield from _row(columns, clause.statement, width)
        yield ""
    yield clause_totals(catalogue)


def _status(entry: ClauseEntry) -> str:
    """The status in a list for people; `judged+` beyond the published requirements."""
    if entry.is_probed:
        return "by probe"
    return f"{entry.status}+" if entry.is_beyond else entry.status.value


def _rules_human(entries: Sequence[RuleEntry], width: int) -> Iterator[str]:
    for heading, members in _rule_groups(entries):
        yield heading
        for entry in members:
            rule = entry.rule
            columns = (
                f"{rule.id:<11}",
                f"{rule.effective_level:<10}",
                f"{rule.effective_severity:<4}",
                f"{entry.status:<11}",
            )
            listed = departure(rule)
            yield from _row(columns, f"{rule.title} ({listed})" if listed else rule.title, width)
        yield ""
    yield rule_totals(entries)


def departure(rule: Rule) -> str:
    """`listed as MUST NOT, fail` where the text supports something else; otherwise empty."""
    if (rule.level, rule.severity) == (rule.effective_level, rule.effective_severity):
        return ""
    return f"listed as {rule.level}, {rule.severity}"


def _row(columns: Sequence[str], text: str, width: int) -> Iterator[str]:
    """Columns, then `text` wrapped beside them; below them where the line is too short."""
    head = "  " + "  ".join(columns) + "  "
    room = width - len(head)
    if room < _NARROWEST_TEXT:
        yield head.rstrip()
        yield from wrapped(text, width - 4, "    ")
        return
    first, *others = wrapped(text, room)
    yield head + first
    for line in others:
        yield " " * len(head) + line


def _clauses_markdown(catalogue: ClauseCatalogue) -> Iterator[str]:
    yield f"# Clauses of {catalogue.revision}"
    yield ""
    yield clause_totals(catalogue) + "."
    titles = registry.areas(catalogue.revision)
    for area, entries in groupby(catalogue.entries, key=lambda entry: entry.clause.area):
        yield from ("", f"## {area}: {titles[area]}", "")
        yield "| Clause | Level | Binds | Sentence | Decided by |"
        yield "|---|---|---|---|---|"
        for entry in entries:
            clause = entry.clause
            cells = (
                _link(clause.id, clause.url),
                clause.level,
                ", ".join(clause.binds),
                _cell(clause.statement),
                _decided_by(entry),
            )
            yield f"| {' | '.join(cells)} |"


def _decided_by(entry: ClauseEntry) -> str:
    exclusion = entry.clause.exclusion
    if exclusion is not None:
        excluded = f"Excluded, {exclusion.type}: {_cell(exclusion.reason)}"
        probes = ", ".join(f"`{name}`" for name in entry.clause.probes)
        return f"{excluded} On a live server: {probes}" if probes else excluded
    names = ", ".join(f"`{name}`" for name in entry.clause.checks)
    if entry.status is ClauseStatus.PLANNED:
        return f"{names} (planned)"
    return f"{names} (beyond the published requirements)" if entry.is_beyond else names


def _rules_markdown(entries: Sequence[RuleEntry]) -> Iterator[str]:
    yield f"# Rules of {Revision.MODERN}"
    yield ""
    yield rule_totals(entries) + "."
    for heading, members in _rule_groups(entries):
        yield from ("", f"## {heading}", "")
        yield "| Rule | What is checked | Listed | Verdict follows | Note | Status |"
        yield "|---|---|---|---|---|---|"
        for entry in members:
            rule = entry.rule
            cells = (
                _link(rule.id, rule.url),
                _cell(rule.title),
                f"{rule.level}, {rule.severity}",
                f"{rule.effective_level}, {rule.effective_severity}",
                _cell(rule.note or ""),
                entry.status,
            )
            yield f"| {' | '.join(cells)} |"


def _link(text: str, url: str) -> str:
    """A Markdown link; parentheses, which would end its target, are percent-encoded."""
    return f"[{text}]({url.replace('(', '%28').replace(')', '%29')})"


def _cell(text: str) -> str:
    return text.translate(_MARKDOWN_SPECIAL)


def wrapped(text: str, width: int, indent: str = "") -> list[str]:
    """`text` in lines of at most `width` columns after `indent`; names keep their hyphens."""
    lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)
    return [indent + line for line in lines or [""]]


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"
