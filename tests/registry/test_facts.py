"""The registry against independent records of the same sentences."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest

from clausewise import registry
from clausewise.core.vocabulary import Revision

CLAUSES = registry.clauses(Revision.LEGACY)


@pytest.fixture(scope="module")
def facts(shared: Path) -> list[dict[str, Any]]:
    path = shared / "facts" / "clauses-2025-11-25.json"
    if not path.exists():
        pytest.skip(f"no {path}")
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def test_every_clause_agrees_with_its_record(facts: list[dict[str, Any]]) -> None:
    recorded = [
        (
            fact["id"],
            fact["level"],
            tuple(fact["binds"]),
            fact["condition"],
            fact["page"],
            fact["quote"],
            tuple(fact["checks"]),
        )
        for fact in facts
    ]
    held = [
        (c.id, c.level, c.binds, c.condition, c.page, c.quote, () if c.beyond else c.checks)
        for c in CLAUSES.values()
    ]
    assert held == recorded


def test_what_is_judged_beyond_the_requirements_needs_no_more_than_a_rich_recording(
    shared: Path,
) -> None:
    path = shared / "facts" / "excluded-but-judgeable-2025-11-25.tsv"
    if not path.exists():
        pytest.skip(f"no {path}")
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    by_recording = {
        row["id"] for row in rows if "a" in row["how"].split("/") and row["strength"] == "full"
    }
    beyond = {clause.id for clause in CLAUSES.values() if clause.beyond}
    # Waiting as long as `retry` says is a matter of time alone, and no verdict reads a clock.
    assert by_recording - beyond == {"TRAN-033"}
    assert beyond <= by_recording


def test_every_link_lands_on_the_recorded_sentence(facts: list[dict[str, Any]]) -> None:
    assert {c.id: c.url for c in CLAUSES.values()} == {fact["id"]: fact["url"] for fact in facts}


def test_reasons_are_in_our_own_words(shared: Path) -> None:
    page = (shared / "mission" / "requirements-2025-11-25.txt").read_text(encoding="utf-8")
    theirs = {run for line in page.splitlines() for run in _runs_of_words(line)}
    for clause in CLAUSES.values():
        if clause.exclusion and clause.quote:
            ours = _runs_of_words(clause.exclusion.reason) - _runs_of_words(clause.quote)
            assert not ours & theirs, clause.id


def _runs_of_words(text: str, length: int = 7) -> set[str]:
    words = re.findall(r"[\w']+", text.lower())
    return {" ".join(words[at : at + length]) for at in range(len(words) - length + 1)}
