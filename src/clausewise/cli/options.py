"""Options that several commands share, and what they are read into."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import click

from clausewise.app.selection import Selection
from clausewise.cli.colour import use_colour
from clausewise.cli.settings import setting, together
from clausewise.cli.terminal import terminal_width
from clausewise.core.errors import UsageError
from clausewise.core.suggestion import did_you_mean
from clausewise.core.vocabulary import FailOn, Level, Revision
from clausewise.report.formats import Format
from clausewise.report.options import Detail, ReportOptions


def values_of(choices: type[StrEnum]) -> list[str]:
    """The words of a closed set, for `click.Choice`, which would show an enum's names."""
    return [choice.value for choice in choices]


selection_options = together(
    setting(
        "revision",
        type=click.Choice(["auto", *values_of(Revision)]),
        default="auto",
        show_default=True,
        help="Judge by this revision only; auto judges by all that are spoken.",
    ),
    setting(
        "select",
        multiple=True,
        metavar="ID",
        help="Report only these ids or beginnings of ids (MCP-ERR); repeat or use commas.",
    ),
    setting("ignore", multiple=True, metavar="ID", help="Leave these out, as --select."),
)
"""`--revision`, `--select`, `--ignore`."""


report_options = together(
    setting(
        "format",
        "format_",
        type=click.Choice(values_of(Format)),
        default=Format.HUMAN.value,
        show_default=True,
        help="What to write to standard output.",
    ),
    click.option(
        "--report",
        "reports",
        multiple=True,
        metavar="FORMAT=PATH",
        help="Also write a report to a file (html=page.html, sarif=x.sarif); repeatable.",
    ),
    setting(
        "color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="NO_COLOR and FORCE_COLOR decide when auto.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Totals only; no progress."),
    click.option(
        "-v", "--verbose", is_flag=True, help="All findings, passes and reasons; tracebacks."
    ),
)
"""`--format`, `--report`, `--color`, `-q`, `-v`."""


verdict_options = together(
    setting(
        "fail-on",
        type=click.Choice(values_of(FailOn)),
        default=FailOn.MUST.value,
        show_default=True,
        help="Exit with 1 from this on; inconclusive takes in must and should.",
    ),
    setting(
        "baseline",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Findings that FILE lists do not count; entries that became stale are told.",
    ),
    click.option(
        "--write-baseline",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write all findings of this run to FILE and exit as if they were known.",
    ),
)
"""`--fail-on`, `--baseline`, `--write-baseline`."""


@dataclass(frozen=True, slots=True)
class ReportChoice:
    """Where the reports go: a format on standard output, formats to files."""

    stdout: Format
    files: tuple[tuple[Format, Path], ...]
    options: ReportOptions

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ReportChoice:
        """From the values of `report_options` (and `verdict_options`).

        Raises:
            UsageError: a --report that is not FORMAT=PATH, or both -q and -v.
        """
        if values["quiet"] and values["verbose"]:
            raise UsageError("both --quiet and --verbose", "Give one of them.")
        detail = Detail.TOTALS if values["quiet"] else Detail.FINDINGS
        encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
        return cls(
            stdout=Format(values["format_"]),
            files=tuple(_report_file(text) for text in values["reports"]),
            options=ReportOptions(
                width=terminal_width(),
                colour=use_colour(values["color"], sys.stdout),
                unicode=encoding.startswith("utf"),
                detail=Detail.EVERYTHING if values["verbose"] else detail,
                fail_on=FailOn(values.get("fail_on", FailOn.MUST)),
            ),
        )


def selection_of(values: Mapping[str, Any], lowest_level: Level = Level.MAY) -> Selection:
    """From the values of `selection_options`; ids may stand in one value with commas."""
    revision = values["revision"]
    return Selection.of(
        [word for value in values["select"] for word in value.split(",")],
        [word for value in values["ignore"] for word in value.split(",")],
        lowest_level,
        None if revision == "auto" else Revision(revision),
    )


def _report_file(text: str) -> tuple[Format, Path]:
    name, equals, path = text.partition("=")
    if not equals or not path:
        raise UsageError(f"--report {text!r} is not FORMAT=PATH", "For example junit=result.xml.")
    if name not in list(Format):
        near = did_you_mean(name, list(Format))
        raise UsageError(f"no format {name!r}", near or f"Formats: {', '.join(Format)}.")
    return Format(name), Path(path)
