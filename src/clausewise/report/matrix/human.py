"""The matrix for a person at a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from clausewise.core.matrix import Evidence, Matrix, Row, RowVerdict
from clausewise.report.matrix.parts import (
    counted,
    open_rows,
    remarks,
    sections,
    shown,
    tallies,
    title,
)
from clausewise.report.options import DEFAULTS, Detail, ReportOptions
from clausewise.report.style import Style
from clausewise.report.text import count, in_ascii, shortened, visible

_SHOWN_CHARACTERS = 400
_SHOWN_EVIDENCE = 4
_ROLES = {
    RowVerdict.CONFORMANT: "pass",
    RowVerdict.NON_CONFORMANT: "fail",
    RowVerdict.PARTLY: "warn",
    RowVerdict.DEVIATION: "inconclusive",
}


def render(matrix: Matrix, options: ReportOptions = DEFAULTS) -> str:
    """The matrix as text: rows that are open, problems, where evidence came from, the tally.

    With `Detail.EVERYTHING` all rows; with `Detail.TOTALS` the tally alone.
    """
    text = "\n".join(_Page(matrix, options).lines()) + "\n"
    return text if options.unicode else in_ascii(text)


class _Page:
    def __init__(self, matrix: Matrix, options: ReportOptions) -> None:
        self._matrix, self._options = matrix, options
        self._style = Style(options.colour)

    def lines(self) -> Iterator[str]:
        if self._options.detail > Detail.TOTALS:
            title = f"clausewise audit · {visible(self._matrix.title)}"
            yield self._style.paint(title, "heading")
            yield f"{self._matrix.party} · {' and '.join(self._matrix.revisions)}"
            yield ""
            yield from self._rows()
            yield from self._problems()
            yield from self._sources()
        yield from self._tallies()

    def _rows(self) -> Iterator[str]:
        everything = self._options.detail is Detail.EVERYTHING
        rows = self._matrix.rows if everything else open_rows(self._matrix)
        for group, members in sections(rows).items():
            yield self._style.paint(group.heading, "heading")
            for row in members:
                yield from self._row(row)
            yield ""

    def _row(self, row: Row) -> Iterator[str]:
        verdict = self._style.paint(row.verdict.upper(), _ROLES.get(row.verdict, "label"))
        yield f"  {verdict} {self._style.paint(row.id, 'heading')}  {row.level}"
        yield from self._wrapped(shortened(visible(title(row)), _SHOWN_CHARACTERS), "      ")
        evidence = shown(row)
        everything = self._options.detail is Detail.EVERYTHING
        kept = evidence if everything else evidence[:_SHOWN_EVIDENCE]
        for item in kept:
            yield from self._evidence(item)
        if len(evidence) > len(kept):
            yield f"    and {len(evidence) - len(kept)} more (-v shows all)"
        for remark in remarks(row):
            yield from self._wrapped(f"note: {visible(remark)}", "    ")

    def _evidence(self, item: Evidence) -> Iterator[str]:
        outcome = self._style.paint(item.outcome.ljust(5), item.outcome)
        yield f"    {outcome} {item.kind} {visible(item.pointer)}"
        if item.detail:
            yield from self._wrapped(shortened(visible(item.detail), _SHOWN_CHARACTERS), " " * 10)

    def _problems(self) -> Iterator[str]:
        if not self._matrix.problems:
            return
        yield self._style.paint("Notes on the evidence", "heading")
        for problem in self._matrix.problems:
            told = f"{problem.kind} · {problem.where}: {problem.message}"
            yield from self._wrapped(shortened(visible(told), _SHOWN_CHARACTERS), "  ")
        yield ""

    def _sources(self) -> Iterator[str]:
        if not self._matrix.sources:
            return
        yield self._style.paint("Evidence", "heading")
        for source in self._matrix.sources:
            yield f"  {source.kind} {visible(source.name)}: {counted(source)}"
        yield ""

    def _tallies(self) -> Iterator[str]:
        for tally in tallies(self._matrix):
            head = "".join(name.rjust(9) for name in (*tally.columns, "all"))
            yield self._style.paint(f"{tally.revision:16}{head}", "heading")
            for verdict, numbers in tally.lines:
                cells = "".join(str(number).rjust(9) for number in numbers)
                yield f"{self._style.paint(verdict.ljust(16), _ROLES.get(verdict, ''))}{cells}"
        yield self._verdict()

    def _verdict(self) -> str:
        rows = self._matrix.rows
        broken = sum(row.verdict is RowVerdict.NON_CONFORMANT for row in rows)
        if not self._matrix.shows_anything:
            return self._style.paint("verdict: no evidence shows anything", "heading")
        shown_rows = sum(row.verdict is RowVerdict.CONFORMANT for row in rows)
        role = "fail" if broken else "pass"
        told = f"verdict: {broken} non-conformant, {shown_rows} conformant"
        return f"{self._style.paint(told, role)} of {count(len(rows), 'row')}"

    def _wrapped(self, text: str, indent: str) -> list[str]:
        return textwrap.wrap(
            text,
            max(self._options.width, len(indent) + 20),
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )
