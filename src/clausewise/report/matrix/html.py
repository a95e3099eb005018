"""The matrix as one HTML file: no script, nothing loaded, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clausewise.core.matrix import Evidence, Matrix, Row, RowVerdict
from clausewise.core.vocabulary import Level
from clausewise.report.matrix.parts import (
    COUNTED,
    counted,
    remarks,
    sections,
    shown,
    tallies,
    title,
)
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.pages import template
from clausewise.report.text import linkable


@dataclass(frozen=True, slots=True)
class _Row:
    """A row as the template shows it; `url` is empty where it is no address to follow."""

    id: str
    url: str
    title: str
    level: Level
    verdict: RowVerdict
    evidence: Sequence[Evidence]
    remarks: Sequence[str]


def render(matrix: Matrix, options: ReportOptions = DEFAULTS) -> str:  # noqa: ARG001
    """The whole matrix as a page of its own; each row can be linked to by its id."""
    page = template("matrix.html").render(
        matrix=matrix,
        tallies=tallies(matrix),
        sources=[(source, counted(source), COUNTED[source.kind]) for source in matrix.sources],
        sections=[
            (group.heading, [_shown(row) for row in rows])
            for group, rows in sections(matrix.rows).items()
        ],
    )
    return page + "\n"


def _shown(row: Row) -> _Row:
    url = row.url if linkable(row.url) else ""
    return _Row(row.id, url, title(row), row.level, row.verdict, shown(row), remarks(row))
