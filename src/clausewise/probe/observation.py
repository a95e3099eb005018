"""What one probe saw: the outcome of its occasions, before severities are settled."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from clausewise.core.vocabulary import Outcome

_RANK = (
    Outcome.FAIL,
    Outcome.CRASHED,
    Outcome.INCONCLUSIVE,
    Outcome.PASS,
    Outcome.NOT_OBSERVED,
    Outcome.NOT_APPLICABLE,
)


class Evidence(Protocol):
    """Something that points at recorded events, such as a `Reply`."""

    @property
    def seq(self) -> int | None: ...

    @property
    def reproduce(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Fault:
    """One broken occasion.

    `severity` is set only where it differs from the rule's own: a probe lowers it when
    the half of the rule at hand is a SHOULD. `seq` is the event that shows the fault.
    """

    message: str
    seen: str
    expected: str
    severity: Outcome | None = None
    seq: int | None = None
    reproduce: str | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """The outcome of one rule's occasions.

    `outcome` is pass, not-observed, not-applicable, inconclusive, crashed, or fail when
    there are `faults` (the engine turns that into the severities of the faults). `notes` are
    remarks for the run that are no findings.
    """

    outcome: Outcome
    occasions: int = 0
    reason: str | None = None
    faults: tuple[Fault, ...] = ()
    notes: tuple[str, ...] = ()


def held(occasions: int = 1, *, note: str | None = None) -> Observation:
    """The rule was kept on `occasions` occasions (at least one)."""
    if occasions < 1:
        raise ValueError("a pass needs an occasion")
    return Observation(Outcome.PASS, occasions, notes=() if note is None else (note,))


def broke(
    message: str,
    *,
    seen: str,
    expected: str,
    severity: Outcome | None = None,
    evidence: Evidence | None = None,
) -> Observation:
    """The rule was broken once.

    Args:
        message: what the server did wrong, one sentence.
        seen: what came, shortly.
        expected: what was due, shortly.
        severity: fail, warn or info where it is not the rule's own severity.
        evidence: the reply that shows it: gives the place in the trace and the command
            that reproduces it.
    """
    seq = evidence.seq if evidence is not None else None
    reproduce = evidence.reproduce if evidence is not None else None
    fault = Fault(message, seen, expected, severity, seq, reproduce)
    return Observation(Outcome.FAIL, 1, faults=(fault,))


def not_observed(reason: str) -> Observation:
    """No occasion arose."""
    return Observation(Outcome.NOT_OBSERVED, reason=reason)


def left_to_the_recording(notes: Iterable[str] = ()) -> Observation:
    """What there is to see was sent and recorded: the checks of the clause decide."""
    return Observation(Outcome.NOT_OBSERVED, notes=tuple(notes))


def not_applicable(reason: str) -> Observation:
    """The rule's condition is absent."""
    return Observation(Outcome.NOT_APPLICABLE, reason=reason)


def inconclusive(reason: str) -> Observation:
    """An occasion arose, but something other than the rule decided what came back."""
    return Observation(Outcome.INCONCLUSIVE, reason=reason)


def crashed(reason: str) -> Observation:
    """The probe itself failed: a fault of ours, not a finding about the server."""
    return Observation(Outcome.CRASHED, reason=reason)


def merged(observations: Iterable[Observation]) -> Observation:
    """Several occasions of one rule as one observation.

    The worst outcome wins (fail, crashed, inconclusive, pass, not-observed, not-applicable); all
    faults and notes are kept, occasions add up, and the reason is that of the first
    observation with the winning outcome. No observations at all are not-observed.
    """
    parts = tuple(observations)
    if not parts:
        return not_observed("nothing to judge was seen")
    winner = min(parts, key=lambda part: _RANK.index(part.outcome))
    return Observation(
        winner.outcome,
        sum(part.occasions for part in parts),
        winner.reason,
        tuple(fault for part in parts for fault in part.faults),
        tuple(note for part in parts for note in part.notes),
    )
