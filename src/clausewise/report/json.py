"""The result as JSON: `clausewise.result/1`, and reading it back."""

from __future__ import annotations

import json
from typing import Any

from clausewise import __version__
from clausewise.core.results import (
    Finding,
    ReplayedAnswer,
    RunResult,
    Target,
    Totals,
    TraceSummary,
    Verdict,
)
from clausewise.report.documents import shipped_schema
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.text import storable

RESULT_SCHEMA = "clausewise.result/1"


def render(result: RunResult, options: ReportOptions = DEFAULTS) -> str:  # noqa: ARG001
    """The whole result as one indented JSON object with a final newline.

    The order of members and verdicts is fixed, so equal results give equal bytes.
    """
    return json.dumps(document(result), indent=2, ensure_ascii=False) + "\n"


def document(result: RunResult) -> dict[str, Any]:
    """The result as a JSON value that fits `schema()`."""
    record: dict[str, Any] = {
        "schema": RESULT_SCHEMA,
        "tool": {"name": "clausewise", "version": __version__},
        "command": result.command,
        "target": target_record(result.target),
        "era": result.era and result.era.value,
        "revisions": [revision.value for revision in result.revisions],
    }
    if result.party is not None:
        record["party"] = result.party.value
    if result.started is not None:
        record["started"] = result.started
    if result.duration_s is not None:
        record["duration_s"] = result.duration_s
    if result.notes:
        record["notes"] = [storable(note) for note in result.notes]
    if result.traces:
        record["traces"] = [_trace_record(trace) for trace in result.traces]
    if result.answers:
        record["answers"] = [_answer_record(answer) for answer in result.answers]
    record["results"] = [verdict_record(verdict) for verdict in result.verdicts]
    record["totals"] = {
        kind.value: {outcome.value: number for outcome, number in sorted(counts.items())}
        for kind, counts in Totals.of(result.verdicts).counts.items()
    }
    record["verdict"] = result.outcome.value
    return record


def target_record(target: Target) -> dict[str, Any]:
    """The member `target` of a result."""
    server = target.server
    return {
        "kind": target.kind,
        "name": storable(target.name),
        "server": server and {"name": storable(server.name), "version": storable(server.version)},
    }


def _answer_record(answer: ReplayedAnswer) -> dict[str, Any]:
    return {
        "seq": answer.seq,
        "title": storable(answer.title),
        "differences": [storable(difference) for difference in answer.differences],
    }


def _trace_record(trace: TraceSummary) -> dict[str, Any]:
    return {
        "name": storable(trace.name),
        "verdict": trace.verdict.value,
        "events": trace.events,
        "notes": [storable(note) for note in trace.notes],
    }


def verdict_record(verdict: Verdict) -> dict[str, Any]:
    """One member of `results`."""
    return {
        "kind": verdict.kind.value,
        "id": verdict.id,
        "revision": verdict.revision.value,
        "level": verdict.level.value,
        "outcome": verdict.outcome.value,
        "occasions": verdict.occasions,
        "reason": None if verdict.reason is None else storable(verdict.reason),
        "findings": [_finding_record(finding) for finding in verdict.findings],
    }


def _finding_record(finding: Finding) -> dict[str, Any]:
    place = finding.at
    return {
        "check": finding.check,
        "party": finding.party.value,
        "severity": finding.severity.value,
        "message": storable(finding.message),
        "seen": storable(finding.seen),
        "expected": storable(finding.expected),
        "at": place and {"trace": storable(place.trace), "seq": place.seq},
        "url": storable(finding.url),
        "fix": storable(finding.fix),
        "reproduce": None if finding.reproduce is None else storable(finding.reproduce),
    }


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of `clausewise.result/1`."""
    return shipped_schema("result-1")
