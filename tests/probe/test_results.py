"""Rules RES-001 to RES-007: each fires on its defect alone, and on nothing that is right."""

from __future__ import annotations

import pytest

from clausewise.core.vocabulary import Era, Outcome, TransportKind
from tests.probe.observing import (
    CONFORMING,
    CONFORMING_ON_STDIO,
    HTTP,
    STDIO,
    Differences,
    changed,
    observe,
    outcomes,
    verdict,
)

FAIL, WARN = Outcome.FAIL, Outcome.WARN
INCONCLUSIVE, NOT_OBSERVED = Outcome.INCONCLUSIVE, Outcome.NOT_OBSERVED
NOT_APPLICABLE = Outcome.NOT_APPLICABLE

NO_HINTS_TO_JUDGE: Differences = {"MCP-CAC-001": INCONCLUSIVE, "MCP-CAC-002": INCONCLUSIVE}
"""A result that asks for input, or is none, carries no caching hints."""

ON_BOTH: dict[str, Differences] = {
    "no-result-type": {"MCP-RES-001": FAIL},
    "result-type-number": {"MCP-RES-001": FAIL},
    "result-is-text": {"MCP-RES-001": FAIL},
    "no-result-type-on-stream": {"MCP-RES-001": FAIL},
    "result-type-case": {"MCP-RES-002": FAIL},
    "result-type-synonym": {"MCP-RES-002": FAIL},
    "task-not-advertised": {"MCP-RES-002": FAIL},
    "task-not-declared": {"MCP-RES-002": FAIL},
    "unknown-type-other-official": {"MCP-RES-002": FAIL},
    "unknown-type-third-party": {"MCP-RES-002": INCONCLUSIVE},
    "input-required-on-list": {"MCP-RES-002": FAIL, **NO_HINTS_TO_JUDGE},
    "request-on-call": {"MCP-RES-003": FAIL},
    "request-with-id-null": {"MCP-RES-003": FAIL},
    "order-reversed": {"MCP-RES-007": WARN},
    "order-over-pages": {"MCP-RES-007": WARN},
    "tools-change": {"MCP-RES-007": INCONCLUSIVE},
    "tools-twice": {},
    "order-other-pages": {},
}

ON_HTTP: dict[str, Differences] = {
    "no-result-type-when-closing": {"MCP-RES-001": FAIL},
    "request-on-listen": {"MCP-RES-003": FAIL},
    "no-streams": {"MCP-RES-003": NOT_OBSERVED, "MCP-RES-006": NOT_OBSERVED},
    "notification-200": {"MCP-RES-004": FAIL},
    "notification-204": {"MCP-RES-004": FAIL},
    "notification-null": {"MCP-RES-004": FAIL},
    "notification-blank": {"MCP-RES-004": FAIL},
    "notification-answered": {"MCP-RES-004": FAIL},
    "notification-answered-202": {"MCP-RES-004": FAIL},
    "notification-refused": {"MCP-RES-004": NOT_OBSERVED},
    "notification-forbidden": {"MCP-RES-004": NOT_OBSERVED},
    "notification-silence": {"MCP-RES-004": INCONCLUSIVE},
    "notification-202-chunked": {},
    "notification-202-typed": {},
    "type-html": {"MCP-RES-005": FAIL},
    "type-none": {"MCP-RES-005": FAIL},
    "type-charset": {},
    "body-array": {"MCP-RES-005": FAIL, **NO_HINTS_TO_JUDGE},
    "body-twice": {"MCP-RES-005": FAIL, **NO_HINTS_TO_JUDGE},
    "body-empty": {"MCP-RES-005": FAIL, **NO_HINTS_TO_JUDGE},
    "error-as-text": {"MCP-RES-005": FAIL},
    "gateway-404": {},
    "stream-two-responses": {"MCP-RES-005": FAIL},
    "stream-open": {"MCP-RES-005": WARN},
    "stream-more": {"MCP-RES-005": WARN},
    "stream-charset": {},
    "buffering-absent": {"MCP-RES-006": WARN},
    "buffering-yes": {"MCP-RES-006": WARN},
    "buffering-upper": {},
    "nginx-strips": {"MCP-RES-006": INCONCLUSIVE},
    "via-strips": {"MCP-RES-006": INCONCLUSIVE},
    "nginx-yes": {"MCP-RES-006": WARN},
    "order-last-only": {"MCP-RES-007": WARN},
}

