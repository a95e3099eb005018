"""Show what a check would look at and what not: as text, as JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from clausewise import __version__
from clausewise.core.plan import CheckPlan, Means, PlannedSubject
from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import Outcome
from clausewise.report.catalogue import json_text, wrapped
from clausewise.report.json import target_record
from clausewise.report.text import count, storable, visible

_NARROWEST = 20
_EXCLUDED = "excluded: no recording can show it; `clausewise explain ID` says why"
_DOES = {"none": "", "reads": ", reads", "calls": ", calls tools"}
_DOES_COLUMNS = len("probe, calls tools")


class PlanFormat(StrEnum):
    """How a plan can be shown."""

    HUMAN = "human"
    JSON = "json"


def render(plan: CheckPlan, format_: PlanFormat, width: int) -> str:
    """The plan as text of `width` columns, or as `clausewise.plan/1`."""
    if format_ is PlanFormat.JSON:
        return json_text(document(plan))
    return "\n".join(_lines(plan, width)) + "\n"


def document(plan: CheckPlan) -> dict[str, Any]:
    """The plan as a JSON value that fits the schema `plan-1`."""
    return {
        "schema": "clausewise.plan/1",
        "tool": {"name": "clausewise", "version": __version__},
        "target": target_record(plan.target),
        "era": plan.era and plan.era.value,
        "revisions": [revision.value for revision in plan.revisions],
        "notes": [storable(note) for note in plan.notes],
        "tools": {
            "callable": [storable(name) for name in plan.tools.callable],
            "spared": [storable(name) for name in plan.tools.spared],
        },
        "subjects": [_record(subject) for subject in plan.subjects],
    }


def _record(subject: PlannedSubject) -> dict[str, Any]:
    return {
        "kind": subject.kind.value,
        "id": subject.id,
        "revision": subject.revision.value,
        "level": subject.level.value,
        "title": subject.title,
        "runs": subject.runs,
        "means": subject.means and subject.means.value,
        "impact": subject.impact,
        "outcome": subject.outcome and subject.outcome.value,
        "reason": None if subject.reason is None else storable(subject.reason),
    }


def _lines(plan: CheckPlan, width: int) -> Iterator[str]:
    yield f"clausewise check --list · {visible(plan.target.name)}"
    yield from _facts(plan)
    for note in plan.notes:
        yield from wrapped(f"note: {visible(note)}", width)
    yield ""
    yield from _tools(plan, width)
    for kind in SubjectKind:
        subjects = [subject for subject in plan.subjects if subject.kind is kind]
        if subjects:
            yield from _of_kind(subjects, width)


def _facts(plan: CheckPlan) -> Iterator[str]:
    server = plan.target.server
    facts = [] if server is None else [f"server {visible(server.name)} {visible(server.version)}"]
    if plan.era is not None:
        facts.append(f"{plan.era} era")
    if plan.revisions:
        facts.append("speaks " + " and ".join(plan.revisions))
    if facts:
        yield " · ".join(facts)


def _tools(plan: CheckPlan, width: int) -> Iterator[str]:
    """Which tools may be called: it matters to whoever lets a check loose on a server."""
    may, spared = plan.tools.callable, plan.tools.spared
    if may:
        yield from wrapped(f"tools that may be called: {_names(may)}", width)
    if spared:
        why = "not called, for lack of readOnlyHint (--call-tool NAME allows one) or of arguments"
        yield from wrapped(f"{why}: {_names(spared)}", width)
    if may or spared:
        yield ""


def _names(names: Iterable[str]) -> str:
    return ", ".join(visible(name) for name in names)


def _of_kind(subjects: list[PlannedSubject], width: int) -> Iterator[str]:
    running = [subject for subject in subjects if subject.runs]
    yield f"{len(running)} of {count(len(subjects), subjects[0].kind)} would be looked at"
    recorded = [subject for subject in running if subject.means is Means.RECORDING]
    for subject in running:
        if subject.means is not Means.RECORDING:
            yield _line(subject, width)
    if recorded:
        ids = ", ".join(subject.id for subject in recorded)
        yield from _indented(f"on the recording: {ids}", width, "  ")
    yield ""
    yield from _left_out(subjects, width)


def _line(subject: PlannedSubject, width: int) -> str:
    does = f"{subject.means}{_DOES.get(subject.impact or 'none', '')}"
    start = f"  {subject.id:<12} {does:<{_DOES_COLUMNS}} "
    return start + textwrap.shorten(
        subject.title, max(width - len(start), _NARROWEST), placeholder="…"
    )


def _left_out(subjects: list[PlannedSubject], width: int) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for subject in subjects:
        if subject.outcome is Outcome.EXCLUDED:
            reasons.setdefault(_EXCLUDED, []).append(subject.id)
        elif subject.outcome is not None:
            reason = f"{subject.outcome}: {visible(subject.reason or '')}"
            reasons.setdefault(reason, []).append(subject.id)
    if not reasons:
        return
    yield f"{sum(map(len, reasons.values()))} would not"
    for reason, ids in reasons.items():
        yield from _indented(reason, width, "  ")
        yield from _indented(", ".join(ids), width, "    ")
    yield ""


def _indented(text: str, width: int, indent: str) -> list[str]:
    return wrapped(text, max(width - len(indent), _NARROWEST), indent)
