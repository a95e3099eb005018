"""`clausewise check --list`: what a check would look at, and what not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from clausewise.app import plan
from clausewise.cli.settings import from_command_line
from clausewise.cli.terminal import show, terminal_width
from clausewise.core.errors import UsageError
from clausewise.report.plan import PlanFormat, render

if TYPE_CHECKING:
    from clausewise.app.check import CheckOptions
    from clausewise.transport.http import HttpTarget
    from clausewise.transport.stdio import StdioTarget

_FOR_A_RUN = {
    "reports": "--report",
    "save_trace": "--save-trace",
    "write_baseline": "--write-baseline",
}


def show_plan(
    target: HttpTarget | StdioTarget, options: CheckOptions, values: Mapping[str, Any]
) -> None:
    """Write the plan to standard output.

    Raises:
        UsageError: an option that needs a whole run, or a format that a plan does not have.
        TargetError: the target cannot be reached or speaks no MCP.
    """
    for name, option in _FOR_A_RUN.items():
        if values[name]:
            raise UsageError(f"--list judges nothing for {option}", "Leave one of them out.")
    format_ = _format(values["format_"])
    text = render(plan.run(target, options), format_, terminal_width())
    show(text, for_people=format_ is PlanFormat.HUMAN)


def _format(name: str) -> PlanFormat:
    if name in list(PlanFormat):
        return PlanFormat(name)
    if from_command_line("format_"):
        raise UsageError(f"--list has no format {name}", f"Formats: {', '.join(PlanFormat)}.")
    return PlanFormat.HUMAN
