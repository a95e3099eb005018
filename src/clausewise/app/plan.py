"""Use case `check --list`: what a check of a live server would look at, and what not."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import get_args

import anyio

from clausewise import registry
from clausewise.app.check import (
    CheckOptions,
    clause_verdicts,
    described,
    probe_options,
    secrets_of,
)
from clausewise.app.selection import in_order
from clausewise.core.errors import ClausewiseError
from clausewise.core.plan import CheckPlan, Means, PlannedSubject
from clausewise.core.results import SubjectKind, Verdict
from clausewise.core.vocabulary import Outcome, Revision
from clausewise.probe.clause_registration import clause_probes
from clausewise.probe.observation import Observation
from clausewise.probe.plan import ProbePlan, plan_probes
from clausewise.probe.registration import Impact, Probe, probes
from clausewise.registry import Clause, Rule
from clausewise.trace.tape import Tape
from clausewise.transport.http import HttpTarget
from clausewise.transport.stdio import StdioTarget

_UNSEEN = (Outcome.EXCLUDED, Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE)
"""The outcomes of a clause after the acquaintance that a whole session does not change."""

_KNOWN = (Outcome.NOT_APPLICABLE, Outcome.INCONCLUSIVE)
"""Those that come before what stands in the way of its probes."""


def run(target: HttpTarget | StdioTarget, options: CheckOptions) -> CheckPlan:
    """Get acquainted with `target`; no probe is run and no tool called.

    Raises:
        TargetError: it cannot be reached or speaks no MCP.
    """
    secrets = secrets_of(target, options.supplied)
    tape = Tape()
    try:
        plan = anyio.run(plan_probes, target, probe_options(options), tape)
    except ClausewiseError as error:
        raise type(error)(secrets.hide(error.message), secrets.hide(error.hint)) from None
    clauses = clause_verdicts(tape.events, plan.met, options.recording)
    subjects = in_order([*_rules(plan), *(_clause(verdict, plan) for verdict in clauses)])
    return CheckPlan(
        described(target, plan.met.server, secrets),
        plan.met.era,
        plan.met.revisions,
        tuple(
            dataclasses.replace(subject, reason=subject.reason and secrets.hide(subject.reason))
            for subject in subjects
            if options.selection.takes(subject)
        ),
        plan.tools,
        tuple(secrets.hide(note) for note in plan.met.notes),
    )


def _rules(plan: ProbePlan) -> Iterator[PlannedSubject]:
    rules = registry.rules()
    return (_rule(rules[name], obstacle) for name, obstacle in plan.obstacles.items())


def _rule(rule: Rule, obstacle: Observation | None) -> PlannedSubject:
    entry = probes().get(rule.id)
    means = None
    if entry is not None:
        means = Means.PROBE if isinstance(entry, Probe) else Means.TRAFFIC
    return PlannedSubject(
        SubjectKind.RULE,
        rule.id,
        rule.revision,
        rule.effective_level,
        rule.title,
        means,
        entry.impact if isinstance(entry, Probe) else None,
        None if obstacle is None else obstacle.outcome,
        None if obstacle is None else obstacle.reason,
    )


def _clause(verdict: Verdict, plan: ProbePlan) -> PlannedSubject:
    """From the verdict that the recording of the acquaintance alone would give, and its probes."""
    clause = registry.clauses(Revision.LEGACY)[verdict.id]
    by_recording = verdict.outcome not in _UNSEEN and not verdict.is_planned
    obstacle = plan.clause_obstacles.get(clause.id)
    by_probe = clause.id in plan.clause_obstacles and obstacle is None
    unseen: Verdict | Observation | None = None
    if not by_recording and not by_probe:
        unseen = verdict if obstacle is None or verdict.outcome in _KNOWN else obstacle
    return PlannedSubject(
        SubjectKind.CLAUSE,
        clause.id,
        clause.revision,
        clause.level,
        clause.statement,
        _means(clause, by_probe=by_probe),
        _impact(clause) if by_probe else None,
        None if unseen is None else unseen.outcome,
        None if unseen is None else unseen.reason,
    )


def _means(clause: Clause, *, by_probe: bool) -> Means | None:
    if by_probe or (clause.probes and not clause.checks):
        return Means.PROBE
    return Means.RECORDING if clause.checks else None


def _impact(clause: Clause) -> Impact:
    impacts = [clause_probes()[name].impact for name in clause.probes]
    return max(impacts, key=get_args(Impact).index)
