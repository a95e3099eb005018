"""What makes DEP-001 to DEP-007 fire, and what must not."""

from __future__ import annotations

from typing import Any

import pytest

from clausewise.core.vocabulary import Era, Outcome
from tests.probe.fake_server import SSE_TYPE, VERSION, Fault, Reply, Request
from tests.probe.legacy_replies import dual, error
from tests.probe.running import Recorded, probe_fake, probe_reference

ENDPOINT_EVENT = Reply(headers=SSE_TYPE, raw=b"event: endpoint\ndata: /messages?s=1\n\n")
REMOVED = [
    ("ping", "MCP-DEP-001"),
    ("logging/setLevel", "MCP-DEP-002"),
    ("resources/subscribe", "MCP-DEP-003"),
    ("resources/unsubscribe", "MCP-DEP-003"),
]


def answer_to(method: str, reply: Reply | None) -> Fault:
    return lambda request, right: reply if request.method == method else right


def served(method: str) -> Fault:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method != method:
            return right
        return Reply(({"jsonrpc": "2.0", "id": request.id, "result": {"resultType": "complete"}},))

    return fault


def judged(fault: Fault | None) -> Recorded:
    return probe_fake(fault, "MCP-DEP")


def test_a_modern_server_that_keeps_the_rules_has_no_finding() -> None:
    done = judged(naming_versions)
    outcomes = {verdict.id: verdict.outcome for verdict in done.run.verdicts}
    assert outcomes.pop("MCP-DEP-006") is Outcome.NOT_APPLICABLE
    assert set(outcomes.values()) == {Outcome.PASS}


def test_a_dual_server_that_keeps_the_rules_has_no_finding() -> None:
    done = judged(dual)
    outcomes = {verdict.id: verdict.outcome for verdict in done.run.verdicts}
    assert done.run.era is Era.DUAL
    assert outcomes.pop("MCP-DEP-007") is Outcome.NOT_APPLICABLE
    assert set(outcomes.values()) == {Outcome.PASS}


def naming_versions(request: Request, right: Reply) -> Reply:
    """The fake server with the supported version in its refusal of `initialize`."""
    if request.method != "initialize":
        return right
    return error(request, -32602, f"no _meta; this server speaks {VERSION}", 400)


@pytest.mark.parametrize(("method", "rule"), REMOVED)
def test_a_removed_method_that_is_served_is_a_warning(method: str, rule: str) -> None:
    assert probe_fake(served(method), rule)[rule].outcome is Outcome.WARN


@pytest.mark.parametrize(("method", "rule"), REMOVED)
def test_another_refusal_still_shows_that_the_method_is_gone(method: str, rule: str) -> None:
    refusal = Reply(({"jsonrpc": "2.0", "error": {"code": -32603, "message": "no"}},), 500)
    assert probe_fake(answer_to(method, refusal), rule)[rule].outcome is Outcome.PASS


@pytest.mark.parametrize(("method", "rule"), REMOVED)
@pytest.mark.parametrize("code", [-32602, -32020, -32022])
def test_a_refusal_of_the_request_as_such_shows_nothing(method: str, rule: str, code: int) -> None:
    def fault(request: Request, right: Reply) -> Reply:
        return error(request, code, "no", 400) if request.method == method else right

    assert probe_fake(fault, rule)[rule].outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
def test_a_server_that_wants_the_uri_in_a_header_gets_it(method: str) -> None:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method == method and "mcp-name" not in request.headers:
            return error(request, -32020, "Mcp-Name is missing", 400)
        return right

    assert probe_fake(fault, "MCP-DEP-003")["MCP-DEP-003"].outcome is Outcome.PASS


def test_changes_that_are_declared_need_subscriptions_listen() -> None:
    def fault(request: Request, right: Reply) -> Reply:
        gone = request.method == "subscriptions/listen"
        return error(request, -32601, "Method not found", 404) if gone else right

    verdict = probe_fake(fault, "MCP-DEP-003")["MCP-DEP-003"]
    assert verdict.outcome is Outcome.WARN
    assert "subscriptions/listen" in verdict.findings[0].message


def test_without_declared_changes_nobody_listens() -> None:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method == "server/discover":
            return right.with_result(capabilities={"tools": {}})
        return right

    done = probe_fake(fault, "MCP-DEP-003")
    asked = [str(event.payload) for event in done.tape.events]
    assert done["MCP-DEP-003"].outcome is Outcome.PASS
    assert not [text for text in asked if "subscriptions/listen" in text]


