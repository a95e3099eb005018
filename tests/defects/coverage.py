"""How much of what there is to judge a check of the right server decides; prints a table.

    python -m tests.defects.coverage [--missing]

`--missing` names what no check decides, with the reason.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from clausewise.core.results import RunResult, SubjectKind, Verdict
from clausewise.core.vocabulary import Era, Outcome, TransportKind
from tests.defects.reference_runs import (
    BROKEN,
    check_listed,
    check_named,
    check_protected,
    check_reference,
)

# In the modern era those that ask for samples or roots give an info: both are deprecated there.
NAMED = ("visit_page", "collect_profile", "touch_counter", "announce_lists", "wait")
_NAME_WIDTH = 34
_OPEN = (Outcome.NOT_OBSERVED, Outcome.INCONCLUSIVE)
_BESIDE = (Outcome.NOT_APPLICABLE, Outcome.EXCLUDED)


@dataclass(frozen=True, slots=True)
class Leg:
    """One way to check the right server."""

    name: str
    run: Callable[[], RunResult]


LEGS: tuple[Leg, ...] = (
    *(
        Leg(f"{era} over {transport}", partial(check_reference, era, transport))
        for era in Era
        for transport in TransportKind
    ),
    *(Leg(f"{era} with --auth", partial(check_protected, era, with_token=True)) for era in Era),
    *(
        Leg(f"{era} with tools named", partial(check_named, era, *NAMED))
        for era in (Era.LEGACY, Era.DUAL)
    ),
    Leg("dual with a server.json", partial(check_listed, Era.DUAL)),
)


@dataclass(frozen=True, slots=True)
class Share:
    """What became of the subjects of one kind.

    Attributes:
        decided: those that were judged, however.
        open: those that apply and were not judged.
        beside: those that do not apply, or that no recording shows.
        findings: those that were found broken, or whose check or probe crashed.
    """

    decided: int
    open: int
    beside: int
    findings: int

    @classmethod
    def of(cls, verdicts: Sequence[Verdict]) -> Share:
        outcomes = Counter(verdict.outcome for verdict in verdicts)
        open_, beside = (sum(outcomes[o] for o in kinds) for kinds in (_OPEN, _BESIDE))
        findings = sum(outcomes[outcome] for outcome in BROKEN)
        return cls(len(verdicts) - open_ - beside, open_, beside, findings)

    def __str__(self) -> str:
        whole = self.decided + self.open
        percent = f"{self.decided / whole:4.0%}" if whole else "   -"
        return f"{self.decided:3} of {whole:3} {percent}"


def subjects(kind: SubjectKind, result: RunResult) -> list[Verdict]:
    """The verdicts of one kind."""
    return [verdict for verdict in result.verdicts if verdict.kind is kind]


def undecided(results: Sequence[RunResult]) -> Mapping[str, str]:
    """Why none of the runs decided a rule or clause that is judged at all, by its id."""
    reasons: dict[str, str] = {}
    decided: set[str] = set()
    for verdict in (verdict for result in results for verdict in result.verdicts):
        if verdict.outcome in _OPEN:
            reasons[verdict.id] = verdict.reason or ""
        elif verdict.outcome is Outcome.NOT_APPLICABLE:
            reasons.setdefault(verdict.id, verdict.reason or "")
        else:
            decided.add(verdict.id)
    return {subject: reasons[subject] for subject in sorted(reasons.keys() - decided)}


def table(results: Mapping[str, RunResult]) -> Iterator[str]:
    """The lines that tell the shares of each run."""
    yield f"  {'the right server':{_NAME_WIDTH}} {'rules':>15} {'clauses':>16} {'findings':>10}"
    for name, result in results.items():
        rules, clauses = (
            Share.of(subjects(kind, result)) for kind in (SubjectKind.RULE, SubjectKind.CLAUSE)
        )
        findings = rules.findings + clauses.findings
        yield f"  {name:{_NAME_WIDTH}} {rules!s:>15} {clauses!s:>16} {findings:10}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--missing", action="store_true", help="name what no check decides")
    options = parser.parse_args()
    results = {leg.name: leg.run() for leg in LEGS}
    print("\n".join(table(results)))
    if options.missing:
        print()
        for subject, reason in undecided(list(results.values())).items():
            print(f"  {subject:14} {reason}")


if __name__ == "__main__":
    main()
