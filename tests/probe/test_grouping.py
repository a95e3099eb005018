"""Findings are joined and worded for people."""

from __future__ import annotations

from typing import Any

import pytest

from clausewise.core.vocabulary import Outcome
from clausewise.probe.observation import broke, held, inconclusive
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.wording import named


def test_a_fault_of_a_known_kind_is_an_occasion_but_no_second_finding() -> None:
    faults = [("a", broke("first", seen="x", expected="y")) for _ in range(3)]
    joined = once_each([*faults, ("b", broke("second", seen="x", expected="y")), ("a", held())])
    assert [fault.message for fault in joined.faults] == ["first", "second"]
    assert joined.occasions == 5
    assert joined.outcome is Outcome.FAIL


def test_what_was_kept_elsewhere_does_not_hide_what_is_undecided() -> None:
    joined = once_each([("a", held()), ("b", inconclusive("blocked"))])
    assert joined.outcome is Outcome.INCONCLUSIVE
    assert joined.reason == "blocked"


def test_nothing_to_join_is_not_observed() -> None:
    assert once_each([]).outcome is Outcome.NOT_OBSERVED


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("Public", '"Public"'),
        ([], "an empty array"),
        ([1], "an array"),
        ({}, "an empty object"),
        ({"a": 1}, "an object"),
    ],
)
def test_a_value_is_named_in_json_spelling(value: Any, words: str) -> None:
    assert named(value) == words


def test_a_long_text_is_cut() -> None:
    assert len(named("a" * 1000)) == 60
    assert named("a" * 1000).endswith("…")


def test_a_value_nested_without_end_is_named_by_its_kind() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]
    assert named(value) == "an array"
