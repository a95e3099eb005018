"""How a row stands, for every combination of outcomes and declarations."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from clausewise.core.matrix import Evidence, EvidenceKind, ProblemKind, RowVerdict
from clausewise.core.vocabulary import Level, Outcome
from clausewise.matrix.declarations import Declaration, DeclarationKind
from clausewise.matrix.verdicts import by_evidence, decide, worst_first

ALL = tuple(chain.from_iterable(combinations(Outcome, size) for size in range(len(Outcome) + 1)))
DEVIATION = Declaration(DeclarationKind.DEVIATION, "the next revision wants it so", ("RES-008",))
LEFT_OUT = Declaration(DeclarationKind.NOT_IMPLEMENTED, "nobody asked for it", ("COMP",))


def evidence(*outcomes: Outcome) -> tuple[Evidence, ...]:
    kinds = list(EvidenceKind)
    return tuple(
        Evidence(kinds[number % len(kinds)], outcome, f"file{number}", f"file{number}")
        for number, outcome in enumerate(outcomes)
    )


@pytest.mark.parametrize(
    ("level", "outcomes", "verdict"),
    [
        (Level.MUST, (), "unproven"),
        (Level.MUST, (Outcome.PASS,), "conformant"),
        (Level.MUST, (Outcome.FAIL,), "non-conformant"),
        (Level.MUST, (Outcome.FAIL, Outcome.PASS), "non-conformant"),
        (Level.MUST, (Outcome.WARN,), "partly"),
        (Level.MUST, (Outcome.WARN, Outcome.PASS), "partly"),
        (Level.MUST_NOT, (Outcome.INFO, Outcome.PASS), "partly"),
        (Level.MUST, (Outcome.PASS, Outcome.INCONCLUSIVE), "partly"),
        (Level.MUST, (Outcome.PASS, Outcome.CRASHED), "partly"),
        (Level.MUST, (Outcome.INCONCLUSIVE,), "unproven"),
        (Level.MUST, (Outcome.CRASHED, Outcome.NOT_APPLICABLE), "unproven"),
        (Level.MUST, (Outcome.NOT_OBSERVED,), "unproven"),
        (Level.MUST, (Outcome.NOT_APPLICABLE,), "not-applicable"),
        (Level.MUST, (Outcome.NOT_APPLICABLE, Outcome.NOT_OBSERVED), "unproven"),
        (Level.MUST, (Outcome.NOT_APPLICABLE, Outcome.EXCLUDED), "not-applicable"),
        (Level.MUST, (Outcome.EXCLUDED,), "unproven"),
        (Level.MUST, (Outcome.PASS, Outcome.NOT_APPLICABLE), "conformant"),
        (Level.SHOULD, (Outcome.WARN,), "non-conformant"),
        (Level.SHOULD_NOT, (Outcome.FAIL,), "non-conformant"),
        (Level.SHOULD, (Outcome.INFO,), "partly"),
        (Level.MAY, (Outcome.WARN,), "partly"),
        (Level.MAY, (Outcome.FAIL,), "partly"),
        (Level.MAY, (Outcome.PASS,), "conformant"),
    ],
)
def test_what_evidence_alone_gives(
    level: Level, outcomes: tuple[Outcome, ...], verdict: str
) -> None:
    assert by_evidence(level, outcomes) == verdict


@pytest.mark.parametrize("level", Level)
def test_every_combination_of_outcomes_keeps_the_definition(level: Level) -> None:
    broken = {
        Level.MUST: {Outcome.FAIL},
        Level.MUST_NOT: {Outcome.FAIL},
        Level.SHOULD: {Outcome.FAIL, Outcome.WARN},
        Level.SHOULD_NOT: {Outcome.FAIL, Outcome.WARN},
        Level.MAY: set(),
    }[level]
    faults = {Outcome.FAIL, Outcome.WARN, Outcome.INFO}
    stuck = {Outcome.INCONCLUSIVE, Outcome.CRASHED}
    for outcomes in ALL:
        found, verdict = set(outcomes), by_evidence(level, outcomes)
        passed = Outcome.PASS in found
        assert (verdict == "non-conformant") is bool(found & broken), outcomes
        assert (verdict == "conformant") is (passed and not found & (faults | stuck)), outcomes
        milder = bool(found & (faults - broken)) or (passed and bool(found & stuck))
        assert (verdict == "partly") is (milder and not found & broken), outcomes
        applies = found - {Outcome.NOT_APPLICABLE, Outcome.EXCLUDED}
        inapplicable = Outcome.NOT_APPLICABLE in found and not applies
        assert (verdict == "not-applicable") is inapplicable, outcomes


@pytest.mark.parametrize("level", Level)
def test_a_deviation_covers_everything_but_a_row_that_is_kept(level: Level) -> None:
    for outcomes in ALL:
        decision = decide(level, evidence(*outcomes), DEVIATION)
        if by_evidence(level, outcomes) is RowVerdict.CONFORMANT:
            assert decision.verdict is RowVerdict.CONFORMANT
            assert decision.trouble is ProblemKind.STALE_DEVIATION
            assert DEVIATION.reason in decision.notes[-1]
        else:
            assert (decision.verdict, decision.trouble) == (RowVerdict.DEVIATION, None)
            assert decision.reason == DEVIATION.reason


@pytest.mark.parametrize("level", Level)
def test_a_feature_left_out_is_contradicted_by_whatever_passes(level: Level) -> None:
    for outcomes in ALL:
        decision = decide(level, evidence(*outcomes), LEFT_OUT)
        if Outcome.PASS in outcomes:
            assert decision.verdict is by_evidence(level, outcomes)
            assert decision.trouble is ProblemKind.CONTRADICTED
            assert "passes" in decision.notes[-1]
        else:
            assert decision.verdict is RowVerdict.NOT_IMPLEMENTED
            assert (decision.reason, decision.trouble) == (LEFT_OUT.reason, None)


def test_a_row_says_which_evidence_contradicts_which() -> None:
    items = (
        Evidence(EvidenceKind.TEST, Outcome.PASS, "tests/ids.py:12", "tests/ids.py", 12),
        Evidence(EvidenceKind.PROBE, Outcome.FAIL, "check.json", "check.json"),
    )
    (note,) = decide(Level.MUST, items).notes
    assert note == (
        "contradicting evidence: probe check.json against test tests/ids.py:12, which passes"
    )


def test_a_row_says_what_came_to_no_end_beside_a_pass() -> None:
    items = evidence(Outcome.PASS, Outcome.INCONCLUSIVE)
    assert decide(Level.MUST, items).notes == ("official file1 came to no end",)


def test_much_contradicting_evidence_is_named_in_part() -> None:
    items = evidence(Outcome.PASS, *[Outcome.FAIL] * 7)
    (note,) = decide(Level.MUST, items).notes
    assert " and 4 more against test file0" in note


def test_a_deviation_that_nothing_shows_says_so() -> None:
    assert decide(Level.SHOULD, (), DEVIATION).notes == ("no evidence shows the deviation",)


def test_evidence_is_worst_first_and_then_in_a_stable_order() -> None:
    items = evidence(Outcome.PASS, Outcome.NOT_OBSERVED, Outcome.FAIL, Outcome.PASS)
    ordered = worst_first(items)
    assert [item.outcome for item in ordered] == ["fail", "pass", "pass", "not-observed"]
    assert worst_first(reversed(items)) == ordered
    assert [item.pointer for item in ordered][1:3] == ["file0", "file3"]


def test_each_verdict_has_a_meaning_of_its_own_and_a_rank() -> None:
    assert len({verdict.meaning for verdict in RowVerdict}) == len(RowVerdict)
    ranked = sorted(RowVerdict, key=lambda verdict: verdict.rank)
    assert (ranked[0], ranked[-1]) == (RowVerdict.CONFORMANT, RowVerdict.NON_CONFORMANT)
