"""The reference client meets every requirement that the official suite can test."""

from __future__ import annotations

from pathlib import Path

import pytest

from clausewise.app import validate
from clausewise.core.vocabulary import Direction, Outcome, Revision
from clausewise.trace.events import Event, EventKind
from clausewise.trace.recordings import ReadingOptions, open_recording
from tests.official import calibration
from tests.official.calibration import Disagreement, differences, of_run, our_findings
from tests.official.client_leg import exit_codes, recordings, run_client_leg
from tests.official.client_under_test import PLANS, SCRIPTS, main
from tests.official.message_shapes import fault_of_request
from tests.official.recorded_rules import judged, recorded_traffic
from tests.official.suite import SuiteRun, required_scenarios, run_suite

LEGACY, MODERN = Revision.LEGACY.value, Revision.MODERN.value
UNSUPPORTED = {
    *("auth/dpop", "auth/dpop-nonce", "auth/enterprise-managed-authorization"),
    "auth/wif-jwt-bearer",
}
"""Not required: of extensions that the client does not have."""

REFUSES = {
    *("auth/iss-normalized", "auth/iss-supported-missing", "auth/iss-unexpected"),
    *("auth/iss-wrong-issuer", "auth/metadata-issuer-mismatch", "auth/resource-mismatch"),
    "auth/scope-retry-limit",
}
"""Servers with which the client must not go on, so that it ends with an error."""


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("revision", "required"), [(LEGACY, 18), (MODERN, 32)])
def test_every_client_scenario_passes_and_our_judgement_differs_only_where_listed(
    revision: str, required: int, tmp_path: Path
) -> None:
    run = run_client_leg(revision, tmp_path)
    complaints = {s.name: s.complaints for s in run.required if s.complaints or not s.passed}
    assert complaints == {}
    assert (run.passed, len(run.required)) == (True, required), run.output
    failed = {scenario.name for scenario in run.scenarios if not scenario.passed}
    assert failed == UNSUPPORTED
    codes = exit_codes(tmp_path)
    ended = {name for name, code in codes.items() if code != 0} - UNSUPPORTED
    assert ended == REFUSES & codes.keys()
    assert recordings(tmp_path).keys() == {scenario.name for scenario in run.scenarios}
    assert _disagreements(run, tmp_path) == []
    assert [fault for trace in recordings(tmp_path).values() for fault in _misshapen(trace)] == []


def _disagreements(run: SuiteRun, folder: Path) -> list[str]:
    """Where our judgement of the recordings differs from the suite's, other than listed."""
    listed = calibration.load()
    seen: list[Disagreement] = []
    for scenario, trace in recordings(folder).items():
        result = validate.run((str(trace),), validate.ValidateOptions())
        assert [v.id for v in result.verdicts if v.outcome is Outcome.CRASHED] == []
        seen += our_findings(scenario, result.verdicts)
        if run.revision == MODERN:
            seen += our_findings(scenario, judged(recorded_traffic(trace)))
    ours = differences(of_run(listed.findings, "client", run.revision), seen)
    failures = [*calibration.their_failures(run.scenarios)]
    return ours + differences(of_run(listed.failures, "client", run.revision), failures)


def _misshapen(trace: Path) -> list[tuple[int, object]]:
    """What the client sends in a modern recording in another shape than we know."""
    with open_recording(str(trace), ReadingOptions()) as recording:
        sent = [event for event in recording.events() if _is_modern_request(event)]
    return [(event.seq, fault) for event in sent if (fault := fault_of_request(event))]


def _is_modern_request(event: Event) -> bool:
    is_message = event.kind is EventKind.MESSAGE and event.session is None
    return is_message and event.direction is Direction.CLIENT_TO_SERVER


@pytest.mark.usefixtures("installed")
def test_a_client_that_does_nothing_passes_nothing() -> None:
    run = run_suite("client", LEGACY, ["--command", "true"])
    assert not run.passed
    assert [scenario.name for scenario in run.required if scenario.passed] == []


@pytest.mark.usefixtures("installed")
def test_every_script_is_of_a_scenario_and_every_plan_has_its_script() -> None:
    scenarios = {*required_scenarios("client", LEGACY), *required_scenarios("client", MODERN)}
    others = {"auth/client-credentials-basic", "auth/client-credentials-jwt"}
    others.add("json-schema-2020-12-preservation")
    assert PLANS.keys() - others <= scenarios
    assert {plan.script for plan in PLANS.values()} == {f.stem for f in SCRIPTS.glob("*.toml")}


def test_the_client_is_told_what_the_suite_tells(tmp_path: Path) -> None:
    environ = {
        "MCP_CONFORMANCE_SCENARIO": "auth/pre-registration",
        "MCP_CONFORMANCE_PROTOCOL_VERSION": LEGACY,
        "MCP_CONFORMANCE_CONTEXT": '{"client_id": "me", "client_secret": "s3cret-s3cret"}',
    }
    assert main(tmp_path, "http://127.0.0.1:9/mcp", environ) == 3
    assert exit_codes(tmp_path) == {"auth/pre-registration": 3}
