"""The registry against independent records of the same sentences."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from clausewise import registry
from clausewise.core.vocabulary import Revision
from clausewise.registry import Origin

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


def test_every_clause_of_2026_07_28_agrees_with_its_record(shared: Path) -> None:
    path = shared / "facts" / "clauses-2026-07-28.json"
    if not path.exists():
        pytest.skip(f"no {path}")
    recorded = {
        fact["id"]: (fact["level"], tuple(fact["binds"]), fact["anchor"] or "", fact["judged"])
        for fact in json.loads(path.read_text(encoding="utf-8"))
    }
    held = {
        clause.id: (clause.level, clause.binds, clause.anchor, clause.exclusion is None)
        for clause in registry.clauses(Revision.MODERN).values()
    }
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


WITHOUT_A_RULE = {
    ("basic/transports/stdio", "receiving-messages"),
    ("basic/transports/streamable-http", "server-behavior-for-custom-headers"),
    ("basic/transports/streamable-http", "schema-extension"),
    ("server/resources", "security-considerations"),
    ("basic/authorization", "step-up-authorization-flow"),
}
"""Places of the sentences that a rule of the list judges, or that no probe may or can decide."""


def test_every_sentence_that_the_list_of_rules_leaves_out_has_a_rule_of_ours(shared: Path) -> None:
    path = shared / "facts" / "server-musts-beyond-the-rules-2026-07-28.json"
    if not path.exists():
        pytest.skip(f"no {path}")
    facts = json.loads(path.read_text(encoding="utf-8"))
    due = Counter((fact["page"], fact["anchor"]) for fact in facts)
    own = (rule for rule in registry.rules().values() if rule.origin is Origin.CLAUSEWISE)
    held = Counter((rule.page, rule.anchor) for rule in own)
    assert len(facts) == 73
    assert not held - due
    assert due - held == Counter(dict.fromkeys(WITHOUT_A_RULE, 1))


def test_our_rules_name_the_official_checks_of_their_sentences(shared: Path) -> None:
    path = shared / "facts" / "server-musts-beyond-the-rules-2026-07-28.json"
    if not path.exists():
        pytest.skip(f"no {path}")
    facts = json.loads(path.read_text(encoding="utf-8"))
    named = {rule.official for rule in registry.rules().values() if rule.official is not None}
    judged_by_the_list = {"sep-2243-server-not-expect-null"}
    assert {fact["official"] for fact in facts if fact["official"]} == named | judged_by_the_list
