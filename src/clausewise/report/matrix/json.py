"""The matrix as JSON: `clausewise.matrix/1`, and reading it back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clausewise import __version__
from clausewise.core.matrix import (
    Evidence,
    EvidenceKind,
    Matrix,
    Problem,
    ProblemKind,
    Row,
    RowVerdict,
    Source,
)
from clausewise.core.results import SubjectKind
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from clausewise.report.documents import read_document, shipped_schema
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.text import storable

MATRIX_SCHEMA = "clausewise.matrix/1"
_HINT = "Write one with `clausewise audit --format json` or `clausewise audit --write`."


def render(matrix: Matrix, options: ReportOptions = DEFAULTS) -> str:  # noqa: ARG001
    """The whole matrix as one indented JSON object with a final newline.

    Members and rows have a fixed order, so equal matrices give equal bytes.
    """
    return json.dumps(document(matrix), indent=1, ensure_ascii=False) + "\n"


def document(matrix: Matrix) -> dict[str, Any]:
    """The matrix as a JSON value that fits `schema()`."""
    return {
        "schema": MATRIX_SCHEMA,
        "tool": {"name": "clausewise", "version": __version__},
        "title": storable(matrix.title),
        "party": matrix.party.value,
        "revisions": [revision.value for revision in matrix.revisions],
        "rows": [_row_record(row) for row in matrix.rows],
        "sources": [
            {"kind": s.kind.value, "name": storable(s.name), "counts": dict(s.counts)}
            for s in matrix.sources
        ],
        "problems": [
            {"kind": p.kind.value, "where": storable(p.where), "message": storable(p.message)}
            for p in matrix.problems
        ],
    }


def _row_record(row: Row) -> dict[str, Any]:
    return {
        "kind": row.kind.value,
        "id": row.id,
        "revision": row.revision.value,
        "level": row.level.value,
        "url": row.url,
        "condition": row.condition,
        "verdict": row.verdict.value,
        "reason": row.reason and storable(row.reason),
        "notes": [storable(note) for note in row.notes],
        "excluded": row.excluded,
        "evidence": [_evidence_record(evidence) for evidence in row.evidence],
    }


def _evidence_record(evidence: Evidence) -> dict[str, Any]:
    return {
        "kind": evidence.kind.value,
        "outcome": evidence.outcome.value,
        "pointer": storable(evidence.pointer),
        "path": storable(evidence.path),
        "line": evidence.line,
        "detail": storable(evidence.detail),
    }


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of `clausewise.matrix/1`."""
    return shipped_schema("matrix-1")


def load(text: bytes, name: str) -> Matrix:
    """The matrix that `text` holds; `name` is what errors call its source.

    Raises:
        UsageError: no JSON, or not of `clausewise.matrix/1`.
    """
    return _matrix(read_document(text, name, MATRIX_SCHEMA, _HINT))


def _matrix(record: Mapping[str, Any]) -> Matrix:
    return Matrix(
        title=record["title"],
        party=Party(record["party"]),
        revisions=tuple(Revision(revision) for revision in record["revisions"]),
        rows=tuple(_row(row) for row in record["rows"]),
        sources=tuple(
            Source(
                EvidenceKind(source["kind"]),
                source["name"],
                {Outcome(outcome): number for outcome, number in source["counts"].items()},
            )
            for source in record["sources"]
        ),
        problems=tuple(
            Problem(ProblemKind(problem["kind"]), problem["where"], problem["message"])
            for problem in record["problems"]
        ),
    )


def _row(record: Mapping[str, Any]) -> Row:
    return Row(
        kind=SubjectKind(record["kind"]),
        id=record["id"],
        revision=Revision(record["revision"]),
        level=Level(record["level"]),
        url=record["url"],
        condition=record["condition"],
        verdict=RowVerdict(record["verdict"]),
        reason=record["reason"],
        notes=tuple(record["notes"]),
        excluded=record["excluded"],
        evidence=tuple(_evidence(evidence) for evidence in record["evidence"]),
    )


def _evidence(record: Mapping[str, Any]) -> Evidence:
    return Evidence(
        kind=EvidenceKind(record["kind"]),
        outcome=Outcome(record["outcome"]),
        pointer=record["pointer"],
        path=record["path"],
        line=record["line"],
        detail=record["detail"],
    )
