"""Where our judgement of the server leg differs from the suite's, it is listed with whose mistake.

So it is for the right server, and for some defects that one side notices, or both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from clausewise.app import validate
from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Era, Outcome, Party, Revision, TransportKind
from tests.defects.reference_runs import check_reference
from tests.official import calibration
from tests.official.calibration import (
    Calibration,
    Disagreement,
    differences,
    of_run,
    our_findings,
    their_failures,
)
from tests.official.message_shapes import answers
from tests.official.recorded_rules import judged, recorded_traffic
from tests.official.server_leg import FIXTURES, run_server_leg
from tests.official.suite import SuiteRun

LEGACY, MODERN = Revision.LEGACY.value, Revision.MODERN.value
WHOLE_LEG = calibration.ANY
"""In the place of a scenario: a recording has all of a leg's in one."""

SHAPE = Disagreement(WHOLE_LEG, "shape server")
"""The server sends a modern message of another shape than we know."""

FINDINGS = (Outcome.FAIL, Outcome.WARN, Outcome.CRASHED)
DEFECTS = (
    (LEGACY, "resource-blob-not-base64"),
    (LEGACY, "jsonrpc-version-one"),
    (LEGACY, "meta-prefix-malformed"),
    (LEGACY, "list-changed-undeclared"),
    (LEGACY, "embedded-resource-without-resources"),
    (MODERN, "prompts-list-without-ttl"),
    (MODERN, "discover-without-ttl"),
    (MODERN, "name-header-optional"),
    (MODERN, "tools-vary-per-connection"),
)
"""Faults of the reference server, with which the suite runs and we judge, by revision."""


@pytest.fixture(scope="module")
def listed() -> Calibration:
    return calibration.load()


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("revision", [LEGACY, MODERN])
def test_our_judgement_of_the_right_server_differs_only_where_listed(
    revision: str, listed: Calibration, tmp_path: Path
) -> None:
    run, verdicts, seen = run_and_judge(revision, tmp_path / "leg.jsonl")
    assert run.passed
    # The suite had the server ask for input and report progress, so these had occasions.
    asking = {"ELIC-006", "ELIC-009", "SAMP-006", "PROG-011"}
    rules = {"MCP-RES-001", "MCP-ERR-005", "CW-MRT-004", "CW-PRG-001"}
    passed = {verdict.id for verdict in verdicts if verdict.outcome is Outcome.PASS}
    assert passed >= (asking if revision == LEGACY else rules)
    ours = [
        finding
        for verdict in verdicts
        if verdict.outcome in FINDINGS
        for finding in verdict.findings
        if finding.party is Party.SERVER and finding.severity in FINDINGS
    ]
    assert ours == []
    assert differences(of_run(listed.findings, "server", revision), seen) == []
    failures = their_failures(run.scenarios)
    assert differences(of_run(listed.failures, "server", revision), failures) == []


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(("revision", "defect"), DEFECTS)
def test_a_defect_that_one_side_alone_notices_is_listed(
    revision: str, defect: str, listed: Calibration, tmp_path: Path
) -> None:
    run, _, ours = run_and_judge(revision, tmp_path / "leg.jsonl", defect)
    ours = [one for one in ours if one.what.endswith(" server")]
    theirs = list(their_failures(run.required))
    if ours and theirs:
        ours = theirs = []
    assert differences(of_run(listed.findings, "server", revision, defect), ours) == []
    assert differences(of_run(listed.failures, "server", revision, defect), theirs) == []


def test_what_is_listed_with_a_defect_is_looked_at(listed: Calibration) -> None:
    entries = [*listed.findings, *listed.failures]
    assert {(one.revision, one.defect) for one in entries if one.defect} <= set(DEFECTS)


def run_and_judge(
    revision: str, trace: Path, defect: str | None = None
) -> tuple[SuiteRun, list[Verdict], list[Disagreement]]:
    """A leg of the suite, our verdicts about it, and the MUST findings among them."""
    defects = () if defect is None else (defect,)
    run = run_server_leg(revision, replace(FIXTURES, defects=defects), trace)
    if revision == LEGACY:
        verdicts = list(validate.run((str(trace),), validate.ValidateOptions()).verdicts)
        return run, verdicts, list(our_findings(WHOLE_LEG, verdicts))
    verdicts = list(judged(recorded_traffic(trace)))
    if defects:
        verdicts += check_reference(Era.MODERN, TransportKind.HTTP, defects).verdicts
    return run, verdicts, [*our_findings(WHOLE_LEG, verdicts), *misshapen(trace)]


def misshapen(trace: Path) -> Iterator[Disagreement]:
    """Whether the server sent a message of another shape than we know."""
    faults = [fault for _, fault in answers(trace)]
    assert len(faults) > 100
    if any(fault is not None for fault in faults):
        yield SHAPE
