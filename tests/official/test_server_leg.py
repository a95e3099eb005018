"""The reference server meets every requirement that the official suite can test."""

from __future__ import annotations

import subprocess
from collections import Counter

import pytest

from clausewise.reference.options import ServerOptions
from tests.official.run import table
from tests.official.server_leg import run_server_leg
from tests.official.suite import EXPECTED_FAILURES, Scenario, SuiteRun, required_scenarios


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("revision", "required"), [("2025-11-25", 30), ("2026-07-28", 37)])
def test_every_server_scenario_passes_but_those_of_the_tasks_extension(
    revision: str, required: int
) -> None:
    run = run_server_leg(revision)
    complaints = {s.name: s.complaints for s in run.required if s.complaints or not s.passed}
    assert complaints == {}
    assert (run.passed, len(run.required)) == (True, required), run.output
    others = {scenario.name for scenario in run.scenarios if not scenario.passed}
    assert all(name.startswith("tasks-") for name in others), others


@pytest.mark.usefixtures("installed")
def test_a_server_without_the_fixtures_does_not_pass() -> None:
    run = run_server_leg("2025-11-25", ServerOptions())
    assert not run.passed
    failed = {scenario.name for scenario in run.required if not scenario.passed}
    assert {"tools-call-simple-text", "resources-read-text", "prompts-get-simple"} <= failed
    assert "ping" not in failed


@pytest.mark.usefixtures("installed")
def test_a_revision_that_the_suite_does_not_know_is_an_error() -> None:
    with pytest.raises(subprocess.CalledProcessError):
        required_scenarios("server", "1999-01-01")


def test_nothing_is_expected_to_fail() -> None:
    lines = EXPECTED_FAILURES.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#")] == ["server: []", "client: []"]


def scenario(name: str, statuses: dict[str, int], *, required: bool = True) -> Scenario:
    complaints = ("some-check: it broke",) if "FAILURE" in statuses else ()
    return Scenario(name, required, Counter(statuses), complaints)


@pytest.mark.parametrize(
    ("statuses", "passed"),
    [
        ({"SUCCESS": 2, "INFO": 1}, True),
        ({"SUCCESS": 1, "WARNING": 1}, True),
        ({"SUCCESS": 2, "FAILURE": 1}, False),
        ({"INFO": 1, "SKIPPED": 1}, False),
        ({}, False),
    ],
)
def test_a_scenario_passes_by_a_success_and_no_failure(
    statuses: dict[str, int], passed: bool
) -> None:
    assert scenario("any", statuses).passed is passed


@pytest.mark.parametrize(
    ("exit_code", "statuses", "passed"),
    [(0, {"SUCCESS": 1}, True), (1, {"SUCCESS": 1}, False), (0, {"FAILURE": 1}, False)],
)
def test_a_leg_passes_when_the_suite_and_every_required_scenario_say_so(
    exit_code: int, statuses: dict[str, int], passed: bool
) -> None:
    scenarios = (scenario("a", statuses), scenario("b", {"FAILURE": 1}, required=False))
    assert SuiteRun("server", "2025-11-25", exit_code, "", scenarios).passed is passed


def test_the_table_tells_what_failed_in_what_is_required() -> None:
    scenarios = (
        scenario("good", {"SUCCESS": 2}),
        scenario("bad", {"SUCCESS": 1, "FAILURE": 1}),
        scenario("extra", {"FAILURE": 3}, required=False),
    )
    lines = list(table(SuiteRun("server", "2025-11-25", 1, "", scenarios)))
    rows = [line.split() for line in lines]
    assert ["good", "2", "0", "0", "0"] in rows
    assert ["bad", "1", "1", "0", "0", "failed"] in rows
    assert ["extra", "0", "3", "0", "0", "not", "required"] in rows
    assert rows.count(["some-check:", "it", "broke"]) == 1
    assert "  1 of 2 required scenarios pass" in lines
