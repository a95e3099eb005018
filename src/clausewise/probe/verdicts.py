"""Turn what probes observed into verdicts with findings."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.results import Finding, Place, SubjectKind, Verdict, worst
from clausewise.core.vocabulary import Party, Revision
from clausewise.probe.observation import Fault, Observation
from clausewise.probe.registration import Passive, Probe
from clausewise.registry import Rule


@dataclass(frozen=True, slots=True)
class Judging:
    """How observations become verdicts: the trace's name, and whose severities count."""

    trace: str
    as_listed: bool = False

    def verdict(self, rule: Rule, seen: Observation, entry: Probe | Passive | None) -> Verdict:
        """The verdict of `rule` from what its probe (None where there is none) saw."""
        findings = tuple(self._finding(rule, entry, fault) for fault in seen.faults if entry)
        return Verdict(
            SubjectKind.RULE,
            rule.id,
            Revision.MODERN,
            rule.level if self.as_listed else rule.effective_level,
            worst(f.severity for f in findings) if findings else seen.outcome,
            seen.occasions,
            None if findings else seen.reason,
            findings,
        )

    def _finding(self, rule: Rule, entry: Probe | Passive, fault: Fault) -> Finding:
        own = rule.severity if self.as_listed else rule.effective_severity
        return Finding(
            check=entry.name,
            party=Party.SERVER,
            severity=fault.severity if fault.severity is not None else own,
            message=fault.message,
            seen=fault.seen,
            expected=fault.expected,
            at=None if fault.seq is None else Place(self.trace, fault.seq),
            url=rule.url,
            fix=entry.documentation.fix,
            reproduce=fault.reproduce,
        )
