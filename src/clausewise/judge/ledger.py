"""What the checks found, and the outcome of each clause that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from clausewise.core.results import PLANNED, Finding, Place, SubjectKind, Verdict, worst
from clausewise.core.vocabulary import Direction, Outcome, Party, Revision, TransportKind
from clausewise.judge.registration import Check, Handler
from clausewise.judge.session.sessions import Session
from clausewise.registry import Clause

MAX_FINDINGS = 100
"""Findings kept for one clause; more are counted only."""


class Located(Protocol):
    """Something with a place in the trace: an event, a message, a head."""

    @property
    def seq(self) -> int: ...

    @property
    def direction(self) -> Direction: ...


@dataclass(slots=True, unsafe_hash=True)
class Spot:
    """A place in the trace other than the event at hand, or one that the other party owes.

    `direction` is that of the party which owes the duty. Read-only, but not frozen, since
    handlers make many.
    """

    seq: int
    direction: Direction


@dataclass(frozen=True, slots=True)
class Scope:
    """What is reported: the trace's name, the one party wanted (None: both), and our side.

    `ours` is the party that a driver of ours plays: a finding about it is a slip. `tell` is called
    with a clause's id and each finding about it that is kept, when it is made.
    """

    trace: str
    party: Party | None = None
    ours: Party | None = None
    tell: Callable[[str, Finding], None] | None = None


@dataclass(slots=True)
class Faults:
    """What the sheets of a run share: the handlers that failed, and how; the last finding's seq.

    A finding about anybody counts, wanted or not.
    """

    crashes: dict[Handler, str] = field(default_factory=dict)
    last_seq: int = -1


@dataclass(slots=True)
class Entry:
    """The record of one check about one clause, beside what its sheet says of all of them."""

    clause: Clause
    held: int = 0
    broke: int = 0
    findings: list[Finding] = field(default_factory=list)
    worst: Outcome | None = None
    doubt: str | None = None
    doubts: int = 0


class Sheet:
    """What a check writes on: the `out` of its handlers.

    Each method books one occasion. `at` is where it was, and its sender is the party that owes
    the duty; `clause` names one clause of a check that judges several, without it the occasion
    counts for each.

    Attributes:
        held_for_all: occasions on which every clause of the check was kept.
        crashes: the handlers of any check that failed, and how.
    """

    def __init__(
        self, check: Check, clauses: Iterable[Clause], scope: Scope, faults: Faults
    ) -> None:
        self.check = check
        self.entries = {clause.id: Entry(clause) for clause in clauses}
        self.crashes = faults.crashes
        self.slips: list[Finding] = []
        self.held_for_all = 0
        self._faults = faults
        self._scope = scope
        self._wanted = None if scope.party is None else scope.party.direction
        self._all = tuple(self.entries.values())

    def held(self, at: Located, *, clause: str | None = None) -> None:
        """The clause could have been broken here and was kept."""
        if self._wanted is not None and at.direction is not self._wanted:
            return
        if clause is None:
            self.held_for_all += 1
        else:
            self.entries[clause].held += 1

    @property
    def crash(self) -> str | None:
        """How one of the check's handlers failed, or None."""
        handlers = (s.handler for s in self.check.subscriptions if s.handler is not None)
        return next((self.crashes[h] for h in handlers if h in self.crashes), None)

    def held_often(self, direction: Direction, times: int) -> None:
        """As `held` for that many messages of one direction."""
        if self._wanted is None or direction is self._wanted:
            self.held_for_all += times

    def occasions(self, clause: str) -> int:
        """How many decided occasions of one clause are booked."""
        entry = self.entries[clause]
        return self.held_for_all + entry.held + entry.broke

    def undecided(self, at: Located, reason: str, *, clause: str | None = None) -> None:
        """The clause may have been broken here, but the recording does not tell; says why."""
        if self._wanted is not None and at.direction is not self._wanted:
            return
        for entry in self._all if clause is None else (self.entries[clause],):
            entry.doubts += 1
            entry.doubt = entry.doubt or reason

    def broke(
        self,
        at: Located,
        message: str,
        *,
        seen: str,
        expected: str,
        severity: Outcome | None = None,
        clause: str | None = None,
    ) -> None:
        """The clause was broken here.

        `severity` makes it milder than the clause's level: warn or info.
        """
        self._faults.last_seq = max(self._faults.last_seq, at.seq)
        for entry in self._all if clause is None else (self.entries[clause],):
            weight = severity or entry.clause.level.severity
            finding = Finding(
                check=self.check.name,
                party=at.direction.sender,
                severity=weight,
                message=message,
                seen=seen,
                expected=expected,
                at=Place(self._scope.trace, at.seq),
                url=entry.clause.url,
                fix=self.check.fix,
            )
            self._book(entry, finding)

    def _book(self, entry: Entry, finding: Finding) -> None:
        if finding.party is self._scope.ours:
            if len(self.slips) < MAX_FINDINGS:
                self.slips.append(finding)
            return
        if self._scope.party not in (None, finding.party):
            return
        entry.broke += 1
        entry.worst = worst((finding.severity, entry.worst or Outcome.PASS))
        if len(entry.findings) < MAX_FINDINGS:
            entry.findings.append(finding)
            if self._scope.tell is not None:
                self._scope.tell(entry.clause.id, finding)


