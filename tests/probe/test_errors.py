"""Rules ERR-001 to ERR-008: each fires on its defect alone, and on nothing that is right."""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Era, Outcome, TransportKind
from tests.probe.faults import FAULTS
from tests.probe.observing import (
    HTTP,
    STDIO,
    Differences,
    changed,
    observe,
    outcomes,
    verdict,
)
from tests.probe.running import probe_fake

FAIL, WARN = Outcome.FAIL, Outcome.WARN
INCONCLUSIVE, NOT_OBSERVED = Outcome.INCONCLUSIVE, Outcome.NOT_OBSERVED
NOT_APPLICABLE = Outcome.NOT_APPLICABLE

ON_BOTH: dict[str, Differences] = {
    "old-version-served": {"MCP-ERR-001": FAIL},
    "old-version-32602": {"MCP-ERR-001": FAIL},
    "old-version-rc-code": {"MCP-ERR-001": FAIL, "MCP-ERR-008": WARN},
    "old-version-no-data": {"MCP-ERR-001": FAIL},
    "old-version-empty": {"MCP-ERR-001": FAIL},
    "old-version-mixed": {"MCP-ERR-001": FAIL},
    "old-version-misnamed": {"MCP-ERR-001": FAIL},
    "old-version-unrequested": {"MCP-ERR-001": FAIL},
    "old-version-wrong-requested": {"MCP-ERR-001": FAIL},
    "old-version-lists-legacy": {},
    "old-version-disagrees": {"MCP-ERR-001": WARN},
    "old-version-silence": {"MCP-ERR-001": INCONCLUSIVE},
    "unknown-method-code": {"MCP-ERR-002": FAIL},
    "unknown-method-served": {"MCP-ERR-002": FAIL},
    "unknown-method-text-id": {"MCP-ERR-002": FAIL},
    "unknown-method-null-id": {"MCP-ERR-002": FAIL},
    "unknown-method-code-32050": {"MCP-ERR-002": FAIL, "MCP-ERR-005": FAIL},
    "unknown-method-code-32042": {"MCP-ERR-002": FAIL, "MCP-ERR-004": FAIL},
    "unknown-method-code-32000": {"MCP-ERR-002": FAIL, "MCP-ERR-008": WARN},
    "unknown-method-code-32020": {"MCP-ERR-002": FAIL},
    "missing-32002": {"MCP-ERR-003": FAIL},
    "missing-32603": {"MCP-ERR-003": FAIL},
    "missing-empty": {"MCP-ERR-003": FAIL},
    "missing-matches": {"MCP-ERR-003": INCONCLUSIVE},
    "missing-asks": {"MCP-ERR-003": INCONCLUSIVE},
    "missing-template": {},
    "capabilities-optional": {"MCP-ERR-006": FAIL},
    "capabilities-32600": {"MCP-ERR-006": FAIL},
    "version-optional": {"MCP-ERR-006": FAIL},
    "meta-optional": {"MCP-ERR-006": FAIL},
    "meta-silence": {},
    "client-info-required": {"MCP-ERR-006": FAIL},
    "undeclared-array": {"MCP-ERR-007": FAIL},
    "undeclared-missing": {"MCP-ERR-007": FAIL},
    "undeclared-null": {"MCP-ERR-007": FAIL},
    "undeclared-other": {"MCP-ERR-007": FAIL},
    "undeclared-empty": {"MCP-ERR-007": FAIL},
    "undeclared-rc-code": {"MCP-ERR-007": FAIL, "MCP-ERR-008": WARN},
    "undeclared-32602": {"MCP-ERR-007": FAIL},
    "undeclared-asked": {"MCP-ERR-007": FAIL},
    "undeclared-is-error": {"MCP-ERR-007": FAIL},
    "undeclared-own-error": {"MCP-ERR-007": INCONCLUSIVE},
    "undeclared-state-only": {"MCP-ERR-007": INCONCLUSIVE},
    "undeclared-graceful": {"MCP-ERR-007": NOT_APPLICABLE},
    "nothing-asks": {"MCP-ERR-007": NOT_OBSERVED},
    "needs-extension": {},
    "needs-the-declared": {"MCP-ERR-007": FAIL},
}

ON_HTTP: dict[str, Differences] = {
    "old-version-status": {"MCP-ERR-001": FAIL},
    "old-version-401": {"MCP-ERR-001": INCONCLUSIVE},
    "unknown-method-200": {"MCP-ERR-002": FAIL},
    "unknown-method-400": {"MCP-ERR-002": FAIL},
    "unknown-method-stream": {"MCP-ERR-002": FAIL},
    "unknown-method-501": {"MCP-ERR-002": FAIL},
    "unknown-method-500": {"MCP-ERR-002": INCONCLUSIVE},
    "unknown-method-bare-404": {"MCP-ERR-002": INCONCLUSIVE},
    "missing-404": {},
    "missing-401": {"MCP-ERR-003": INCONCLUSIVE},
    "capabilities-200": {"MCP-ERR-006": FAIL},
    "version-mismatch": {},
    "meta-mismatch": {},
    "client-info-401": {"MCP-ERR-006": INCONCLUSIVE},
    "undeclared-200": {"MCP-ERR-007": FAIL},
    "undeclared-429": {"MCP-ERR-007": INCONCLUSIVE},
    "code-32042": {"MCP-ERR-004": FAIL},
    "code-32050": {"MCP-ERR-005": FAIL},
    "code-32099": {"MCP-ERR-005": FAIL},
    "code-32100": {},
    "code-32020": {"MCP-ERR-005": FAIL},
    "code-32022": {"MCP-ERR-005": FAIL},
    "code-32019": {"MCP-ERR-008": WARN},
    "code-32000": {"MCP-ERR-008": WARN},
}

