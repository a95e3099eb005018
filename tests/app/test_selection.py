"""What a run reports."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from clausewise.app.selection import Selection, in_order
from clausewise.core.errors import UsageError
from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Level, Outcome, Revision


@pytest.mark.parametrize(
    ("select", "ignore", "taken"),
    [
        ((), (), ["MCP-ERR-001", "MCP-ERR-002", "MCP-HDR-001"]),
        (("MCP-ERR",), (), ["MCP-ERR-001", "MCP-ERR-002"]),
        (("mcp-err-001",), (), ["MCP-ERR-001"]),
        ((), ("MCP-ERR",), ["MCP-HDR-001"]),
        (("MCP-ERR",), ("MCP-ERR-002",), ["MCP-ERR-001"]),
        (("MCP-ERR-001", "MCP-HDR"), (), ["MCP-ERR-001", "MCP-HDR-001"]),
        (("MCP-ERR-001",), ("MCP",), []),
    ],
)
def test_ids_are_taken_by_prefix_and_ignore_wins(
    select: tuple[str, ...], ignore: tuple[str, ...], taken: list[str]
) -> None:
    selection = Selection.of(select, ignore)
    ids = ["MCP-ERR-001", "MCP-ERR-002", "MCP-HDR-001"]
    assert [id_ for id_ in ids if selection.takes_id(id_)] == taken


def test_a_word_that_fits_no_id_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="begins with 'MCP-EER-001'") as caught:
        Selection.of(["MCP-EER-001"])
    assert caught.value.hint.startswith("Did you mean MCP-")
    with pytest.raises(UsageError) as caught:
        Selection.of(ignore=["?"])
    assert "clausewise rules" in caught.value.hint


def test_blank_words_are_nothing() -> None:
    assert Selection.of(["", " "]) == Selection()


@pytest.mark.parametrize(
    ("lowest", "taken"),
    [
        (Level.MUST, [Level.MUST, Level.MUST_NOT]),
        (Level.SHOULD, [Level.MUST, Level.MUST_NOT, Level.SHOULD, Level.SHOULD_NOT]),
        (Level.MAY, list(Level)),
    ],
)
def test_the_lowest_level_leaves_out_what_is_below(
    lowest: Level, taken: list[Level], verdict: Callable[..., Verdict]
) -> None:
    base = verdict("X-1", Outcome.PASS)
    selection = Selection(lowest_level=lowest)
    assert [
        level for level in Level if selection.takes(dataclasses.replace(base, level=level))
    ] == taken


def test_a_revision_leaves_out_the_other(verdict: Callable[..., Verdict]) -> None:
    selection = Selection(revision=Revision.LEGACY)
    assert selection.takes(verdict("X-1", Outcome.PASS, revision=Revision.LEGACY))
    assert not selection.takes(verdict("X-1", Outcome.PASS, revision=Revision.MODERN))


def test_rules_come_first_then_revisions_then_ids(verdict: Callable[..., Verdict]) -> None:
    legacy, modern = Revision.LEGACY, Revision.MODERN
    mixed = [
        verdict("B-2", Outcome.PASS, revision=legacy),
        verdict("A-1", Outcome.PASS, revision=modern),
        verdict("MCP-ERR-002", Outcome.PASS),
        verdict("A-3", Outcome.PASS, revision=legacy),
        verdict("MCP-ERR-001", Outcome.PASS),
    ]
    assert [v.id for v in in_order(mixed)] == ["MCP-ERR-001", "MCP-ERR-002", "A-3", "B-2", "A-1"]
