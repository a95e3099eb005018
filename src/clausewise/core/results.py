"""What a run yields: verdicts with their findings, and the run around them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from clausewise.core.vocabulary import (
    SEVERITY_ORDER,
    Era,
    Level,
    Outcome,
    Party,
    Revision,
)

PLANNED = "planned"
"""The word in the reason of a verdict about a clause or rule that has no check or probe yet."""


class SubjectKind(StrEnum):
    """What a verdict is about."""

    RULE = "rule"
    CLAUSE = "clause"


UNSAVED = "check"
"""The name of the recording of a check that is not saved."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a trace something was seen: the trace's name and the event's `seq`."""

    trace: str
    seq: int

    @property
    def file(self) -> str | None:
        """The trace's path, or None where the recording is not saved."""
        return None if self.trace == UNSAVED else self.trace


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken occasion: who broke it, where, what was seen and what was due.

    `check` names the check or probe that found it. `severity` is fail, warn or info.
    `reproduce` is a command that shows the fault on a live target, or None.
    """

    check: str
    party: Party
    severity: Outcome
    message: str
    seen: str
    expected: str
    at: Place | None
    url: str
    fix: str
    reproduce: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one clause or rule.

    `occasions` counts decided occasions; `reason` says why an outcome that is no
    judgement came about (null for judgements).
    """

    kind: SubjectKind
    id: str
    revision: Revision
    level: Level
    outcome: Outcome
    occasions: int = 0
    reason: str | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def is_planned(self) -> bool:
        """Whether it is not observed because nothing judges it yet: its reason says so."""
        return self.outcome is Outcome.NOT_OBSERVED and PLANNED in (self.reason or "")


@dataclass(frozen=True, slots=True)
class Implementation:
    """Name and version that a peer gives of itself."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Target:
    """What was judged: `kind` is `streamable-http`, `stdio` or `trace`."""

    kind: str
    name: str
    server: Implementation | None = None


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """What became of one of several traces: the worst outcome in it, how many events it has.

    `verdict` is not-observed for one that could not be read; `notes` then say why.
    """

    name: str
    verdict: Outcome
    events: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplayedAnswer:
    """What a replayed request was answered, beside the recording.

    `seq` is the request's number in the recording, `title` its method; `differences` are empty
    when the answer is as recorded.
    """

    seq: int
    title: str
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunResult:
    """Everything one command found.

    `started` (ISO 8601, UTC) and `duration_s` are set by live runs only: judging a
    trace must give the same bytes each time. `notes` are remarks about the run as a whole.
    `traces` sums up each trace where several were judged together. `party` is the only side
    whose duties were judged, None for both. `answers` are those of a replay.
    """

    command: str
    target: Target
    era: Era | None
    revisions: tuple[Revision, ...]
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    started: str | None = None
    duration_s: float | None = None
    traces: tuple[TraceSummary, ...] = ()
    party: Party | None = None
    answers: tuple[ReplayedAnswer, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst outcome over all verdicts; not-observed when nothing was judged."""
        return worst_of(self.verdicts)

    @property
    def judged(self) -> bool:
        """Whether at least one clause or rule was decided."""
        return any(v.outcome.is_judgement for v in self.verdicts)


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """The first of SEVERITY_ORDER among `outcomes`; not-observed when there are none."""
    present = set(outcomes)
    for outcome in SEVERITY_ORDER:
        if outcome in present:
            return outcome
    return Outcome.NOT_OBSERVED


def worst_of(verdicts: Iterable[Verdict]) -> Outcome:
    """The worst outcome of what was not excluded; not-observed when there is nothing."""
    return worst(v.outcome for v in verdicts if v.outcome is not Outcome.EXCLUDED)


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of outcomes per kind of subject, in the order of first use."""

    counts: dict[SubjectKind, dict[Outcome, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> Totals:
        counts: dict[SubjectKind, dict[Outcome, int]] = {}
        for verdict in verdicts:
            per_kind = counts.setdefault(verdict.kind, {})
            per_kind[verdict.outcome] = per_kind.get(verdict.outcome, 0) + 1
        return cls(counts)