@dataclass(slots=True)
class Seen:
    """What of the recording was judged at all, to explain clauses without an occasion.

    `declared` holds, for each condition, whether some judged session fulfils it; a condition
    that no session could decide is missing.
    """

    sessions: int = 0
    transports: set[TransportKind] = field(default_factory=set)
    declared: dict[str, bool] = field(default_factory=dict)

    def count(self, session: Session, conditions: Iterable[str]) -> None:
        """Take in a judged session and which of the `conditions` it fulfils."""
        self.sessions += 1
        self.transports.add(session.transport)
        for condition in conditions:
            party, _, capability = condition.partition(".")
            declares = session.handshake.declares(Party(party), capability)
            if declares is not None:
                self.declared[condition] = self.declared.get(condition, False) or declares


class Ledger:
    """The sheets of every check, and the verdicts drawn from them."""

    def __init__(
        self,
        clauses: Mapping[str, Clause],
        checks: Mapping[str, Check],
        scope: Scope,
    ) -> None:
        self._clauses = clauses
        self._scope = scope
        self.faults = Faults()
        self.sheets = {
            name: Sheet(
                check, (c for c in clauses.values() if name in c.checks), scope, self.faults
            )
            for name, check in checks.items()
        }

    def verdicts(self, seen: Seen) -> tuple[Verdict, ...]:
        """One verdict a clause, in the order of the registry."""
        return tuple(self._verdict(clause, seen) for clause in self._clauses.values())

    def slips(self) -> tuple[Finding, ...]:
        """Findings about the party that a driver of ours plays, in the order of the trace."""
        found = (finding for sheet in self.sheets.values() for finding in sheet.slips)
        return tuple(sorted(found, key=_by_place))

    def _verdict(self, clause: Clause, seen: Seen) -> Verdict:
        if clause.exclusion is not None:
            return _without_judgement(clause, Outcome.EXCLUDED, clause.exclusion.reason)
        sheets = [self.sheets[name] for name in clause.checks if name in self.sheets]
        if not sheets:
            return _without_judgement(clause, Outcome.NOT_OBSERVED, f"no check yet: {PLANNED}")
        crash = next((sheet.crash for sheet in sheets if sheet.crash), None)
        if crash is not None:
            return _without_judgement(clause, Outcome.CRASHED, crash)
        entries = [sheet.entries[clause.id] for sheet in sheets]
        occasions = sum(sheet.occasions(clause.id) for sheet in sheets)
        if occasions:
            return _judgement(clause, entries, occasions)
        doubt = next((entry.doubt for entry in entries if entry.doubt), None)
        if doubt is not None:
            return _without_judgement(clause, Outcome.INCONCLUSIVE, doubt)
        outcome, reason = self._without_occasion(clause, [s.check for s in sheets], seen)
        return _without_judgement(clause, outcome, reason)

    def _without_occasion(
        self, clause: Clause, checks: list[Check], seen: Seen
    ) -> tuple[Outcome, str]:
        party = self._scope.party
        if party is not None and party.value not in clause.binds:
            return Outcome.NOT_APPLICABLE, f"binds the {' and '.join(clause.binds)} only"
        if not seen.sessions:
            return Outcome.NOT_OBSERVED, "no session of 2025-11-25 in the recording"
        needed = {check.transport for check in checks}
        if None not in needed and not needed & seen.transports:
            names = " or ".join(sorted(kind.value for kind in needed if kind is not None))
            return Outcome.NOT_APPLICABLE, f"applies to {names} only"
        if clause.condition is not None and seen.declared.get(clause.condition) is False:
            return Outcome.NOT_APPLICABLE, f"{clause.condition} is not declared"
        subjects = " and no ".join(dict.fromkeys(check.subject for check in checks))
        return Outcome.NOT_OBSERVED, f"no {subjects} in the recording"


def _judgement(clause: Clause, entries: list[Entry], occasions: int) -> Verdict:
    broken = [entry for entry in entries if entry.broke]
    outcome = worst([Outcome.PASS, *(e.worst for e in broken if e.worst is not None)])
    if outcome is Outcome.INFO:
        outcome = Outcome.PASS
    findings = sorted((f for entry in broken for f in entry.findings), key=_by_place)
    unkept = sum(entry.broke for entry in broken) - len(findings[:MAX_FINDINGS])
    return Verdict(
        kind=SubjectKind.CLAUSE,
        id=clause.id,
        revision=Revision.LEGACY,
        level=clause.level,
        outcome=outcome,
        occasions=occasions,
        reason=f"{unkept} more findings are not listed" if unkept else None,
        findings=tuple(findings[:MAX_FINDINGS]),
    )


def _without_judgement(clause: Clause, outcome: Outcome, reason: str) -> Verdict:
    return Verdict(
        kind=SubjectKind.CLAUSE,
        id=clause.id,
        revision=Revision.LEGACY,
        level=clause.level,
        outcome=outcome,
        reason=reason,
    )


def _by_place(finding: Finding) -> tuple[int, str]:
    return (finding.at.seq if finding.at is not None else -1, finding.check)
