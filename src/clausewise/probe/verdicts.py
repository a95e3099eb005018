"""Turn what probes observed into verdicts with findings."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.results import Finding, Place, SubjectKind, Verdict, worst
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from clausewise.probe.clause_registration import ClauseProbe
from clausewise.probe.observation import Fault, Observation
from clausewise.probe.registration import Passive, Probe
from clausewise.registry import Clause, Rule

_Entry = Probe | Passive | ClauseProbe


@dataclass(frozen=True, slots=True)
class _Subject:
    """What a verdict is about; `severity` is that of a fault that has none of its own."""

    kind: SubjectKind
    id: str
    revision: Revision
    level: Level
    severity: Outcome
    url: str


@dataclass(frozen=True, slots=True)
class Judging:
    """How observations become verdicts: the trace's name, and whose severities count."""

    trace: str
    as_listed: bool = False

    def verdict(self, rule: Rule, seen: Observation, entry: Probe | Passive | None) -> Verdict:
        """The verdict of `rule` from what its probe (None where there is none) saw."""
        level = rule.level if self.as_listed else rule.effective_level
        severity = rule.severity if self.as_listed else rule.effective_severity
        subject = _Subject(SubjectKind.RULE, rule.id, rule.revision, level, severity, rule.url)
        return self._drawn(subject, seen, entry)

    def clause_verdict(self, clause: Clause, seen: Observation, probe: ClauseProbe) -> Verdict:
        """The verdict of `clause` from what one of its probes saw."""
        severity = clause.level.severity
        subject = _Subject(
            SubjectKind.CLAUSE, clause.id, clause.revision, clause.level, severity, clause.url
        )
        return self._drawn(subject, seen, probe)

    def _drawn(self, subject: _Subject, seen: Observation, entry: _Entry | None) -> Verdict:
        findings = tuple(self._finding(subject, entry, fault) for fault in seen.faults if entry)
        return Verdict(
            subject.kind,
            subject.id,
            subject.revision,
            subject.level,
            worst(f.severity for f in findings) if findings else seen.outcome,
            seen.occasions,
            None if findings else seen.reason,
            findings,
        )

    def _finding(self, subject: _Subject, entry: _Entry, fault: Fault) -> Finding:
        return Finding(
            check=entry.name,
            party=Party.SERVER,
            severity=subject.severity if fault.severity is None else fault.severity,
            message=fault.message,
            seen=fault.seen,
            expected=fault.expected,
            at=None if fault.seq is None else Place(self.trace, fault.seq),
            url=subject.url,
            fix=entry.documentation.fix,
            reproduce=fault.reproduce,
        )
