"""The matrix as a page: a summary first, then every clause and rule, area by area."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath

from clausewise.core.matrix import (
    Evidence,
    EvidenceKind,
    Matrix,
    Problem,
    Row,
    RowVerdict,
)
from clausewise.report.markdown_text import address, code, plain
from clausewise.report.matrix.parts import (
    COUNTED,
    counted,
    open_rows,
    remarks,
    sections,
    shown,
    tallies,
)
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.text import shortened

_SHOWN_CHARACTERS = 300
_SHOWN_EVIDENCE = 6
_AT_ROOT = PurePosixPath("page.md")
_BOLD = (RowVerdict.NON_CONFORMANT, RowVerdict.PARTLY, RowVerdict.DEVIATION)


def render(matrix: Matrix, options: ReportOptions = DEFAULTS) -> str:  # noqa: ARG001
    """The page for standard output: links to files are relative to the project's folder."""
    return page(matrix, _AT_ROOT)


def page(matrix: Matrix, place: PurePosixPath) -> str:
    """The page that is to stand at `place`, a path relative to the project's folder.

    Equal matrices give equal bytes: it names no time, version or absolute path.
    """
    return "\n".join(_Page(matrix, place).lines()).rstrip("\n") + "\n"


@dataclass(frozen=True, slots=True)
class _Page:
    matrix: Matrix
    place: PurePosixPath

    def lines(self) -> Iterator[str]:
        matrix = self.matrix
        yield f"# Conformance: {plain(matrix.title)}"
        yield ""
        yield (
            f"How this {matrix.party} stands to each MUST, MUST NOT, SHOULD and SHOULD NOT that "
            f"binds it, in revision {' and '.join(matrix.revisions)} of the Model Context "
            "Protocol, and what that rests on. Written by `clausewise audit`; do not edit."
        )
        yield ""
        yield from self._summary()
        yield from self._open()
        yield from self._sources()
        yield from self._problems()
        yield from self._areas()

    def _summary(self) -> Iterator[str]:
        yield "## Summary"
        yield ""
        for tally in tallies(self.matrix):
            yield f"| {tally.revision} | {' | '.join(tally.columns)} | all |"
            yield "|---|" + "---:|" * (len(tally.columns) + 1)
            for verdict, numbers in tally.lines:
                yield f"| {verdict} | {' | '.join(map(str, numbers))} |"
            yield f"| all | {' | '.join(map(str, tally.sums))} |"
            yield ""
        present = {row.verdict for row in self.matrix.rows}
        yield from (f"- *{v}*: {v.meaning}" for v in RowVerdict if v in present)
        yield ""

    def _open(self) -> Iterator[str]:
        rows = open_rows(self.matrix)
        if rows:
            yield "## What is not conformant"
            yield ""
            yield from self._table(rows)

    def _sources(self) -> Iterator[str]:
        if not self.matrix.sources:
            return
        yield "## Evidence"
        yield ""
        yield "| kind | source | counts | of |"
        yield "|---|---|---|---|"
        for source in self.matrix.sources:
            told = f"{code(source.name)} | {counted(source)} | {COUNTED[source.kind]}"
            yield f"| {source.kind} | {told} |"
        yield ""

    def _problems(self) -> Iterator[str]:
        if self.matrix.problems:
            yield "## Notes on the evidence"
            yield ""
            yield from (self._problem(problem) for problem in self.matrix.problems)
            yield ""

    def _problem(self, problem: Problem) -> str:
        message = plain(shortened(problem.message, _SHOWN_CHARACTERS))
        return f"- {problem.kind}: {code(problem.where)}: {message}"

    def _areas(self) -> Iterator[str]:
        for group, rows in sections(self.matrix.rows).items():
            yield f"## {group.heading}"
            yield ""
            yield from self._table(rows)

    def _table(self, rows: list[Row]) -> Iterator[str]:
        yield "| id | level | verdict | evidence |"
        yield "|---|---|---|---|"
        for row in rows:
            verdict = f"**{row.verdict}**" if row.verdict in _BOLD else row.verdict
            link = f"[{row.id}](<{address(row.url)}>)"
            yield f"| {link} | {row.level} | {verdict} | {self._cell(row)} |"
        yield ""

    def _cell(self, row: Row) -> str:
        evidence = shown(row)
        told = [self._evidence(item) for item in evidence[:_SHOWN_EVIDENCE]]
        if len(evidence) > _SHOWN_EVIDENCE:
            told.append(f"and {len(evidence) - _SHOWN_EVIDENCE} more")
        told += [f"*{plain(shortened(remark, _SHOWN_CHARACTERS))}*" for remark in remarks(row)]
        return "<br>".join(told)

    def _evidence(self, item: Evidence) -> str:
        pointer, link = code(item.pointer).replace("|", "\\|"), self._link(item)
        if link is not None:
            pointer = f"[{pointer}](<{address(link)}>)"
        told = f"{item.outcome}: {item.kind} {pointer}"
        if item.detail and item.kind is not EvidenceKind.TEST:
            told += f" {plain(shortened(item.detail, _SHOWN_CHARACTERS))}"
        return told

    def _link(self, item: Evidence) -> str | None:
        """From the page's folder to a test; forges take `#L12` for a line.

        Other evidence may not be in the repository; from a page outside the project's folder
        the way back into it is not known.
        """
        here, there = self.place.parent.parts, PurePosixPath(item.path).parts
        if item.kind is not EvidenceKind.TEST or ".." in here:
            return None
        alike = (one == other for one, other in zip(here, there, strict=False))
        shared = sum(1 for _ in takewhile(bool, alike))
        steps = (*([".."] * (len(here) - shared)), *there[shared:])
        return "/".join(steps) + (f"#L{item.line}" if item.line else "")
