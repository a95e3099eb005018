"""The catalogues as the commands print them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import jsonschema_rs
import pytest
from click.testing import CliRunner

from clausewise import registry
from clausewise.app import catalogue as use_case
from clausewise.app.catalogue import ClauseFilter, clause_catalogue, clause_entry, rule_catalogue
from clausewise.cli import explain, requirements, rules
from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Level, Party, Revision
from clausewise.report.catalogue import (
    CatalogueFormat,
    ClauseStatus,
    RuleStatus,
    render_clauses,
    render_rules,
    schema,
)

COMMANDS = {
    "requirements": requirements.command,
    "rules": rules.command,
    "explain": explain.command,
}


def run(command: str, *arguments: str) -> str:
    done = CliRunner().invoke(COMMANDS[command], arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def fits(document: object, name: str) -> bool:
    return jsonschema_rs.validator_for(schema(name)).is_valid(document)


@pytest.fixture
def nothing_implemented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_case, "checks", dict)
    monkeypatch.setattr(use_case, "probes", dict)


def test_the_json_of_requirements_fits_its_schema_and_counts_all() -> None:
    document = json.loads(run("requirements", "--format", "json"))
    assert fits(document, "requirements-1")
    assert list(document) == ["schema", "revision", "counts", "clauses"]
    counts = document["counts"]
    assert (counts["all"], counts["excluded"], counts["beyond"]) == (348, 218, 28)
    assert counts["probed"] == 10
    assert counts["judged"] + counts["planned"] == 130
    assert sum(clause["beyond"] for clause in document["clauses"]) == 28
    assert [clause["id"] for clause in document["clauses"]] == list(
        registry.clauses(Revision.LEGACY)
    )


@pytest.mark.parametrize("lost", ["id", "statement", "exclusion", "url"])
def test_the_schema_refuses_a_clause_without_a_member(lost: str) -> None:
    document = json.loads(run("requirements", "--format", "json"))
    del document["clauses"][0][lost]
    assert not fits(document, "requirements-1")


def test_the_schema_refuses_a_judged_clause_with_an_exclusion() -> None:
    document = json.loads(run("requirements", "--format", "json", "--status", "excluded"))
    document["clauses"][0]["status"] = "judged"
    assert not fits(document, "requirements-1")


def test_the_json_of_rules_fits_its_schema() -> None:
    document = json.loads(run("rules", "--format", "json"))
    assert fits(document, "rules-1")
    assert [rule["origin"] for rule in document["rules"]] == ["list"] * 79 + ["clausewise"] * 68
    stateless = next(rule for rule in document["rules"] if rule["id"] == "MCP-STL-001")
    assert (stateless["level"], stateless["severity"]) == ("MUST NOT", "fail")
    assert stateless["effective"] == {"level": "SHOULD", "severity": "warn"}


@pytest.mark.usefixtures("nothing_implemented")
def test_what_is_not_implemented_is_planned() -> None:
    clauses = clause_catalogue(Revision.LEGACY)
    counts = {"all": 348, "judged": 0, "excluded": 218, "planned": 130, "beyond": 0}
    assert clauses.counts == counts | {"probed": 10}
    assert {entry.status for entry in rule_catalogue()} == {RuleStatus.PLANNED}
    assert "(planned)" in render_clauses(clauses, CatalogueFormat.MARKDOWN)


def test_one_implemented_check_makes_a_clause_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    clause = registry.clauses(Revision.LEGACY)["SAMP-019"]
    assert len(clause.checks) > 1
    monkeypatch.setattr(use_case, "checks", lambda: {clause.checks[-1]: object()})
    assert clause_entry(clause).status is ClauseStatus.JUDGED


@pytest.mark.parametrize(
    ("wanted", "number"),
    [
        (ClauseFilter(), 348),
        (ClauseFilter(statuses=frozenset({ClauseStatus.EXCLUDED})), 218),
        (ClauseFilter(levels=frozenset({Level.MUST_NOT, Level.SHOULD_NOT})), 43),
        (ClauseFilter(party=Party.CLIENT), 202),
    ],
)
def test_a_filter_lets_through_what_it_names(wanted: ClauseFilter, number: int) -> None:
    assert clause_catalogue(Revision.LEGACY, wanted).counts["all"] == number


def test_the_options_of_requirements_narrow_the_list() -> None:
    options = ["--status", "excluded", "--level", "must not", "--party", "client"]
    document = json.loads(run("requirements", "--format", "json", *options))
    assert document["clauses"]
    for clause in document["clauses"]:
        assert clause["status"] == "excluded"
        assert clause["level"] == "MUST NOT"
        assert "client" in clause["binds"]


def test_the_list_for_people_has_aligned_columns_and_ends_with_totals() -> None:
    lines = run("requirements", "--status", "excluded").splitlines()
    assert lines[0] == "BASE: Base protocol"
    (row,) = [line for line in lines if line.startswith("  TRAN-002")]
    assert row.startswith("  TRAN-002  MUST        server          by probe  Servers MUST")
    (row,) = [line for line in lines if line.startswith("  TRAN-010")]
    assert row.startswith("  TRAN-010  SHOULD      server          excluded  The session ID")
    assert lines[-1] == (
        "218 clauses of 2025-11-25: 0 judged, 218 excluded (10 decided by a probe of a live "
        "server), 0 planned"
    )
    assert max(map(len, lines[:-1])) <= 100


def test_a_clause_that_a_probe_decides_stays_excluded_and_names_its_probe() -> None:
    document = json.loads(run("requirements", "--format", "json"))
    found = {clause["id"]: clause for clause in document["clauses"]}
    bound = found["TRAN-008"]
    assert (bound["status"], bound["probes"]) == ("excluded", ["transport.bound-to-loopback"])
    assert found["TRAN-010"]["probes"] == []
    rows = run("requirements", "--format", "markdown").splitlines()
    (row,) = [row for row in rows if row.startswith("| [TRAN-008]")]
    assert row.endswith("On a live server: `transport.bound-to-loopback` |")


def test_clauses_beyond_the_requirements_are_marked() -> None:
    lines = run("requirements").splitlines()
    (row,) = [line for line in lines if line.startswith("  TRAN-001")]
    assert row.startswith("  TRAN-001  MUST NOT    client, server  judged+   Messages are")
    assert "judged (28+ beyond the published requirements), 218 excluded" in lines[-1]
    rows = run("requirements", "--format", "markdown").splitlines()
    assert sum(row.endswith("(beyond the published requirements) |") for row in rows) == 28
    assert "beyond" in run("explain", "TRAN-001")
    assert "beyond" not in run("explain", "TRAN-004")


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = render_clauses(clause_catalogue(Revision.LEGACY), CatalogueFormat.HUMAN, width)
    text += render_rules(rule_catalogue(), CatalogueFormat.HUMAN, width)
    for line in text.splitlines():
        is_one_word = " " not in line.strip()
        assert len(line) <= width or is_one_word or _has_only_columns(line), line


_STATUSES = (*ClauseStatus, *RuleStatus, "probe")


def _has_only_columns(line: str) -> bool:
    return line.split()[-1].rstrip("+") in {*_STATUSES} or " of 20" in line


def test_an_empty_selection_still_has_its_totals() -> None:
    text = run("requirements", "--level", "MAY")
    assert text == "0 clauses of 2025-11-25: 0 judged, 0 excluded, 0 planned\n"


def test_rules_show_where_the_text_departs_from_the_list() -> None:
    text = " ".join(run("rules", "--group", "mcp-stl").split())
    assert "MCP-STL-001 SHOULD warn" in text
    assert "(listed as MUST NOT, fail)" in text
    assert "8 rules of 2026-07-28" in text


def test_markdown_has_a_table_for_each_area_with_links_and_reasons() -> None:
    text = run("requirements", "--format", "markdown")
    assert text.startswith("# Clauses of 2025-11-25\n")
    assert text.count("\n## ") == len(registry.areas(Revision.LEGACY))
    for clause in registry.clauses(Revision.LEGACY).values():
        assert text.count(f"| [{clause.id}](https://") == 1
    rows = [line for line in text.splitlines() if line.startswith("| [")]
    assert {row.replace("\\|", "").count("|") for row in rows} == {6}
    assert not any(")" in row.partition("](")[2].partition(") |")[0] for row in rows)


def test_markdown_of_the_rules_gives_the_notes() -> None:
    text = run("rules", "--format", "markdown")
    assert "MUST NOT, fail | SHOULD, warn | The text is a SHOULD in a list" in text


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: rule_catalogue("nope"), "no group of rules 'nope'"),
    ],
)
def test_what_does_not_exist_is_a_usage_error(call: Any, complaint: str) -> None:
    with pytest.raises(UsageError) as caught:
        call()
    assert complaint in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("arguments", [["requirements"], ["rules"], ["explain", "MCP-STL-007"]])
def test_a_terminal_without_unicode_gets_escapes(
    arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name, *rest = arguments
    done = CliRunner(charset="ascii").invoke(COMMANDS[name], rest, catch_exceptions=False)
    assert done.exit_code == 0
    assert done.stdout_bytes.isascii()


def test_a_group_can_be_narrowed_to_the_rules_of_one_origin() -> None:
    ids = {origin: [e.rule.id for e in rule_catalogue(origin)] for origin in ("hdr", "CW-HDR")}
    assert ids["CW-HDR"] == ["CW-HDR-001", "CW-HDR-002"]
    assert ids["hdr"][-2:] == ids["CW-HDR"]
    assert ids["hdr"][0] == "MCP-HDR-001"


def test_our_own_rules_stand_apart_and_are_counted_apart() -> None:
    text = render_rules(rule_catalogue(), CatalogueFormat.HUMAN)
    assert text.splitlines()[-1] == (
        "79 rules of 2026-07-28: 79 implemented, 0 planned; "
        "68 of our own: 68 implemented, 0 planned"
    )
    assert text.index("MCP-REG-004") < text.index("HDR: Request metadata headers, our own")


def test_an_explanation_says_which_check_of_the_official_suite_looks_at_the_same() -> None:
    assert "http-header-validation" in run("explain", "CW-HDR-001")
    record = json.loads(run("explain", "CW-HDR-001", "--format", "json"))["explanations"][0]
    assert (record["origin"], record["official"][:22]) == ("clausewise", "http-header-validation")
