"""Read a stored result (`clausewise.result/1`) back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.core.results import (
    Finding,
    Implementation,
    Place,
    ReplayedAnswer,
    RunResult,
    SubjectKind,
    Target,
    TraceSummary,
    Verdict,
)
from clausewise.core.vocabulary import Era, Level, Outcome, Party, Revision
from clausewise.report.documents import read_document
from clausewise.report.json import RESULT_SCHEMA


def load(text: bytes, name: str) -> RunResult:
    """The result that `text` holds.

    Args:
        text: JSON, as `clausewise.report.json` renders it.
        name: what to call the source in error messages.

    Raises:
        UsageError: no JSON, or not of `clausewise.result/1`.
    """
    return _run_result(read_document(text, name, RESULT_SCHEMA, _HINT))


_HINT = "Store one with --report json=FILE on `clausewise check` or `clausewise validate`."


def _run_result(record: Mapping[str, Any]) -> RunResult:
    target = record["target"]
    server = target["server"]
    return RunResult(
        command=record["command"],
        target=Target(
            target["kind"],
            target["name"],
            server and Implementation(server["name"], server["version"]),
        ),
        era=Era(record["era"]) if record["era"] else None,
        revisions=tuple(Revision(revision) for revision in record["revisions"]),
        verdicts=tuple(_verdict(verdict) for verdict in record["results"]),
        notes=tuple(record.get("notes", ())),
        started=record.get("started"),
        duration_s=record.get("duration_s"),
        traces=tuple(_trace(trace) for trace in record.get("traces", ())),
        party=Party(record["party"]) if "party" in record else None,
        answers=tuple(_answer(answer) for answer in record.get("answers", ())),
    )


def _answer(record: Mapping[str, Any]) -> ReplayedAnswer:
    return ReplayedAnswer(record["seq"], record["title"], tuple(record["differences"]))


def _trace(record: Mapping[str, Any]) -> TraceSummary:
    return TraceSummary(
        name=record["name"],
        verdict=Outcome(record["verdict"]),
        events=record["events"],
        notes=tuple(record["notes"]),
    )


def _verdict(record: Mapping[str, Any]) -> Verdict:
    return Verdict(
        kind=SubjectKind(record["kind"]),
        id=record["id"],
        revision=Revision(record["revision"]),
        level=Level(record["level"]),
        outcome=Outcome(record["outcome"]),
        occasions=record["occasions"],
        reason=record["reason"],
        findings=tuple(_finding(finding) for finding in record["findings"]),
    )


def _finding(record: Mapping[str, Any]) -> Finding:
    place = record["at"]
    return Finding(
        check=record["check"],
        party=Party(record["party"]),
        severity=Outcome(record["severity"]),
        message=record["message"],
        seen=record["seen"],
        expected=record["expected"],
        at=place and Place(place["trace"], place["seq"]),
        url=record["url"],
        fix=record["fix"],
        reproduce=record["reproduce"],
    )