def test_a_stream_that_begins_with_endpoint_is_http_sse() -> None:
    fault: Fault = lambda r, right: ENDPOINT_EVENT if r.http_method == "GET" else right  # noqa: E731
    verdict = probe_fake(fault, "MCP-DEP-004")["MCP-DEP-004"]
    assert verdict.outcome is Outcome.WARN
    assert verdict.findings[0].reproduce is not None


def test_the_path_of_the_old_endpoint_is_looked_at() -> None:
    done = probe_reference(Era.DUAL, "MCP-DEP-004", defects=("legacy-sse-endpoint",))
    assert done["MCP-DEP-004"].outcome is Outcome.WARN
    assert "/sse" in done["MCP-DEP-004"].findings[0].message


def test_a_get_stream_of_a_later_legacy_revision_is_no_http_sse() -> None:
    silent = Reply(headers=SSE_TYPE, raw=b": hello\n\n")

    def fault(request: Request, right: Reply) -> Reply:
        return silent if request.http_method == "GET" else dual(request, right)

    assert not probe_fake(fault, "MCP-DEP-004")["MCP-DEP-004"].findings


def test_the_logging_capability_is_a_remark() -> None:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method != "server/discover":
            return right
        return right.with_result(capabilities={"tools": {}, "logging": {}})

    verdict = judged(fault)["MCP-DEP-005"]
    assert verdict.outcome is Outcome.INFO
    assert len(verdict.findings) == 1


@pytest.mark.parametrize("method", ["sampling/createMessage", "roots/list"])
def test_a_deprecated_input_request_is_a_remark(method: str) -> None:
    def fault(request: Request, right: Reply) -> Reply:
        asked = right.response.get("result", {}).get("inputRequests")
        return right.with_result(inputRequests={"a": {"method": method}}) if asked else right

    done = probe_fake(fault, "MCP-DEP-005")
    assert done["MCP-DEP-005"].outcome is Outcome.INFO
    assert method in done["MCP-DEP-005"].findings[0].message


def test_unknown_server_capabilities_named_like_client_ones_are_no_finding() -> None:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method != "server/discover":
            return right
        return right.with_result(capabilities={"roots": {}, "sampling": {}})

    assert not probe_fake(fault, "MCP-DEP-005")["MCP-DEP-005"].findings


def test_a_listed_legacy_version_without_initialize_is_a_remark() -> None:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method != "server/discover":
            return right
        return right.with_result(supportedVersions=[VERSION, "2025-11-25"])

    assert probe_fake(fault, "MCP-DEP-006")["MCP-DEP-006"].outcome is Outcome.INFO


def refusing_initialize(reply: Reply | None) -> Fault:
    return answer_to("initialize", reply)


def initialize_error(message: str, data: Any = None, status: int = 400) -> Fault:
    payload = {"code": -32602, "message": message} | ({} if data is None else {"data": data})
    reply = Reply(({"jsonrpc": "2.0", "id": 1, "error": payload},), status)
    return refusing_initialize(reply)


@pytest.mark.parametrize(
    "fault",
    [
        initialize_error(f"use {VERSION}"),
        initialize_error("no", {"supported": [VERSION]}),
        refusing_initialize(Reply(raw=f'{{"use": "{VERSION}"}}'.encode(), status=400)),
    ],
)
def test_an_initialize_error_that_names_a_version_passes(fault: Fault) -> None:
    assert probe_fake(fault, "MCP-DEP-007")["MCP-DEP-007"].outcome is Outcome.PASS


@pytest.mark.parametrize(
    "fault",
    [
        initialize_error("no"),
        initialize_error("not since 2024-01-01"),
        refusing_initialize(Reply(status=400, headers=())),
        refusing_initialize(Reply(status=404, headers=())),
    ],
)
def test_an_initialize_error_without_a_version_is_a_warning(fault: Fault) -> None:
    assert probe_fake(fault, "MCP-DEP-007")["MCP-DEP-007"].outcome is Outcome.WARN


def test_a_gate_before_initialize_decides_nothing() -> None:
    fault = refusing_initialize(Reply(status=403, headers=()))
    done = probe_fake(fault, "MCP-DEP-006", "MCP-DEP-007")
    assert {verdict.outcome for verdict in done.run.verdicts} == {Outcome.INCONCLUSIVE}


def test_initialize_is_asked_once_and_not_first() -> None:
    done = judged(naming_versions)
    messages = [event.payload for event in done.tape.events if event.payload]
    sent = [message["method"] for message in messages if "method" in message]
    assert sent[0] == "server/discover"
    assert sent.count("initialize") == 1
