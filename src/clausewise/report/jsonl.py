"""The verdicts as JSON Lines: each line is one member of the JSON report's `results`."""

from __future__ import annotations

import json

from clausewise.core.results import RunResult
from clausewise.report.json import verdict_record
from clausewise.report.options import DEFAULTS, ReportOptions


def render(result: RunResult, options: ReportOptions = DEFAULTS) -> str:  # noqa: ARG001
    """One line a verdict; empty when there are none."""
    return "".join(
        json.dumps(verdict_record(verdict), ensure_ascii=False) + "\n"
        for verdict in result.verdicts
    )
