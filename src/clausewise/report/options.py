"""How a report is to look and what it counts."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from clausewise.core.threshold import KnownFindings
from clausewise.core.vocabulary import FailOn


class Detail(IntEnum):
    """How much the terminal report tells."""

    TOTALS = 0
    FINDINGS = 1
    EVERYTHING = 2


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Choices that a format may use; one that has no use for a choice ignores it.

    Attributes:
        width: columns of the terminal report.
        colour: whether the terminal report uses ANSI colours.
        unicode: whether the terminal report may use characters beyond ASCII of its own.
        detail: how much the terminal report tells.
        fail_on: the threshold that the exit code uses, for what counts as failed.
        known: findings that a baseline lists; they do not count.
    """

    width: int = 100
    colour: bool = False
    unicode: bool = True
    detail: Detail = Detail.FINDINGS
    fail_on: FailOn = FailOn.MUST
    known: KnownFindings = frozenset()


DEFAULTS = ReportOptions()
