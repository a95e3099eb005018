"""Put verdicts about the same clause or rule together."""

from __future__ import annotations

from collections.abc import Iterable

from clausewise.core.results import SubjectKind, Verdict, worst
from clausewise.core.vocabulary import Revision


def merged(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """One verdict for each clause or rule, in the order of their first verdicts.

    The worst outcome wins and brings its reason; occasions add up, findings are kept in
    order.
    """
    subjects: dict[tuple[SubjectKind, Revision, str], list[Verdict]] = {}
    for verdict in verdicts:
        key = (verdict.kind, verdict.revision, verdict.id)
        subjects.setdefault(key, []).append(verdict)
    return [_one(parts) for parts in subjects.values()]


def _one(parts: list[Verdict]) -> Verdict:
    first = parts[0]
    if len(parts) == 1:
        return first
    outcome = worst(part.outcome for part in parts)
    return Verdict(
        kind=first.kind,
        id=first.id,
        revision=first.revision,
        level=first.level,
        outcome=outcome,
        occasions=sum(part.occasions for part in parts),
        reason=next(part.reason for part in parts if part.outcome is outcome),
        findings=tuple(finding for part in parts for finding in part.findings),
    )
