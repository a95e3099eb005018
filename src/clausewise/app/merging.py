"""Put verdicts about the same clause or rule, drawn from several traces, together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field

from clausewise.core.results import Finding, SubjectKind, Verdict, worst
from clausewise.core.vocabulary import Outcome, Revision

_NAMED_TRACES = 3
_TOLD_REASONS = 3


@dataclass(slots=True)
class _Subject:
    """What the traces say about one clause or rule.

    `reasons` holds for each outcome the traces that have it, by their reason.
    """

    first: Verdict
    occasions: int = 0
    traces: int = 0
    findings: list[Finding] = field(default_factory=list)
    reasons: dict[Outcome, dict[str | None, list[str]]] = field(default_factory=dict)

    def add(self, trace: str, verdict: Verdict) -> None:
        self.traces += 1
        self.occasions += verdict.occasions
        self.findings += verdict.findings
        self.reasons.setdefault(verdict.outcome, {}).setdefault(verdict.reason, []).append(trace)

    def verdict(self) -> Verdict:
        if self.traces == 1:
            return self.first
        outcome = worst(self.reasons)
        return dataclasses.replace(
            self.first,
            outcome=outcome,
            occasions=self.occasions,
            reason=self._reason(outcome),
            findings=tuple(self.findings),
        )

    def _reason(self, outcome: Outcome) -> str | None:
        """Why: a reason that all traces share as it is, others with the traces that have it."""
        reasons = [(r, traces) for r, traces in self.reasons[outcome].items() if r is not None]
        if not reasons:
            return None
        reason, traces = reasons[0]
        if len(traces) == self.traces:
            return reason
        if len(reasons) == 1 and not outcome.is_judgement and not self.occasions:
            # The other traces say less: that it does not apply or did not occur.
            return f"{reason} ({_named(traces)})"
        told = "; ".join(
            f"{_named(traces)}: {reason}" for reason, traces in reasons[:_TOLD_REASONS]
        )
        if len(reasons) > _TOLD_REASONS:
            told += f"; and {len(reasons) - _TOLD_REASONS} more reasons"
        if outcome is Outcome.INCONCLUSIVE and self.occasions:
            told += f"; decided {self.occasions} times in other traces"
        return told


class Merging:
    """Collects the verdicts of one trace after the other.

    The worst outcome wins and brings its reasons with the traces they come from; occasions add
    up, findings are kept in the order of the traces.
    """

    def __init__(self) -> None:
        self._subjects: dict[tuple[SubjectKind, Revision, str], _Subject] = {}

    def add(self, trace: str, verdicts: Iterable[Verdict]) -> None:
        """Take in the verdicts drawn from the trace of that name."""
        for verdict in verdicts:
            key = (verdict.kind, verdict.revision, verdict.id)
            subject = self._subjects.setdefault(key, _Subject(verdict))
            subject.add(trace, verdict)

    def verdicts(self) -> list[Verdict]:
        """One verdict for each clause or rule, in the order of their first verdicts."""
        return [subject.verdict() for subject in self._subjects.values()]


def _named(traces: list[str]) -> str:
    more = len(traces) - _NAMED_TRACES
    return ", ".join(traces[:_NAMED_TRACES]) + (f" and {more} more" if more > 0 else "")
