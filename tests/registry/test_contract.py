"""What every record of the registry owes its readers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from clausewise import registry
from clausewise.core.vocabulary import Level, Outcome, Revision
from clausewise.registry import ExclusionType, Origin
from clausewise.registry.links import text_directive

CLAUSES = registry.clauses(Revision.LEGACY)
RULES = registry.rules()
LISTED = {name: rule for name, rule in RULES.items() if rule.origin is Origin.LIST}
OWN = {name: rule for name, rule in RULES.items() if rule.origin is Origin.CLAUSEWISE}
_SEVERITIES = [Outcome.INFO, Outcome.WARN, Outcome.FAIL]


def test_the_clauses_are_348_of_which_102_are_judged_by_96_checks() -> None:
    judged = [clause for clause in CLAUSES.values() if clause.checks and not clause.beyond]
    assert len(CLAUSES) == 348
    assert len(judged) == 102
    assert len({check for clause in judged for check in clause.checks}) == 96


def test_28_clauses_beyond_the_requirements_have_a_check_each_of_their_own() -> None:
    beyond = [clause for clause in CLAUSES.values() if clause.beyond]
    others = {name for c in CLAUSES.values() if not c.beyond for name in c.checks}
    own = [name for clause in beyond for name in clause.checks]
    assert len(beyond) == len(own) == len(set(own)) == 28
    assert not others & set(own)


def test_a_clause_has_checks_or_an_exclusion_and_never_both() -> None:
    for clause in CLAUSES.values():
        assert bool(clause.checks) != (clause.exclusion is not None), clause.id


def test_the_clauses_of_2026_07_28_are_630_whose_checks_are_planned_or_that_are_excluded() -> None:
    modern = registry.clauses(Revision.MODERN).values()
    excluded = [clause.exclusion for clause in modern if clause.exclusion is not None]
    assert len(modern) == 630
    assert len(excluded) == 227
    assert not any(clause.checks for clause in modern)
    for exclusion in excluded:
        assert re.fullmatch(r"[A-Z].{14,}\.", exclusion.reason), exclusion.reason


def test_a_clause_names_only_rules_that_exist_and_that_are_of_its_revision() -> None:
    named = {
        rule: clause.revision
        for revision in Revision
        for clause in registry.clauses(revision).values()
        for rule in clause.rules
    }
    assert set(named) <= set(RULES)
    assert set(named.values()) == {Revision.MODERN}


def test_no_id_is_used_in_two_revisions() -> None:
    assert not set(CLAUSES) & set(registry.clauses(Revision.MODERN))


def test_every_reason_is_a_sentence_of_its_own() -> None:
    reasons = [clause.exclusion.reason for clause in CLAUSES.values() if clause.exclusion]
    assert len(reasons) == 218
    assert len(set(reasons)) == 218
    for reason in reasons:
        assert re.fullmatch(r"[A-Z\"].{20,}\.", reason), reason


def test_a_reason_names_only_clauses_that_exist() -> None:
    for clause in CLAUSES.values():
        if clause.exclusion:
            for name in re.findall(r"\b[A-Z]{3,4}-\d{3}\b", clause.exclusion.reason):
                assert name in CLAUSES, clause.id


def test_every_exclusion_type_is_used_and_has_a_meaning() -> None:
    used = Counter(clause.exclusion.type for clause in CLAUSES.values() if clause.exclusion)
    assert set(used) == set(ExclusionType)
    assert len({kind.meaning for kind in ExclusionType}) == len(ExclusionType)


def test_checks_are_named_after_an_area() -> None:
    for clause in CLAUSES.values():
        for check in clause.checks:
            assert re.fullmatch(r"[a-z]+\.[a-z0-9]+(-[a-z0-9]+)*", check), clause.id


def test_every_area_and_group_has_a_title() -> None:
    for revision in Revision:
        areas = {clause.area for clause in registry.clauses(revision).values()}
        assert areas == set(registry.areas(revision))
    assert {rule.group for rule in RULES.values()} == set(registry.groups())


def test_the_listed_rules_are_79_in_11_groups() -> None:
    assert len(LISTED) == 79
    assert len({rule.group for rule in LISTED.values()}) == 11
    for rule in LISTED.values():
        assert rule.id.startswith(f"MCP-{rule.group}-")


def test_our_own_rules_are_68_and_told_apart_by_their_ids() -> None:
    assert len(OWN) == 68
    for rule in OWN.values():
        assert re.fullmatch(rf"CW-{rule.group}-\d{{3}}", rule.id)
        assert rule.spec_traced, rule.id


def test_our_own_rules_follow_the_text() -> None:
    for rule in OWN.values():
        listed = (rule.level, rule.severity)
        assert listed == (rule.effective_level, rule.effective_severity), rule.id
        assert rule.level in (Level.MUST, Level.MUST_NOT), rule.id
        assert rule.severity is Outcome.FAIL or rule.note, rule.id


def test_no_two_rules_have_one_title() -> None:
    assert [title for title, n in Counter(r.title for r in RULES.values()).items() if n > 1] == []


def test_the_text_departs_from_38_rules_and_a_note_says_why() -> None:
    assert sum(rule.note is not None for rule in LISTED.values()) == 38
    for rule in RULES.values():
        listed = (rule.level, rule.severity)
        if listed != (rule.effective_level, rule.effective_severity):
            assert rule.note, rule.id


@pytest.mark.parametrize("name", ["MCP-SEC-005", "MCP-SEC-006", "MCP-SEC-007", "MCP-STL-001"])
def test_a_rule_harsher_than_the_text_never_fails(name: str) -> None:
    assert RULES[name].effective_severity is Outcome.WARN


def test_a_level_of_may_never_fails_where_the_verdict_follows_the_text() -> None:
    for rule in RULES.values():
        if rule.effective_level is Level.MAY:
            assert rule.effective_severity is not Outcome.FAIL, rule.id


def test_no_verdict_is_harsher_than_the_keyword_of_the_text() -> None:
    for rule in RULES.values():
        if rule.effective_level is not Level.MAY:
            allowed = _SEVERITIES.index(rule.effective_level.severity)
            assert _SEVERITIES.index(rule.effective_severity) <= allowed, rule.id


def test_a_text_directive_encodes_what_its_grammar_reserves() -> None:
    directive = text_directive("JSON-RPC, A & B", "that's (all).", "well-known")
    assert directive == (":~:text=well%2Dknown-,JSON%2DRPC%2C%20A%20%26%20B,that's%20(all).")


def test_rules_are_listed_as_their_page_lists_them(shared: Path) -> None:
    page = (shared / "mission" / "rules-2026-07-28.txt").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (MCP-\S+) \| (.+?) \| (\S+) \| (\S+) \| (\w+)", page, re.MULTILINE)
    listed = [
        (rule.id, rule.title, rule.level.replace(" ", "_"), rule.severity.value)
        for rule in LISTED.values()
    ]
    assert listed == [row[:4] for row in rows]
    assert [rule.spec_traced for rule in LISTED.values()] == [row[4] == "yes" for row in rows]
