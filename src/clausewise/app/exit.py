"""The exit code of a run."""

from __future__ import annotations

from clausewise.core.errors import ExitCode
from clausewise.core.results import RunResult
from clausewise.core.threshold import KnownFindings, counts
from clausewise.core.vocabulary import FailOn, Outcome


def exit_code(
    result: RunResult, fail_on: FailOn = FailOn.MUST, known: KnownFindings = frozenset()
) -> ExitCode:
    """What the process is to exit with; no format or report has a say in it.

    The first that holds: something counts at or above `fail_on` (1), a check or probe
    crashed (2), nothing was judged (3), else 0. An inconclusive verdict counts only
    where something was judged.
    """
    if result.judged and any(counts(verdict, fail_on, known) for verdict in result.verdicts):
        return ExitCode.FINDINGS
    if any(verdict.outcome is Outcome.CRASHED for verdict in result.verdicts):
        return ExitCode.USAGE
    return ExitCode.OK if result.judged else ExitCode.NOTHING_JUDGED
