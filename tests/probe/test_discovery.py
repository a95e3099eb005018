"""What makes DSC-001 to DSC-005 fire, and what must not."""

from __future__ import annotations

from typing import Any

import pytest

from clausewise.core.vocabulary import Outcome
from tests.probe.fake_server import PREFIX, VERSION, Fault, Reply, Request
from tests.probe.running import Recorded, probe_fake

INFO = PREFIX + "serverInfo"


def discovering(**members: Any) -> Fault:
    """Other members in the DiscoverResult; `...` drops one."""

    def fault(request: Request, right: Reply) -> Reply:
        return right.with_result(**members) if request.method == "server/discover" else right

    return fault


def outcome(rule: str, fault: Fault | None) -> Outcome:
    return judged(rule, fault)[rule].outcome


def judged(rule: str, fault: Fault | None) -> Recorded:
    return probe_fake(fault, rule)


@pytest.mark.parametrize("rule", ["MCP-DSC-001", "MCP-DSC-002", "MCP-DSC-003", "MCP-DSC-005"])
def test_a_server_that_keeps_the_rules_passes(rule: str) -> None:
    assert outcome(rule, None) is Outcome.PASS


def test_a_missing_discover_fails() -> None:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method != "server/discover":
            return right
        return right.with_error(-32601, status=404)

    done = probe_fake(fault, "MCP-DSC")
    assert done["MCP-DSC-001"].outcome is Outcome.FAIL
    assert done["MCP-DSC-002"].outcome is Outcome.NOT_APPLICABLE
    assert done["MCP-DSC-003"].outcome is Outcome.NOT_APPLICABLE
    assert done["MCP-DSC-005"].outcome is Outcome.PASS


def test_an_error_with_status_200_is_no_pass() -> None:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method != "server/discover":
            return right
        return right.with_error(-32020, status=200)

    assert outcome("MCP-DSC-001", fault) is Outcome.FAIL


def test_a_discover_result_in_a_stream_is_read() -> None:
    def fault(_request: Request, right: Reply) -> Reply:
        streamed = (("content-type", "text/event-stream"),)
        return Reply(right.messages, right.status, streamed) if right.status == 200 else right

    assert outcome("MCP-DSC-001", fault) is Outcome.PASS


def test_missing_capabilities_are_one_finding() -> None:
    done = probe_fake(discovering(capabilities=...), "MCP-DSC")
    assert [v.id for v in done.run.verdicts if v.findings] == ["MCP-DSC-001"]


@pytest.mark.parametrize("versions", [..., [], "2026-07-28", [VERSION, 7], ["2025-11-25"]])
def test_a_bad_list_of_versions_is_one_finding(versions: Any) -> None:
    done = probe_fake(discovering(supportedVersions=versions), "MCP-DSC")
    assert [v.id for v in done.run.verdicts if v.findings] == ["MCP-DSC-002"]


def test_draft_versions_beside_ours_are_fine() -> None:
    done = probe_fake(discovering(supportedVersions=["DRAFT-v3", "2025-11-25", VERSION]), "MCP-DSC")
    assert not [v.id for v in done.run.verdicts if v.findings]


def test_drafts_alone_are_worth_a_remark() -> None:
    assert outcome("MCP-DSC-003", discovering(supportedVersions=["DRAFT-v3"])) is Outcome.INFO


def test_a_later_revision_alone_is_inconclusive() -> None:
    fault = discovering(supportedVersions=["2031-04-01"])
    assert outcome("MCP-DSC-003", fault) is Outcome.INCONCLUSIVE


def extensions(value: Any) -> Fault:
    return discovering(capabilities={"extensions": value})


@pytest.mark.parametrize("value", [{}, None])
def test_no_extension_is_no_occasion(value: Any) -> None:
    assert outcome("MCP-DSC-004", extensions(value)) is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    "key",
    [
        "io.modelcontextprotocol/ui",
        "io.modelcontextprotocol/tasks-v2",
        "com.example/thing",
        "com.example.mcp/thing",
        "mcp.example/thing",
        "acme/thing",
        "com.example/",
        "com.ex-ample/a.b_c-d",
    ],
)
def test_a_well_formed_extension_passes(key: str) -> None:
    assert outcome("MCP-DSC-004", extensions({key: {}})) is Outcome.PASS


@pytest.mark.parametrize(
    "key",
    [
        "turbo",
        "/turbo",
        "com..example/a",
        "1com/a",
        "com-/a",
        "com.example/-a",
        "com.example/a b",
        "",
    ],
)
def test_a_malformed_extension_fails(key: str) -> None:
    assert outcome("MCP-DSC-004", extensions({key: {}})) is Outcome.FAIL


def test_settings_that_are_no_object_fail() -> None:
    assert outcome("MCP-DSC-004", extensions({"com.example/a": True})) is Outcome.FAIL
    assert outcome("MCP-DSC-004", extensions(["com.example/a"])) is Outcome.FAIL


@pytest.mark.parametrize("key", ["io.modelcontextprotocol/turbo", "com.mcp.tools/x", "dev.mcp/a"])
def test_a_reserved_prefix_is_a_warning(key: str) -> None:
    assert outcome("MCP-DSC-004", extensions({key: {}, "com.example/a": {}})) is Outcome.WARN


def without_info(*methods: str) -> Fault:
    def fault(request: Request, right: Reply) -> Reply:
        meta: dict[str, Any] = {}
        return right.with_result(_meta=meta) if request.method in methods else right

    return fault


def test_results_without_server_info_are_one_finding_with_the_proportion() -> None:
    verdict = judged("MCP-DSC-005", without_info("tools/list", "prompts/list"))["MCP-DSC-005"]
    assert verdict.outcome is Outcome.WARN
    (finding,) = verdict.findings
    assert "prompts/list, tools/list" in finding.message
    assert f"of {verdict.occasions} results" in finding.message


@pytest.mark.parametrize("info", [None, {"name": "x"}, {"name": "x", "version": 1}, "x 1.0"])
def test_server_info_needs_name_and_version(info: Any) -> None:
    assert outcome("MCP-DSC-005", discovering(_meta={INFO: info})) is Outcome.WARN


def test_server_info_beside_meta_does_not_count() -> None:
    fault = discovering(_meta={}, serverInfo={"name": "x", "version": "1"})
    assert outcome("MCP-DSC-005", fault) is Outcome.WARN
