"""All about one clause, rule, check or probe: what there is to say, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from clausewise.core.vocabulary import Revision
from clausewise.registry import Clause, Origin
from clausewise.report.catalogue import (
    ClauseEntry,
    RuleEntry,
    clause_record,
    departure,
    json_text,
    rule_record,
    wrapped,
)

_LABEL_COLUMNS = 12
_BEYOND = "the published requirements exclude it; where a recording shows enough it is judged"


class ExplanationFormat(StrEnum):
    """How an explanation can be shown."""

    HUMAN = "human"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Account:
    """A docstring of a check or probe: what it looks for, why it matters, how to fix it."""

    summary: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class ClauseExplanation:
    """A clause and the account of each of its checks and probes; None for one that is planned."""

    entry: ClauseEntry
    checks: dict[str, Account | None]
    probes: dict[str, Account | None]


@dataclass(frozen=True, slots=True)
class RuleExplanation:
    """A rule and the account of its probe; None where the probe is planned."""

    entry: RuleEntry
    probe: Account | None


@dataclass(frozen=True, slots=True)
class CheckExplanation:
    """A check or a probe of clauses, its account (None: planned) and the clauses it is about."""

    kind: Literal["check", "probe"]
    name: str
    account: Account | None
    clauses: tuple[Clause, ...]


Explanation: TypeAlias = ClauseExplanation | RuleExplanation | CheckExplanation


def render(
    explanations: Sequence[Explanation], format_: ExplanationFormat, width: int = 100
) -> str:
    """Explanations as text with a final newline; `width` is for `human`, in columns."""
    if format_ is ExplanationFormat.JSON:
        return json_text(document(explanations))
    return "\n\n".join("\n".join(_human(each, width)) for each in explanations) + "\n"


def document(explanations: Sequence[Explanation]) -> dict[str, Any]:
    """The explanations as a JSON value of schema `clausewise.explanation/1`."""
    return {
        "schema": "clausewise.explanation/1",
        "explanations": [_record(each) for each in explanations],
    }


def _record(explanation: Explanation) -> dict[str, Any]:
    match explanation:
        case ClauseExplanation(entry, checks, probes):
            return {
                "kind": "clause",
                "revision": entry.clause.revision.value,
                **clause_record(entry),
                "checks": [_check_record(name, account) for name, account in checks.items()],
                "probes": [_check_record(name, account) for name, account in probes.items()],
            }
        case RuleExplanation(entry, probe):
            return {
                "kind": "rule",
                "revision": Revision.MODERN.value,
                **rule_record(entry),
                "probe": probe and asdict(probe),
            }
        case CheckExplanation(kind, name, account, clauses):
            references = [
                {"id": clause.id, "revision": clause.revision.value, "url": clause.url}
                for clause in clauses
            ]
            return {"kind": kind, **_check_record(name, account), "clauses": references}


def _check_record(name: str, account: Account | None) -> dict[str, Any]:
    return {"name": name, "account": account and asdict(account)}


def _human(explanation: Explanation, width: int) -> Iterator[str]:
    match explanation:
        case ClauseExplanation():
            yield from _clause_lines(explanation, width)
        case RuleExplanation():
            yield from _rule_lines(explanation, width)
        case CheckExplanation():
            yield from _check_lines(explanation, width)


def _clause_lines(explanation: ClauseExplanation, width: int) -> Iterator[str]:
    clause, status = explanation.entry.clause, explanation.entry.status
    yield f"{clause.id}: clause of {clause.revision}, {status}"
    yield ""
    yield from wrapped(clause.statement, width - 2, "  ")
    yield ""
    yield from _field("level", clause.level, width)
    yield from _field("binds", " and ".join(clause.binds), width)
    if clause.condition:
        yield from _field("applies if", f"{clause.condition} is declared", width)
    yield _labelled("link", clause.url)
    if clause.beyond:
        yield from _field("beyond", _BEYOND, width)
    if clause.exclusion is not None:
        yield from _field("excluded", clause.exclusion.reason, width)
        kind = clause.exclusion.type
        yield from _field("type", f"{kind}: {kind.meaning}", width)
    if clause.rules:
        yield from _field("rules", ", ".join(clause.rules), width)
    for label, accounts in (("check", explanation.checks), ("probe", explanation.probes)):
        for name, account in accounts.items():
            yield ""
            yield from _field(label, name, width)
            yield from _account_lines(account, width)


def _rule_lines(explanation: RuleExplanation, width: int) -> Iterator[str]:
    rule, status = explanation.entry.rule, explanation.entry.status
    yield f"{rule.id}: rule of {rule.revision}, {status}"
    yield ""
    yield f"  {rule.title}"
    yield ""
    yield from _field(
        "level", f"{rule.effective_level}; if broken: {rule.effective_severity}", width
    )
    if departure(rule):
        yield from _field("listed", f"{rule.level}; if broken: {rule.severity}", width)
    if rule.note:
        yield from _field("note", rule.note, width)
    yield from _field("needs", "; ".join(rule.needs) or "nothing in particular", width)
    if not rule.spec_traced:
        yield from _field("source", "best practice; the link shows the nearest sentence", width)
    yield _labelled("link", rule.url)
    if rule.origin is Origin.CLAUSEWISE:
        yield from _field("origin", "ours: no rule of the published list is about it", width)
    if rule.official is not None:
        yield from _field("official", rule.official, width)
    for reference in rule.clauses[1:]:
        yield from _field("see also", reference.rstrip("#"), width)
    yield ""
    yield from _field("probe", "" if explanation.probe else "not implemented yet", width)
    if explanation.probe is not None:
        yield from _account_lines(explanation.probe, width)


def _check_lines(explanation: CheckExplanation, width: int) -> Iterator[str]:
    yield f"{explanation.name}: {explanation.kind}"
    yield ""
    yield from _account_lines(explanation.account, width)
    for clause in explanation.clauses:
        yield ""
        label = "judges" if explanation.kind == "check" else "decides"
        yield from _field(label, f"{clause.id} ({clause.level}, {clause.revision})", width)
        yield from _field("", clause.statement, width)
        yield _labelled("", clause.url)


def _account_lines(account: Account | None, width: int) -> Iterator[str]:
    if account is None:
        yield from _field("what", "the check is not implemented yet", width)
        return
    yield from _field("what", account.summary, width)
    yield from _field("why", account.why, width)
    yield from _field("fix", account.fix, width)


def _field(label: str, text: str, width: int) -> Iterator[str]:
    room = max(width - _LABEL_COLUMNS - 2, 20)
    first, *others = wrapped(text, room)
    yield _labelled(label, first)
    for line in others:
        yield _labelled("", line)


def _labelled(label: str, text: str) -> str:
    return f"  {label:<{_LABEL_COLUMNS}}{text}".rstrip()
