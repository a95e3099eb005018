"""What `explain` says of a clause, a rule and a check."""

from __future__ import annotations

import json

import jsonschema_rs
import pytest
from click.testing import CliRunner

from clausewise import registry
from clausewise.app import explain as use_case
from clausewise.app.explain import explain
from clausewise.cli.explain import command
from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Revision
from clausewise.report.catalogue import schema
from clausewise.report.explanation import (
    CheckExplanation,
    ClauseExplanation,
    ExplanationFormat,
    RuleExplanation,
    render,
)

IDS = ["BASE-003", "ELIC-041", "TOOL-002", "MCP-STL-001", "MCP-DSC-003", "base.request-id-unique"]


class Documented:
    summary = "A request reuses an id."
    why = "Answers get mixed up."
    fix = "Count up."

    @property
    def documentation(self) -> Documented:
        return self


@pytest.fixture
def implemented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_case, "checks", lambda: {"base.request-id-unique": Documented()})
    monkeypatch.setattr(use_case, "probes", lambda: {"MCP-STL-001": Documented()})


def said(*names: str) -> str:
    text = render(explain(names), ExplanationFormat.HUMAN)
    return " ".join(text.split())


@pytest.mark.usefixtures("implemented")
def test_a_judged_clause_is_explained_with_its_checks() -> None:
    text = said("BASE-003")
    clause = registry.clauses(Revision.LEGACY)["BASE-003"]
    for part in (
        clause.statement,
        "level MUST NOT",
        "binds client and server",
        clause.url,
        "check base.request-id-unique",
        "what A request reuses an id.",
        "why Answers get mixed up.",
        "fix Count up.",
    ):
        assert part in text


def test_a_clause_is_explained_with_the_probe_that_decides_it() -> None:
    text = said("TRAN-008")
    assert "probe transport.bound-to-loopback" in text
    assert "what A server that runs locally listens on all network interfaces." in text
    assert "fix bind to 127.0.0.1" in text


def test_a_probe_is_explained_with_the_clauses_that_it_decides() -> None:
    text = said("cancellation.takes-effect")
    assert text.startswith("cancellation.takes-effect: probe")
    assert "decides CANC-021 (SHOULD, 2025-11-25)" in text


def test_an_excluded_clause_is_explained_with_its_reason_and_type() -> None:
    clause = registry.clauses(Revision.LEGACY)["ELIC-041"]
    assert clause.exclusion is not None
    text = said("ELIC-041")
    assert f"excluded {clause.exclusion.reason}" in text
    assert f"type ui: {clause.exclusion.type.meaning}" in text


def test_the_condition_of_a_clause_is_told() -> None:
    assert "applies if server.tools.listChanged is declared" in said("TOOL-002")


@pytest.mark.usefixtures("implemented")
def test_a_rule_is_explained_with_both_severities_note_needs_and_probe() -> None:
    rule = registry.rules()["MCP-STL-001"]
    text = said("MCP-STL-001")
    for part in (
        rule.title,
        "level SHOULD; if broken: warn",
        "listed MUST NOT; if broken: fail",
        f"note {rule.note}",
        "needs Streamable HTTP",
        rule.url,
        "see also basic#statelessness",
        "what A request reuses an id.",
    ):
        assert part in text


def test_a_rule_of_best_practice_says_so() -> None:
    assert "source best practice" in said("MCP-DSC-003")


@pytest.mark.usefixtures("implemented")
def test_a_check_is_explained_with_the_clauses_it_judges() -> None:
    text = said("base.request-id-unique")
    assert "what A request reuses an id." in text
    assert "judges BASE-003 (MUST NOT, 2025-11-25)" in text


def test_what_is_not_implemented_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use_case, "checks", dict)
    monkeypatch.setattr(use_case, "probes", dict)
    assert "the check is not implemented yet" in said("BASE-003")
    assert "probe not implemented yet" in said("MCP-STL-001")


@pytest.mark.parametrize("name", IDS)
def test_ids_are_taken_in_any_case(name: str) -> None:
    assert explain([name.lower()]) == explain([name.upper()]) == explain([f" {name} "])


def test_each_kind_of_name_gives_its_kind_of_explanation() -> None:
    kinds = [type(found) for found in explain(["BASE-003", "MCP-STL-001", "base.error-shape"])]
    assert kinds[0] is ClauseExplanation
    assert RuleExplanation in kinds
    assert kinds[-1] is CheckExplanation


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("BASE-0003", "Did you mean BASE-003?"),
        ("stl-001", "Did you mean MCP-STL-001?"),
        ("base.request-id-uniqe", "Did you mean base.request-id-unique?"),
        ("§§§", "`clausewise rules` and `clausewise requirements` list the ids."),
    ],
)
def test_an_unknown_name_is_a_usage_error_with_a_suggestion(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        explain([name])
    assert caught.value.message == f"no clause, rule, check or probe is called {name!r}"
    assert caught.value.hint == hint


def test_everything_in_the_registry_can_be_explained_and_fits_the_schema() -> None:
    clauses = registry.clauses(Revision.LEGACY)
    names = [
        *clauses,
        *registry.rules(),
        *(c for clause in clauses.values() for c in (*clause.checks, *clause.probes)),
    ]
    done = CliRunner().invoke(command, ["--format", "json", *names], catch_exceptions=False)
    document = json.loads(done.stdout)
    assert len(document["explanations"]) >= len(names)
    validator = jsonschema_rs.validator_for(schema("explanation-1"))
    assert list(validator.iter_errors(document)) == []
    for explanation in explain(names):
        assert render([explanation], ExplanationFormat.HUMAN, width=60).strip()
