"""Explain: all that is known about one clause, rule, check or probe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from clausewise import registry
from clausewise.app.catalogue import clause_entry, rule_entry
from clausewise.core.errors import UsageError
from clausewise.core.suggestion import did_you_mean
from clausewise.core.vocabulary import Revision
from clausewise.judge.registration import checks
from clausewise.probe.clause_registration import clause_probes
from clausewise.probe.registration import probes
from clausewise.registry import Clause, Rule
from clausewise.report.explanation import (
    Account,
    CheckExplanation,
    ClauseExplanation,
    Explanation,
    RuleExplanation,
)


class Documented(Protocol):
    """Something whose docstring has been taken apart."""

    @property
    def summary(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def fix(self) -> str: ...


def explain(names: Iterable[str]) -> tuple[Explanation, ...]:
    """An explanation for each name: the id of a clause or rule, a check or a probe of clauses.

    Case is ignored.

    A clause id that two revisions have gives two explanations.

    Raises:
        UsageError: a name that nothing has.
    """
    return tuple(found for name in names for found in _explanations(name))


def _explanations(name: str) -> list[Explanation]:
    wanted = name.strip().lower()
    found: list[Explanation] = [
        *(_of_rule(rule) for rule in registry.rules().values() if rule.id.lower() == wanted),
        *(_of_clause(clause) for clause in _every_clause() if clause.id.lower() == wanted),
        *(_of_check(check, judged) for check, judged in _judged().items() if check == wanted),
        *(_of_probe(probe, about) for probe, about in _probed().items() if probe == wanted),
    ]
    if not found:
        raise UsageError(
            f"no clause, rule, check or probe is called {name!r}",
            _suggestion(name) or "`clausewise rules` and `clausewise requirements` list the ids.",
        )
    return found


def _suggestion(name: str) -> str:
    rule = f"MCP-{name.strip().upper()}"
    if rule in registry.rules():
        return f"Did you mean {rule}?"
    clauses = (clause.id for clause in _every_clause())
    return did_you_mean(name, (*registry.rules(), *clauses, *_judged(), *_probed()))


def _of_clause(clause: Clause) -> ClauseExplanation:
    return ClauseExplanation(
        clause_entry(clause),
        {name: _account(checks().get(name)) for name in clause.checks},
        {name: _probe_account(name) for name in clause.probes},
    )


def _of_rule(rule: Rule) -> RuleExplanation:
    found = probes().get(rule.id)
    return RuleExplanation(rule_entry(rule), _account(found.documentation if found else None))


def _of_check(name: str, judged: tuple[Clause, ...]) -> CheckExplanation:
    return CheckExplanation("check", name, _account(checks().get(name)), judged)


def _of_probe(name: str, about: tuple[Clause, ...]) -> CheckExplanation:
    return CheckExplanation("probe", name, _probe_account(name), about)


def _probe_account(name: str) -> Account | None:
    found = clause_probes().get(name)
    return _account(found.documentation if found is not None else None)


def _account(documented: Documented | None) -> Account | None:
    if documented is None:
        return None
    return Account(documented.summary, documented.why, documented.fix)


def _every_clause() -> Iterable[Clause]:
    return (clause for revision in Revision for clause in registry.clauses(revision).values())


def _judged() -> Mapping[str, tuple[Clause, ...]]:
    """Every check, implemented or named by a clause, with the clauses that it judges."""
    return _clauses_by(lambda clause: clause.checks, checks())


def _probed() -> Mapping[str, tuple[Clause, ...]]:
    """Every probe of clauses with the clauses that it decides."""
    return _clauses_by(lambda clause: clause.probes, clause_probes())


def _clauses_by(
    names_in: Callable[[Clause], Iterable[str]], known: Iterable[str]
) -> Mapping[str, tuple[Clause, ...]]:
    found: dict[str, tuple[Clause, ...]] = dict.fromkeys(known, ())
    for clause in _every_clause():
        for name in names_in(clause):
            found[name] = (*found.get(name, ()), clause)
    return found
