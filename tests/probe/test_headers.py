"""Rules HDR-001 to HDR-010: each fires on its defect alone, and on nothing that is right."""

from __future__ import annotations

from typing import cast

import anyio
import pytest

from clausewise.core.vocabulary import Outcome
from clausewise.probe.probes.parameter_headers import UNSENDABLE
from clausewise.probe.run import ProbeOptions
from clausewise.transport.targets import HttpTarget
from tests.probe.fake_server import Reply, Request, serve_http
from tests.probe.faults import FAULTS
from tests.probe.faults_of_headers import TOOL, querying
from tests.probe.group_outcomes import Outcomes, changed, outcomes, recorded
from tests.probe.running import LIMITS, Recorded, probe_fake, probe_target

GROUP = "MCP-HDR"
FAIL, WARN, PASS = Outcome.FAIL, Outcome.WARN, Outcome.PASS
INCONCLUSIVE, NOT_OBSERVED = Outcome.INCONCLUSIVE, Outcome.NOT_OBSERVED
NOT_APPLICABLE = Outcome.NOT_APPLICABLE

STANDARD: dict[str, Outcomes] = {
    "no-method-served": {"MCP-HDR-001": FAIL},
    "no-method-200": {"MCP-HDR-001": FAIL},
    "no-method-rc-code": {"MCP-HDR-001": FAIL},
    "no-method-32600": {"MCP-HDR-001": FAIL},
    "no-method-bare": {"MCP-HDR-001": FAIL},
    "no-method-bare-by-nginx": {"MCP-HDR-001": INCONCLUSIVE},
    "no-method-401": {"MCP-HDR-001": INCONCLUSIVE},
    "no-method-silence": {"MCP-HDR-001": INCONCLUSIVE},
    "tools-refused": {
        "MCP-HDR-008": INCONCLUSIVE,
        "MCP-HDR-009": INCONCLUSIVE,
    },
    "no-name-runs": {"MCP-HDR-002": FAIL},
    "no-name-tool-error": {"MCP-HDR-002": FAIL},
    "unknown-tool-first": {"MCP-HDR-010": WARN},
    "unknown-tool-first-none-callable": {"MCP-HDR-002": INCONCLUSIVE, "MCP-HDR-010": WARN},
    "no-tools": {},
    "only-tools": {},
    "any-name": {"MCP-HDR-003": FAIL},
    "any-case": {"MCP-HDR-003": FAIL},
    "other-name-200": {"MCP-HDR-003": FAIL},
    "literal-name": {"MCP-HDR-007": FAIL},
    "upper-case-markers": {"MCP-HDR-007": FAIL},
    "no-version-served": {"MCP-HDR-004": FAIL},
    "no-version-32602": {"MCP-HDR-004": FAIL},
    "no-version-served-to-old-clients": {"MCP-HDR-004": NOT_APPLICABLE},
    "no-version-served-to-2025-06-18": {"MCP-HDR-004": FAIL},
    "versions-differ-served": {"MCP-HDR-005": FAIL},
    "versions-differ-unsupported": {"MCP-HDR-005": WARN},
    "versions-differ-bare-400": {"MCP-HDR-005": INCONCLUSIVE},
    "unknown-method-first": {"MCP-HDR-010": WARN},
}

PARAMETERS: dict[str, Outcomes] = {
    "query-unread": {"MCP-HDR-008": FAIL, "MCP-HDR-009": FAIL},
    "query-32602": {"MCP-HDR-008": FAIL, "MCP-HDR-009": FAIL},
    "query-missing-header": {"MCP-HDR-008": FAIL},
    "query-null": {"MCP-HDR-008": FAIL},
    "query-undecoded": {"MCP-HDR-008": FAIL, "MCP-HDR-009": INCONCLUSIVE},
    "query-integer-text": {"MCP-HDR-008": WARN},
    "query-any-boolean": {"MCP-HDR-008": FAIL},
    "query-raw-text": {"MCP-HDR-009": FAIL},
    "query-loose-base64": {"MCP-HDR-009": WARN},
    "query-bare": {},
    "query-not-callable": {"MCP-HDR-008": NOT_OBSERVED, "MCP-HDR-009": NOT_OBSERVED},
    "query-broken-tool": {"MCP-HDR-008": INCONCLUSIVE, "MCP-HDR-009": INCONCLUSIVE},
}


