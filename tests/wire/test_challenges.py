"""Reading WWW-Authenticate headers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.wire.authorization.challenges import (
    MAX_HEADER_CHARACTERS,
    Challenge,
    bearer_of,
    read_challenges,
)


def challenges(value: str | list[str]) -> tuple[Challenge, ...]:
    return read_challenges([value] if isinstance(value, str) else value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Bearer", [("bearer", {})]),
        ('Bearer realm="a, b", ERROR=x', [("bearer", {"realm": "a, b", "error": "x"})]),
        (
            'Newauth realm="apps", type=1, title="a \\"b\\"", Basic realm="simple"',
            [
                ("newauth", {"realm": "apps", "type": "1", "title": 'a "b"'}),
                ("basic", {"realm": "simple"}),
            ],
        ),
        ("Negotiate YWJj==, Bearer scope=a", [("negotiate", {}), ("bearer", {"scope": "a"})]),
        ("Negotiate, Bearer scope = a ,", [("negotiate", {}), ("bearer", {"scope": "a"})]),
        (
            ["Basic realm=x", 'Bearer error="y"'],
            [("basic", {"realm": "x"}), ("bearer", {"error": "y"})],
        ),
        ('Bearer error="a" scope="b"', [("bearer", {"error": "a", "scope": "b"})]),
        ('Bearer error="a", error="b"', [("bearer", {"error": "a"})]),
        (", , Bearer ,, scope=a", [("bearer", {"scope": "a"})]),
        ("scope=a", []),
        ("", []),
    ],
)
def test_challenges_are_read_by_the_grammar(
    value: str | list[str], expected: list[tuple[str, dict[str, str]]]
) -> None:
    assert [(c.scheme, dict(c.parameters)) for c in challenges(value)] == expected


def test_a_quoted_string_without_its_end_gives_no_parameter() -> None:
    (challenge, *_) = challenges('Bearer scope="files')
    assert (challenge.scheme, dict(challenge.parameters)) == ("bearer", {})


def test_what_lies_beyond_the_bound_is_not_read() -> None:
    filler = "a" * MAX_HEADER_CHARACTERS
    first = challenges(f'Bearer realm="b", x="{filler}", scope=a')[0]
    assert (first.scheme, dict(first.parameters)) == ("bearer", {"realm": "b"})


@pytest.mark.parametrize(
    ("scope", "names"),
    [("a b", True), ("!#$[]~", True), ("", False), (" ", False), ("a\x7f", False), ("é", False)],
)
def test_scopes_are_tokens_of_visible_ascii(scope: str, names: bool) -> None:
    assert Challenge("bearer", {"scope": scope}).names_scopes is names


def test_a_challenge_without_scope_names_none() -> None:
    assert not Challenge("bearer", {}).names_scopes
    assert Challenge("bearer", {}).scopes == ()


def test_scopes_are_counted_once_and_what_is_none_is_left_out() -> None:
    assert Challenge("bearer", {"scope": "b a\x7f a  b"}).scopes == ("b", "a")


def test_the_first_bearer_challenge_is_the_one_that_counts() -> None:
    found = bearer_of(challenges('Basic realm="x", Bearer scope="a", Bearer scope="b"'))
    assert found is not None
    assert found.scopes == ("a",)
    assert bearer_of(challenges("Basic realm=x")) is None


@given(st.text(alphabet=st.sampled_from('aB1 =,"\\\t~é'), max_size=60))
def test_any_header_is_read_without_a_failure(value: str) -> None:
    for challenge in challenges(value):
        assert challenge.scheme
        assert challenge.scheme == challenge.scheme.lower()
