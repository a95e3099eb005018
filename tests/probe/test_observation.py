"""Observations: a pass needs an occasion, and the worst of several occasions wins."""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Outcome
from clausewise.probe.observation import (
    broke,
    crashed,
    held,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)

FAULT = broke("it broke", seen="this", expected="that")


def test_a_pass_needs_an_occasion() -> None:
    with pytest.raises(ValueError, match="occasion"):
        held(0)


def test_nothing_merged_is_not_observed() -> None:
    assert merged([]).outcome is Outcome.NOT_OBSERVED


def test_faults_win_and_are_all_kept() -> None:
    both = merged([held(2), FAULT, inconclusive("why"), FAULT])
    assert (both.outcome, both.occasions, len(both.faults)) == (Outcome.FAIL, 4, 2)


def test_a_blocked_half_outweighs_a_kept_one() -> None:
    both = merged([held(), inconclusive("too many requests")])
    assert (both.outcome, both.reason) == (Outcome.INCONCLUSIVE, "too many requests")


def test_a_kept_half_outweighs_one_without_an_occasion() -> None:
    both = merged([not_observed("none"), held(note="by the way"), not_applicable("no")])
    assert (both.outcome, both.reason, both.notes) == (Outcome.PASS, None, ("by the way",))


def test_a_crash_outweighs_all_but_faults() -> None:
    assert merged([held(), crashed("oops")]).outcome is Outcome.CRASHED
    assert merged([FAULT, crashed("oops")]).outcome is Outcome.FAIL


def test_the_evidence_gives_the_place_and_the_command() -> None:
    class Shown:
        seq = 7
        reproduce = "curl x"

    (fault,) = broke("m", seen="s", expected="e", evidence=Shown()).faults
    assert (fault.seq, fault.reproduce) == (7, "curl x")
