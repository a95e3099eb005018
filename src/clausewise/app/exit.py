"""The exit code of a run, and of an audit."""

from __future__ import annotations

from clausewise.core.errors import ExitCode
from clausewise.core.matrix import Matrix, Row, RowVerdict
from clausewise.core.results import RunResult
from clausewise.core.threshold import KnownFindings, counts
from clausewise.core.vocabulary import FailOn, Level, Outcome


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


def matrix_exit_code(matrix: Matrix, fail_on: FailOn = FailOn.MUST) -> ExitCode:
    """As `exit_code`, for rows: non-conformant ones count by their level, partly ones as open."""
    if not matrix.shows_anything:
        return ExitCode.NOTHING_JUDGED
    counting = any(_row_counts(row, fail_on) for row in matrix.rows)
    return ExitCode.FINDINGS if counting else ExitCode.OK


def _row_counts(row: Row, fail_on: FailOn) -> bool:
    if fail_on is FailOn.NEVER:
        return False
    if row.verdict is RowVerdict.PARTLY:
        return fail_on is FailOn.INCONCLUSIVE
    if row.verdict is not RowVerdict.NON_CONFORMANT:
        return False
    return fail_on is not FailOn.MUST or row.level in (Level.MUST, Level.MUST_NOT)
