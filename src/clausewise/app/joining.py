"""Join what the recording of a run shows of a clause with what probes decided about it.

A run holds many sessions with the same server, so a fault of it shows in each: it is told once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from clausewise.core.results import Finding, Place, Verdict, worst
from clausewise.core.vocabulary import Outcome
from clausewise.probe.clause_experiments import ClauseVerdict


def joined(judged: Iterable[Verdict], probed: Iterable[ClauseVerdict]) -> list[Verdict]:
    """The judged verdicts, each with those of the probes of its clause.

    The worst outcome wins; `excluded` gives way to whatever a probe says. Occasions add up.
    A fault that both have seen, at the same event, is one finding.
    """
    by_clause: dict[str, list[Verdict]] = {}
    for one in probed:
        by_clause.setdefault(one.verdict.id, []).append(one.verdict)
    return [_joined(verdict, by_clause.get(verdict.id, [])) for verdict in judged]


def told_once(verdicts: Iterable[Verdict], sessions: Mapping[int, str | None]) -> list[Verdict]:
    """The verdicts without findings that repeat those of an earlier session.

    Args:
        verdicts: findings are in the order of the recording.
        sessions: the label of the session of each event, by its number.

    What a check says of the first session in which it says it stays whole: there the same may
    be wrong at several places. Occasions are left as they are.
    """
    return [
        dataclasses.replace(verdict, findings=_of_first_sessions(verdict.findings, sessions))
        for verdict in verdicts
    ]


def _of_first_sessions(
    findings: Iterable[Finding], sessions: Mapping[int, str | None]
) -> tuple[Finding, ...]:
    first: dict[tuple[str, str], str | None] = {}
    kept: list[Finding] = []
    for finding in findings:
        session = None if finding.at is None else sessions.get(finding.at.seq)
        if first.setdefault((finding.check, finding.message), session) == session:
            kept.append(finding)
    return tuple(kept)


def _joined(judged: Verdict, probed: Sequence[Verdict]) -> Verdict:
    if not probed:
        return judged
    parts = (judged, *probed)
    outcome = worst(part.outcome for part in parts)
    occasions = sum(part.occasions for part in parts)
    reasons = dict.fromkeys(part.reason for part in parts if part.outcome is outcome)
    told = "; ".join(reason for reason in reasons if reason is not None)
    if outcome is Outcome.INCONCLUSIVE and occasions:
        told += f"; decided {occasions} times otherwise"
    findings = _once_each(finding for part in parts for finding in part.findings)
    return dataclasses.replace(
        judged, outcome=outcome, occasions=occasions, reason=told or None, findings=findings
    )


def _once_each(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each place once, with a command that reproduces it where one of its findings has that."""
    kept: list[Finding] = []
    index: dict[Place, int] = {}
    for finding in findings:
        at = finding.at
        if at is None or at not in index:
            if at is not None:
                index[at] = len(kept)
            kept.append(finding)
            continue
        first = kept[index[at]]
        if first.reproduce is None:
            kept[index[at]] = dataclasses.replace(first, reproduce=finding.reproduce)
    return tuple(kept)
