"""Decide how a row stands: the worst evidence wins, and the row says what speaks against it.

Evidence alone gives one of five verdicts, the first that holds:

1. `non-conformant`: some outcome breaks the clause at its own level: a fail of a MUST, a fail
   or warn of a SHOULD. What a MAY leaves open cannot be broken.
2. `partly`: something was found that is milder than that (a warn about a MUST, an info about
   a SHOULD, anything about a MAY); or something passed while other evidence is inconclusive
   or crashed.
3. `conformant`: something passed.
4. `not-applicable`: there is evidence, and all of it says that the clause does not apply.
5. `unproven`: the rest, also where all evidence came to no end.

A declaration then has its say:

- A *deviation* makes any row a `deviation` but a conformant one: there it is stale, the row
  stays conformant, and the staleness is told.
- A feature declared *not implemented* makes a row `not-implemented`, unless something passed:
  that contradicts the declaration, the evidence decides, and the contradiction is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clausewise.core.matrix import BREACHES, Evidence, EvidenceKind, ProblemKind, RowVerdict
from clausewise.core.vocabulary import SEVERITY_ORDER, Level, Outcome
from clausewise.matrix.declarations import Declaration, DeclarationKind

_OPEN = frozenset({Outcome.INCONCLUSIVE, Outcome.CRASHED})
_FOUND = frozenset({Outcome.FAIL, Outcome.WARN, Outcome.INFO})
_KINDS = tuple(EvidenceKind)
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Decision:
    """How a row stands, the reason declared, what to note, what is wrong with the declaration.

    `trouble` is stale-deviation, contradicted or None.
    """

    verdict: RowVerdict
    reason: str | None = None
    notes: tuple[str, ...] = ()
    trouble: ProblemKind | None = None


def decide(
    level: Level, evidence: Sequence[Evidence], declared: Declaration | None = None
) -> Decision:
    """How a clause or rule of `level` stands by `evidence` and by what was declared of it."""
    shown = by_evidence(level, (item.outcome for item in evidence))
    notes = _contradictions(evidence)
    if declared is None:
        return Decision(shown, notes=notes)
    if declared.kind is DeclarationKind.DEVIATION:
        return _with_deviation(shown, notes, declared)
    return _with_feature_left_out(shown, notes, declared, evidence)


def by_evidence(level: Level, outcomes: Iterable[Outcome]) -> RowVerdict:
    """How a clause or rule of `level` stands by what was found alone."""
    found = set(outcomes) - {Outcome.EXCLUDED}
    if found & BREACHES[level]:
        return RowVerdict.NON_CONFORMANT
    if found & _FOUND:
        return RowVerdict.PARTLY
    if Outcome.PASS in found:
        return RowVerdict.PARTLY if found & _OPEN else RowVerdict.CONFORMANT
    if found == {Outcome.NOT_APPLICABLE}:
        return RowVerdict.NOT_APPLICABLE
    return RowVerdict.UNPROVEN


def worst_first(evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Evidence by outcome, worst first, then by kind and place: the order is always the same."""
    return tuple(sorted(evidence, key=_place))


def _place(item: Evidence) -> tuple[int, int, str, int, str, str]:
    severity, kind = SEVERITY_ORDER.index(item.outcome), _KINDS.index(item.kind)
    return severity, kind, item.path, item.line or 0, item.pointer, item.detail


def _with_deviation(shown: RowVerdict, notes: tuple[str, ...], declared: Declaration) -> Decision:
    if shown is RowVerdict.CONFORMANT:
        stale = f"declared a deviation, but all evidence passes: {declared.reason}"
        return Decision(shown, None, (*notes, stale), ProblemKind.STALE_DEVIATION)
    if shown not in (RowVerdict.NON_CONFORMANT, RowVerdict.PARTLY):
        notes = (*notes, "no evidence shows the deviation")
    return Decision(RowVerdict.DEVIATION, declared.reason, notes)


def _with_feature_left_out(
    shown: RowVerdict, notes: tuple[str, ...], declared: Declaration, evidence: Sequence[Evidence]
) -> Decision:
    passed = [item for item in evidence if item.outcome is Outcome.PASS]
    if not passed:
        return Decision(RowVerdict.NOT_IMPLEMENTED, declared.reason, notes)
    contradicted = f"declared not implemented, but {_named(passed)} passes: {declared.reason}"
    return Decision(shown, None, (*notes, contradicted), ProblemKind.CONTRADICTED)


def _contradictions(evidence: Sequence[Evidence]) -> tuple[str, ...]:
    """What is said against what: evidence that passes beside evidence that found something."""
    passed = [item for item in evidence if item.outcome is Outcome.PASS]
    found = [item for item in evidence if item.outcome in _FOUND]
    stuck = [item for item in evidence if item.outcome in _OPEN]
    if passed and found:
        return (f"contradicting evidence: {_named(found)} against {_named(passed)}, which passes",)
    if passed and stuck:
        return (f"{_named(stuck)} came to no end",)
    return ()


def _named(evidence: Sequence[Evidence]) -> str:
    """Kinds and pointers, a few of them."""
    names = dict.fromkeys(f"{item.kind} {item.pointer}" for item in worst_first(evidence))
    shown = list(names)[:_NAMED]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
