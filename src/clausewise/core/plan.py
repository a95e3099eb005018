"""What a check of a live server would look at, and what not: the answer of `check --list`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from clausewise.core.results import SubjectKind, Target
from clausewise.core.vocabulary import Era, Level, Outcome, Revision


class Means(StrEnum):
    """What decides a clause or rule."""

    PROBE = "probe"
    """An experiment of its own."""
    TRAFFIC = "traffic"
    """All that the probes and the server say to each other."""
    RECORDING = "recording"
    """The recording of the legacy session, by checks."""


@dataclass(frozen=True, slots=True)
class PlannedSubject:
    """One clause or rule: what would decide it, or why nothing would.

    Attributes:
        means: what decides it; None where nothing does, whatever the server.
        impact: what its probe does at most: `none` (lists, and requests that are refused),
            `reads` a resource or gets a prompt, `calls` a tool that may be called.
        outcome: the outcome that it would have unseen; None where it would be looked at.
        reason: why; None where it would be looked at.
    """

    kind: SubjectKind
    id: str
    revision: Revision
    level: Level
    title: str
    means: Means | None
    impact: str | None = None
    outcome: Outcome | None = None
    reason: str | None = None

    @property
    def runs(self) -> bool:
        """Whether it would be looked at."""
        return self.outcome is None


@dataclass(frozen=True, slots=True)
class Tools:
    """The names of the listed tools, by whether a check may call them."""

    callable: tuple[str, ...] = ()
    spared: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """What a check would do with one server; the subjects are in the order of a result."""

    target: Target
    era: Era | None
    revisions: tuple[Revision, ...]
    subjects: tuple[PlannedSubject, ...]
    tools: Tools
    notes: tuple[str, ...] = ()