ON_STDIO: dict[str, Differences] = {
    "notification-answered": {"MCP-RES-004": FAIL},
    "notification-log": {},
    "body-twice": {},
}


@pytest.mark.parametrize(("transport", "usual"), [(HTTP, CONFORMING), (STDIO, CONFORMING_ON_STDIO)])
def test_a_conforming_server_keeps_every_rule(transport: TransportKind, usual: Differences) -> None:
    assert outcomes(observe(None, transport)) == usual


@pytest.mark.parametrize("fault", [*ON_BOTH, *ON_HTTP])
def test_over_http_a_fault_changes_its_own_rules_only(fault: str) -> None:
    assert changed(fault) == {**ON_BOTH, **ON_HTTP}[fault]


@pytest.mark.parametrize("fault", [*ON_BOTH, *ON_STDIO])
def test_over_stdio_a_fault_changes_its_own_rules_only(fault: str) -> None:
    assert changed(fault, STDIO) == {**ON_BOTH, **ON_STDIO}[fault]


@pytest.mark.parametrize("transport", [HTTP, STDIO])
def test_without_tools_there_is_no_order_to_keep(transport: TransportKind) -> None:
    seen = outcomes(observe("no-tools", transport))
    assert seen["MCP-RES-007"] is NOT_APPLICABLE
    assert seen["MCP-ERR-007"] is NOT_OBSERVED


def test_one_tool_has_no_order() -> None:
    observed = observe("one-tool")
    assert outcomes(observed)["MCP-RES-007"] is NOT_APPLICABLE
    assert "an order needs two" in str(verdict(observed, "MCP-RES-007").reason)


def test_on_stdio_a_server_whose_tools_were_never_called_is_not_observed_sending_requests() -> None:
    observed = observe("no-tools", STDIO)
    assert outcomes(observed)["MCP-RES-003"] is NOT_OBSERVED
    assert verdict(observed, "MCP-RES-003").reason == "no tool was called"


def test_a_missing_member_is_one_finding_for_each_method_that_lacks_it() -> None:
    found = verdict(observe("no-result-type"), "MCP-RES-001")
    assert [finding.seen for finding in found.findings] == ["no resultType"]
    assert found.occasions > 10


def test_a_finding_points_at_the_message_that_shows_it() -> None:
    (finding,) = verdict(observe("request-on-call"), "MCP-RES-003").findings
    assert "sampling/createMessage" in finding.message
    assert 'id "s1"' in finding.seen
    assert finding.at is not None
    assert finding.reproduce is not None
    assert "tools/call" in finding.reproduce


def test_the_finding_about_a_notification_says_status_and_body() -> None:
    (finding,) = verdict(observe("notification-null"), "MCP-RES-004").findings
    assert finding.seen == "HTTP 202, 4 bytes of body"
    assert finding.expected == "HTTP 202 without a body"


def test_a_refused_notification_is_not_observed_with_the_status() -> None:
    seen = verdict(observe("notification-refused"), "MCP-RES-004")
    assert seen.reason == "the server does not accept the notification (HTTP 400)"


def test_an_open_stream_is_a_warning_that_says_how_long() -> None:
    (finding,) = verdict(observe("stream-open"), "MCP-RES-005").findings
    assert finding.severity is WARN
    assert finding.seen.startswith("the stream still open ")


def test_the_finding_about_an_order_names_the_tool() -> None:
    (finding,) = verdict(observe("order-over-pages"), "MCP-RES-007").findings
    assert finding.seen == 'tool 2 is "echo" and was "ask"'


@pytest.mark.parametrize("fault", ["discover-broken", "discover-401"])
def test_without_a_positive_control_nothing_is_concluded_about_notifications(fault: str) -> None:
    assert outcomes(observe(fault))["MCP-RES-004"] is INCONCLUSIVE


def test_a_dual_server_is_judged_on_its_modern_answers() -> None:
    assert outcomes(observe(None, era=Era.DUAL)) == CONFORMING