def test_a_server_that_validates_its_headers_passes() -> None:
    parameters = {"MCP-HDR-008": NOT_APPLICABLE, "MCP-HDR-009": NOT_APPLICABLE}
    assert {k: v for k, v in outcomes(None, GROUP).items() if v is not PASS} == parameters


@pytest.mark.parametrize("fault", STANDARD)
def test_a_fault_in_the_standard_headers_changes_its_own_rules_only(fault: str) -> None:
    assert changed(fault, GROUP) == STANDARD[fault]


def test_a_server_that_validates_its_parameter_headers_passes() -> None:
    seen = outcomes("query", GROUP)
    assert (seen["MCP-HDR-008"], seen["MCP-HDR-009"]) == (PASS, PASS)


@pytest.mark.parametrize("fault", PARAMETERS)
def test_a_fault_in_the_parameter_headers_changes_its_own_rules_only(fault: str) -> None:
    seen = changed(fault, GROUP, "query")
    rules = ("MCP-HDR-008", "MCP-HDR-009")
    assert {rule: one for rule, one in seen.items() if rule in rules} == PARAMETERS[fault]


def test_the_hint_says_how_a_tool_can_be_tried() -> None:
    reason = recorded("query-not-callable", GROUP)["MCP-HDR-008"].reason
    assert reason is not None
    assert "query" in reason
    assert "--call-tool" in reason


def test_without_tools_the_other_named_requests_decide_and_a_note_says_so() -> None:
    run = recorded("no-tools", GROUP)
    assert run["MCP-HDR-002"].outcome is PASS
    assert any("there are no tools" in note for note in run.run.notes)


def test_a_bare_400_for_invalid_characters_passes_with_a_note() -> None:
    run = recorded("query-bare", GROUP)
    assert run["MCP-HDR-009"].outcome is PASS
    assert any("bare 400" in note for note in run.run.notes)


def test_the_exemption_names_the_version_that_was_negotiated() -> None:
    reason = recorded("no-version-served-to-old-clients", GROUP)["MCP-HDR-004"].reason
    assert reason is not None
    assert "2025-03-26" in reason


@pytest.mark.parametrize("fault", ["no-method-served", "any-name", "no-version-served"])
def test_a_finding_is_reproduced_by_its_own_command(fault: str) -> None:
    async def run() -> list[str]:
        async with serve_http(FAULTS[fault]) as url:
            seen: Recorded = await probe_target(
                HttpTarget(url), ProbeOptions(select=(GROUP,), limits=LIMITS)
            )
            commands = [f.reproduce for v in seen.run.verdicts for f in v.findings]
            answers = []
            for command in commands:
                assert command is not None
                done = await anyio.run_process(["bash", "-c", command])
                answers.append(done.stdout.decode())
            return answers

    answers = anyio.run(run)
    assert answers
    for answer in answers:
        assert answer.startswith("HTTP/1.1 200")


def test_no_header_that_is_sent_could_split_a_request() -> None:
    assert all(not set(header) & set(b"\r\n\0") for _, header in UNSENDABLE)


def test_a_tool_whose_annotations_are_wrong_is_not_called() -> None:
    called: list[str] = []
    wrong = {**TOOL, "inputSchema": {"type": "object", "x-mcp-header": "A"}}
    listing = querying(tool=wrong)

    def fault(request: Request, reply: Reply) -> Reply | None:
        if request.method == "tools/call":
            called.append(str(request.params.get("name")))
        return cast("Reply | None", listing(request, reply))

    assert probe_fake(fault, GROUP)["MCP-HDR-008"].outcome is NOT_OBSERVED
    assert "query" not in called
