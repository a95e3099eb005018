"""Evidence from the results of `check` and `validate`: the verdicts about the audited party."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator

from clausewise import registry
from clausewise.core.matrix import Evidence, EvidenceKind, Problem, ProblemKind, Source
from clausewise.core.results import Finding, RunResult, Verdict, worst
from clausewise.core.vocabulary import Outcome, Party
from clausewise.matrix.assembly import Gathered, Statement

_NOT_TOLD_APART = (
    "the stored result is about both parties and does not tell whose occasions passed; "
    "validate with --party, or give the trace itself"
)
_BROKEN = (Outcome.FAIL, Outcome.WARN, Outcome.INFO)


def gather(kind: EvidenceKind, name: str, result: RunResult, party: Party) -> Gathered:
    """What `result`, stored in or drawn from the file `name`, shows about `party`.

    A verdict about clauses that bind the other party alone is left out, and so are findings
    about the other party: where nothing else is left of a broken verdict, it shows nothing. A pass
    of `validate` about a clause that binds both counts only where it judged `party` alone.
    What a check excludes as undecidable is no evidence.
    """
    verdicts = [
        _of_party(verdict, result, party)
        for verdict in result.verdicts
        if _is_about(verdict, party)
    ]
    statements = [s for verdict in verdicts for s in _statements(kind, name, verdict, party)]
    counts = Counter(statement.evidence.outcome for statement in statements)
    problems = tuple(Problem(ProblemKind.NOTE, name, note) for note in result.notes)
    return Gathered(
        tuple(statements), (Source(kind, name, dict(sorted(counts.items()))),), problems
    )


def _is_about(verdict: Verdict, party: Party) -> bool:
    if verdict.outcome is Outcome.EXCLUDED:
        return False
    clause = registry.clauses(verdict.revision).get(verdict.id)
    return party is Party.SERVER if clause is None else party in clause.binds


def _of_party(verdict: Verdict, result: RunResult, party: Party) -> Verdict:
    """`verdict`, but no pass where the occasions may have been the other party's."""
    clause = registry.clauses(verdict.revision).get(verdict.id)
    told_apart = result.party is party or clause is None or clause.binds == (party,)
    if told_apart or verdict.outcome is not Outcome.PASS or result.command != "validate":
        return verdict
    return dataclasses.replace(verdict, outcome=Outcome.NOT_OBSERVED, reason=_NOT_TOLD_APART)


def _statements(
    kind: EvidenceKind, name: str, verdict: Verdict, party: Party
) -> Iterator[Statement]:
    own = [finding for finding in verdict.findings if finding.party is party]
    if verdict.outcome in _BROKEN and own:
        for finding in _of_each_place(own):
            yield Statement(verdict.id, _of_finding(kind, name, finding))
    elif verdict.outcome in _BROKEN:
        reason = "only the other party was seen to break it"
        evidence = Evidence(kind, Outcome.NOT_OBSERVED, name, name, detail=reason)
        yield Statement(verdict.id, evidence)
    else:
        detail = verdict.reason or ""
        yield Statement(verdict.id, Evidence(kind, verdict.outcome, name, name, detail=detail))


def _of_each_place(findings: list[Finding]) -> list[Finding]:
    """The first of the worst findings of each check: a fault seen often is shown once."""
    grave = worst(finding.severity for finding in findings)
    first = {finding.check: finding for finding in reversed(findings) if finding.severity is grave}
    return list(reversed(first.values()))


def _of_finding(kind: EvidenceKind, name: str, finding: Finding) -> Evidence:
    place, pointer = finding.at, name
    if kind is EvidenceKind.REPLAY and place is not None:
        pointer = f"{place.trace} seq {place.seq}"
    return Evidence(kind, finding.severity, pointer, name, detail=finding.message)
