"""Deliver a run's result: reports to standard output and files, the baseline, the exit code."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clausewise.app import baseline
from clausewise.app.exit import exit_code
from clausewise.cli.options import ReportChoice
from clausewise.cli.terminal import WIDEST, show
from clausewise.core.errors import ExitCode, UsageError
from clausewise.core.results import RunResult
from clausewise.core.threshold import KnownFindings
from clausewise.report.formats import Format, render
from clausewise.report.options import Detail, ReportOptions
from clausewise.report.text import count, visible


def deliver(result: RunResult, choice: ReportChoice, values: Mapping[str, Any]) -> ExitCode:
    """Compare with the baseline, write every report, and say how to exit.

    Raises:
        ConfigError: the baseline cannot be read.
        UsageError: a file cannot be written.
    """
    known = _known(result, values)
    options = dataclasses.replace(choice.options, known=known)
    write_reports(result, choice, options)
    code = exit_code(result, options.fail_on, known)
    if code is ExitCode.NOTHING_JUDGED:
        log("nothing was judged: no clause or rule had an occasion that could be decided")
    return code


def write_reports(result: RunResult, choice: ReportChoice, options: ReportOptions) -> None:
    """Write the reports to files, then the one to standard output."""
    in_file = dataclasses.replace(options, colour=False, unicode=True, width=WIDEST)
    if options.detail is Detail.TOTALS:
        in_file = dataclasses.replace(in_file, detail=Detail.FINDINGS)
    for format_, path in choice.files:
        try:
            path.write_text(render(result, format_, in_file), encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(
                f"cannot write the report {path}: {error.strerror}",
                "Name a file in a folder that exists and may be written.",
            ) from None
    show(render(result, choice.stdout, options), for_people=choice.stdout is Format.HUMAN)


def log(message: str) -> None:
    """One line on standard error."""
    sys.stderr.write(f"{visible(message)}\n")


def _known(result: RunResult, values: Mapping[str, Any]) -> KnownFindings:
    if values["write_baseline"] is not None:
        path: Path = values["write_baseline"]
        log(f"wrote {count(baseline.write(path, result), 'entry', 'entries')} to {path}")
        return baseline.match(result, baseline.read(path)).known
    if values["baseline"] is None:
        return frozenset()
    compared = baseline.match(result, baseline.read(values["baseline"]))
    for entry in compared.stale:
        log(f"stale in the baseline: {entry.id} {entry.check}: {entry.message}")
    return compared.known
