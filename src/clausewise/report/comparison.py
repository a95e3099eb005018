"""Two results or matrices side by side, as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from itertools import groupby
from typing import Any

from clausewise import __version__
from clausewise.core.comparison import Change, Comparison, Difference, Row
from clausewise.report.documents import shipped_schema
from clausewise.report.markdown_text import plain
from clausewise.report.options import ReportOptions
from clausewise.report.style import Style
from clausewise.report.text import count, storable, visible

SCHEMA = "clausewise.diff/1"

_ROLES = {
    Change.BROKE: "fail",
    Change.WORSE: "fail",
    Change.NEWLY_BROKEN: "fail",
    Change.FIXED: "pass",
    Change.BETTER: "pass",
    Change.NEWLY_KEPT: "pass",
    Change.LOST: "inconclusive",
}


class ComparisonFormat(StrEnum):
    """How a comparison can be shown."""

    HUMAN = "human"
    JSON = "json"
    MARKDOWN = "markdown"


def render(comparison: Comparison, format_: ComparisonFormat, options: ReportOptions) -> str:
    """The comparison in one format, ending with a newline; the target's text is escaped."""
    if format_ is ComparisonFormat.JSON:
        return json.dumps(document(comparison), indent=2, ensure_ascii=False) + "\n"
    if format_ is ComparisonFormat.MARKDOWN:
        return "\n".join(_markdown(comparison)) + "\n"
    return "\n".join(_human(comparison, Style(options.colour))) + "\n"


def document(comparison: Comparison) -> dict[str, Any]:
    """The comparison as a JSON value that fits `schema()`."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "clausewise", "version": __version__},
        "old": storable(comparison.names[0]),
        "new": storable(comparison.names[1]),
        "shared": comparison.shared,
        "figures": [
            {"label": figure.label, "old": figure.old, "new": figure.new}
            for figure in comparison.figures
        ],
        "differences": [_record(difference) for difference in comparison.differences],
        "setbacks": len(comparison.setbacks),
    }


def schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of `clausewise.diff/1`."""
    return shipped_schema("diff-1")


def _record(difference: Difference) -> dict[str, Any]:
    return {
        "kind": difference.subject.kind,
        "id": difference.subject.id,
        "revision": difference.subject.revision,
        "level": difference.level,
        "change": difference.change.value,
        "old": difference.old.word if difference.old is not None else None,
        "new": difference.new.word if difference.new is not None else None,
        "appeared": [storable(fault) for fault in _appeared(difference)],
        "vanished": [storable(fault) for fault in _vanished(difference)],
    }


def _faults(row: Row | None) -> frozenset[str]:
    return row.faults if row is not None else frozenset()


def _appeared(difference: Difference) -> list[str]:
    return sorted(_faults(difference.new) - _faults(difference.old))


def _vanished(difference: Difference) -> list[str]:
    return sorted(_faults(difference.old) - _faults(difference.new))


def _labelled_faults(difference: Difference) -> Iterator[tuple[str, str]]:
    """Faults that came and went; one that nothing decided this time is not gone."""
    yield from (("now", fault) for fault in _appeared(difference))
    gone = "was" if difference.change is Change.LOST else "no more"
    yield from ((gone, fault) for fault in _vanished(difference))


def _words(difference: Difference) -> str:
    old, new = difference.old, difference.new
    return f"{old.word if old else 'absent'} → {new.word if new else 'absent'}"


def _human(comparison: Comparison, style: Style) -> Iterator[str]:
    old, new = (visible(name) for name in comparison.names)
    yield style.paint(f"clausewise diff · {old} → {new}", "heading")
    yield ""
    yield from _table(comparison)
    yield ""
    for change, differences in groupby(comparison.differences, lambda each: each.change):
        yield style.paint(change.capitalize(), _ROLES.get(change, "heading"))
        for difference in differences:
            yield f"  {difference.subject.id}  {difference.level}  {_words(difference)}"
            for label, fault in _labelled_faults(difference):
                yield f"      {label}: {visible(fault)}"
        yield ""
    yield _conclusion(comparison)


def _table(comparison: Comparison) -> Iterator[str]:
    rows = [("", "before", "after"), *((f.label, f.old, f.new) for f in comparison.figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(2)]
    for label, old, new in rows:
        yield f"  {label.ljust(widths[0])}  {old.ljust(widths[1])}  {new}".rstrip()


def _conclusion(comparison: Comparison) -> str:
    setbacks = len(comparison.setbacks)
    told = f"{count(comparison.shared, 'clause or rule', 'clauses and rules')} compared"
    return f"{told}: {count(setbacks, 'setback') if setbacks else 'nothing broke'}"


def _markdown(comparison: Comparison) -> Iterator[str]:
    yield "| | before | after |"
    yield "|---|---|---|"
    for figure in comparison.figures:
        yield f"| {figure.label} | {figure.old} | {figure.new} |"
    yield ""
    for change, differences in groupby(comparison.differences, lambda each: each.change):
        yield f"**{change.capitalize()}**"
        yield ""
        for difference in differences:
            yield f"- {difference.subject.id} ({difference.level}): {_words(difference)}"
            for label, fault in _labelled_faults(difference):
                yield f"  - {label}: {plain(fault)}"
        yield ""
    yield _conclusion(comparison) + "."
