"""The matrix as one HTML file: no script, nothing loaded, every text escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from clausewise.core.matrix import Evidence, Matrix, Row, RowVerdict
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
from clausewise.report.text import visible

_STYLE = """\
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;
color:#1b1f24;background:#fff}
table{border-collapse:collapse;width:100%;margin:0 0 1.5rem}
th,td{border:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}
th{background:#f3f5f7}td.n{text-align:right}code{font-size:.9em;overflow-wrap:anywhere}
.v{white-space:nowrap;font-weight:600}.conformant{color:#116329}.non-conformant{color:#b3122a}
.partly,.deviation{color:#8a4b00}.q{color:#57606a}ul{margin:0;padding-left:1.1rem}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}
th{background:#161b22}th,td{border-color:#30363d}.conformant{color:#56d364}
.non-conformant{color:#ff7b72}.partly,.deviation{color:#e3b341}.q{color:#9198a1}a{color:#58a6ff}}
"""


def render(matrix: Matrix, options: ReportOptions = DEFAULTS) -> str:  # noqa: ARG001
    """The whole matrix as a page of its own; each row can be linked to by its id."""
    return "\n".join(_lines(matrix)) + "\n"


def _lines(matrix: Matrix) -> Iterator[str]:
    heading = f"Conformance: {_text(matrix.title)}"
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{heading}</title>'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<style>\n{_STYLE}</style></head><body>"
    yield f"<h1>{heading}</h1>"
    yield f"<p>{matrix.party}, revision {' and '.join(matrix.revisions)}</p>"
    yield from _summary(matrix)
    yield from _sources(matrix)
    yield from _problems(matrix)
    for group, rows in sections(matrix.rows).items():
        yield f"<h2>{_text(group.heading)}</h2>"
        yield from _table(rows)
    yield "</body></html>"


def _summary(matrix: Matrix) -> Iterator[str]:
    for tally in tallies(matrix):
        heads = "".join(f"<th>{name}</th>" for name in (*tally.columns, "all"))
        yield f"<table><tr><th>{tally.revision}</th>{heads}</tr>"
        for verdict, numbers in tally.lines:
            cells = "".join(f'<td class="n">{number}</td>' for number in numbers)
            yield f'<tr><td class="v {verdict}" title="{_text(verdict.meaning)}">{verdict}</td>'
            yield f"{cells}</tr>"
        yield "</table>"


def _sources(matrix: Matrix) -> Iterator[str]:
    if matrix.sources:
        yield "<h2>Evidence</h2><table><tr><th>kind</th><th>source</th><th>counts</th></tr>"
        for source in matrix.sources:
            told = f"{counted(source)} ({COUNTED[source.kind]})"
            yield f"<tr><td>{source.kind}</td><td><code>{_text(source.name)}</code></td>"
            yield f"<td>{told}</td></tr>"
        yield "</table>"


def _problems(matrix: Matrix) -> Iterator[str]:
    if matrix.problems:
        yield "<h2>Notes on the evidence</h2><ul>"
        for problem in matrix.problems:
            where = f"<code>{_text(problem.where)}</code>"
            yield f"<li>{problem.kind}: {where}: {_text(problem.message)}</li>"
        yield "</ul>"


def _table(rows: list[Row]) -> Iterator[str]:
    yield "<table><tr><th>clause</th><th>level</th><th>verdict</th><th>evidence</th></tr>"
    for row in rows:
        link = f'<a href="{escape(row.url)}">{_text(row.id)}</a>'
        sentence = f'<div class="q">{_text(title(row))}</div>'
        yield f'<tr id="{_text(row.id)}"><td>{link}{sentence}</td><td>{row.level}</td>'
        yield f'<td class="v {row.verdict}">{row.verdict}</td><td>{_cell(row)}</td></tr>'
    yield "</table>"


def _cell(row: Row) -> str:
    items = [_evidence(item) for item in shown(row)]
    items += [f"<em>{_text(remark)}</em>" for remark in remarks(row)]
    if not items:
        return "" if row.verdict is not RowVerdict.UNPROVEN else '<span class="q">none</span>'
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"


def _evidence(item: Evidence) -> str:
    told = f"{item.outcome}: {item.kind} <code>{_text(item.pointer)}</code>"
    return f"{told} {_text(item.detail)}" if item.detail else told


def _text(text: str) -> str:
    return escape(visible(text))