ON_STDIO: dict[str, Differences] = {
    "version-mismatch": {"MCP-ERR-006": FAIL},
    "meta-mismatch": {"MCP-ERR-006": FAIL},
    "templates-as-rc": {
        "MCP-ERR-008": WARN,
        "MCP-CAC-001": INCONCLUSIVE,
        "MCP-CAC-002": INCONCLUSIVE,
    },
}


@pytest.mark.parametrize("fault", [*ON_BOTH, *ON_HTTP])
def test_over_http_a_fault_changes_its_own_rules_only(fault: str) -> None:
    assert changed(fault) == {**ON_BOTH, **ON_HTTP}[fault]


@pytest.mark.parametrize("fault", [*ON_BOTH, *ON_STDIO])
def test_over_stdio_a_fault_changes_its_own_rules_only(fault: str) -> None:
    assert changed(fault, STDIO) == {**ON_BOTH, **ON_STDIO}[fault]


@pytest.mark.parametrize("transport", [HTTP, STDIO])
def test_without_resources_there_is_no_missing_one(transport: TransportKind) -> None:
    assert outcomes(observe("no-resources", transport))["MCP-ERR-003"] is NOT_APPLICABLE


@pytest.mark.parametrize("transport", [HTTP, STDIO])
def test_without_any_error_the_rules_about_codes_are_not_observed(transport: TransportKind) -> None:
    seen = outcomes(observe("no-errors", transport))
    for rule in ("MCP-ERR-004", "MCP-ERR-005", "MCP-ERR-008"):
        assert seen[rule] is NOT_OBSERVED


def test_an_error_page_of_the_endpoint_counts_on_a_server_without_a_legacy_half() -> None:
    (finding,) = probe_fake(FAULTS["error-on-get"], "MCP-ERR-008")["MCP-ERR-008"].findings
    assert finding.severity is WARN
    assert finding.message.startswith("GET is refused")


def test_the_inspected_errors_are_counted() -> None:
    assert verdict(observe(None), "MCP-ERR-004").occasions >= 5


def test_a_process_is_asked_for_an_unknown_version_when_it_has_served_a_known_one() -> None:
    """Some settle the version with the first requests and refuse another only there."""
    (finding,) = verdict(observe("old-version-served", STDIO), "MCP-ERR-001").findings
    assert finding.reproduce is not None
    first, _, later = finding.reproduce.partition("sleep")
    assert '"tools/list"' in first
    assert "1900-01-01" not in first
    assert later.count('"method"') == later.count("1900-01-01") == 1


def test_a_code_is_one_finding_however_often_it_comes() -> None:
    found = verdict(observe("missing-32002"), "MCP-ERR-003")
    assert len(found.findings) == 1
    assert found.occasions == 3


@pytest.mark.parametrize(
    ("fault", "rule", "source"),
    [
        ("old-version-rc-code", "MCP-ERR-008", "now -32022"),
        ("undeclared-rc-code", "MCP-ERR-008", "now -32021"),
        ("code-32000", "MCP-ERR-008", "no code for"),
        ("code-32019", "MCP-ERR-008", "a code in the legacy sub-range"),
        ("code-32020", "MCP-ERR-005", "but the headers match"),
        ("code-32022", "MCP-ERR-005", "the server serves that version"),
    ],
)
def test_the_finding_about_a_code_says_where_it_may_come_from(
    fault: str, rule: str, source: str
) -> None:
    (finding,) = verdict(observe(fault), rule).findings
    assert source in finding.message


@pytest.mark.parametrize(
    ("fault", "transport", "expected"),
    [
        ("unknown-method-200", HTTP, "HTTP 404, error -32601"),
        ("unknown-method-code", STDIO, "error -32601"),
    ],
)
def test_the_error_owed_has_a_status_over_http_only(
    fault: str, transport: TransportKind, expected: str
) -> None:
    (finding,) = verdict(observe(fault, transport), "MCP-ERR-002").findings
    assert finding.expected == expected


def test_the_finding_about_a_wrong_id_shows_both() -> None:
    (finding,) = verdict(observe("unknown-method-text-id"), "MCP-ERR-002").findings
    assert finding.seen == f'id "{finding.expected.removeprefix("id ")}"'


def test_a_mismatch_error_for_a_missing_version_passes_with_a_note() -> None:
    seen = observe("version-mismatch")["MCP-ERR-006"]
    assert seen.outcome is Outcome.PASS
    assert any("-32020" in note for note in seen.notes)


def test_on_a_dual_server_a_request_without_meta_may_be_answered_by_the_legacy_half() -> None:
    seen = outcomes(observe("meta-optional", era=Era.DUAL))
    assert seen["MCP-ERR-006"] is Outcome.PASS


def test_on_a_dual_server_a_request_without_capabilities_still_decides() -> None:
    seen = outcomes(observe("capabilities-optional", era=Era.DUAL))
    assert seen["MCP-ERR-006"] is FAIL


def test_on_stdio_a_dual_server_may_take_a_request_without_version_for_a_legacy_one() -> None:
    refused = outcomes(observe("version-mismatch", STDIO, era=Era.DUAL))
    assert refused["MCP-ERR-006"] is Outcome.PASS
    served = outcomes(observe("version-optional", STDIO, era=Era.DUAL))
    assert served["MCP-ERR-006"] is FAIL


@pytest.mark.parametrize("fault", ["discover-broken", "discover-401"])
def test_without_a_positive_control_no_refusal_is_concluded_from(fault: str) -> None:
    seen = outcomes(observe(fault))
    for rule in ("MCP-ERR-001", "MCP-ERR-002", "MCP-ERR-006"):
        assert seen[rule] is INCONCLUSIVE
