"""Registering checks: names, docstrings, and the bond with the registry."""

from __future__ import annotations

import pytest

from clausewise.core.errors import InternalError
from clausewise.core.vocabulary import Revision
from clausewise.judge.registration import Handler, On, check, checks
from clausewise.registry import clauses


def described(text: str) -> Handler:
    def handler(event: object, session: object, out: object) -> None:
        del event, session, out

    handler.__doc__ = text
    return handler


WHOLE = """Something is wrong.

Why: it
hurts.
Fix: do not
do it.
"""


def test_a_docstring_gives_summary_reason_and_remedy() -> None:
    made = check("test.whole", on=("request:ping", "session-end"), subject="x")(described(WHOLE))
    try:
        assert (made.summary, made.why, made.fix) == (
            "Something is wrong.",
            "it hurts.",
            "do not do it.",
        )
        assert [(s.on, s.method) for s in made.subscriptions] == [
            (On.REQUEST, "ping"),
            (On.SESSION_END, None),
        ]
        with pytest.raises(InternalError, match="taken"):
            check("test.whole", on="request", subject="x")(described(WHOLE))
    finally:
        _forget("test.whole")


@pytest.mark.parametrize("text", ["", "Only a summary.", "S.\n\nWhy: w.", "S.\n\nFix: f."])
def test_a_docstring_without_its_parts_is_refused(text: str) -> None:
    with pytest.raises(InternalError, match="lacks"):
        check("test.part", on="request", subject="x")(described(text))


@pytest.mark.parametrize("name", ["nodot", "Upper.case", "a.b_c", "a."])
def test_a_malformed_name_is_refused(name: str) -> None:
    with pytest.raises(InternalError, match="malformed"):
        check(name, on="request", subject="x")(described(WHOLE))


def test_an_unknown_kind_of_event_is_refused() -> None:
    with pytest.raises(ValueError, match="telepathy"):
        check("test.kind", on="telepathy", subject="x")(described(WHOLE))


def test_each_check_judges_a_clause_of_the_registry() -> None:
    named = {name for clause in clauses(Revision.LEGACY).values() for name in clause.checks}
    assert [name for name in checks() if name not in named] == []


def test_the_base_and_lifecycle_clauses_have_all_their_checks() -> None:
    named = {
        name
        for clause in clauses(Revision.LEGACY).values()
        if clause.id.startswith(("BASE-", "LIFE-"))
        for name in clause.checks
    }
    assert named - set(checks()) == set()
    assert len(named) == 25


def _forget(name: str) -> None:
    from clausewise.judge import registration

    registration._CHECKS.pop(name, None)
