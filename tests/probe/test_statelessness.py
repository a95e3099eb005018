"""What makes STL-001 to STL-008 fire, and what must not."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from clausewise.core.vocabulary import Era, Outcome
from tests.probe.fake_server import SSE_TYPE, TOOLS, VERSION, Fault, Reply, Request
from tests.probe.legacy_replies import dual
from tests.probe.running import probe_fake, probe_reference

RULES = tuple(f"MCP-STL-00{number}" for number in range(1, 9))


def outcome(rule: str, fault: Fault | None) -> Outcome:
    return probe_fake(fault, rule)[rule].outcome


def findings(fault: Fault) -> list[str]:
    done = probe_fake(fault, "MCP-STL")
    return [verdict.id for verdict in done.run.verdicts if verdict.findings]


@pytest.mark.parametrize("rule", RULES)
def test_a_server_that_keeps_the_rules_passes(rule: str) -> None:
    assert outcome(rule, None) is Outcome.PASS


def test_a_dual_server_may_do_in_its_legacy_half_what_it_likes() -> None:
    done = probe_fake(dual, "MCP-STL")
    outcomes = {verdict.id: verdict.outcome for verdict in done.run.verdicts}
    spared = ("MCP-STL-005", "MCP-STL-006", "MCP-STL-007")
    assert done.run.era is Era.DUAL
    assert {outcomes.pop(rule) for rule in spared} == {Outcome.NOT_APPLICABLE}
    assert not [rule for rule, result in outcomes.items() if result in (Outcome.FAIL, Outcome.WARN)]


def with_header(reply: Reply, value: str) -> Reply:
    return replace(reply, headers=(*reply.headers, ("MCP-SESSION-ID", value)))


def test_a_minted_session_id_is_a_warning_and_one_finding() -> None:
    verdict = probe_fake(lambda _, right: with_header(right, "s-1"), "MCP-STL")["MCP-STL-001"]
    assert verdict.outcome is Outcome.WARN
    assert len(verdict.findings) == 1
    assert "mints" in verdict.findings[0].message


def test_an_echoed_session_id_is_a_warning() -> None:
    def echo(request: Request, right: Reply) -> Reply:
        given = request.headers.get("mcp-session-id")
        return right if given is None else with_header(right, given)

    verdict = probe_fake(echo, "MCP-STL")["MCP-STL-001"]
    assert verdict.outcome is Outcome.WARN
    assert "echoes" in verdict.findings[0].message


def test_a_session_cookie_is_no_session_id() -> None:
    def cookie(_request: Request, right: Reply) -> Reply:
        return replace(right, headers=(*right.headers, ("set-cookie", "session=1")))

    assert outcome("MCP-STL-001", cookie) is Outcome.PASS


def refusing(method: str, code: int, text: str, when: Callable[[Request], bool]) -> Fault:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method != method or not when(request):
            return right
        refused = right.with_error(code, status=400)
        error = {**refused.response["error"], "message": text}
        return refused.with_response({**refused.response, "error": error})

    return fault


def has(header: str) -> Callable[[Request], bool]:
    return lambda request: header in request.headers


def always(_: Request) -> bool:
    return True


def test_a_required_session_fails() -> None:
    fault = refusing("tools/list", -32600, "Missing session ID", always)
    assert outcome("MCP-STL-002", fault) is Outcome.FAIL


def test_a_refused_session_id_is_a_warning_only() -> None:
    fault = refusing("tools/list", -32600, "unknown session", has("mcp-session-id"))
    assert findings(fault) == ["MCP-STL-002"]
    assert outcome("MCP-STL-002", fault) is Outcome.WARN


def test_a_400_for_another_reason_demands_no_session() -> None:
    fault = refusing("tools/list", -32603, "out of order", always)
    assert findings(fault) == []
    assert outcome("MCP-STL-002", fault) is Outcome.INCONCLUSIVE
    assert outcome("MCP-STL-003", fault) is Outcome.INCONCLUSIVE


def test_a_demand_for_initialize_fails() -> None:
    fault = refusing("tools/list", -32002, "Server not initialized", always)
    assert outcome("MCP-STL-003", fault) is Outcome.FAIL


def test_a_list_that_is_not_offered_is_not_the_cold_request() -> None:
    def without_tools(request: Request, right: Reply) -> Reply:
        if request.method == "server/discover":
            return right.with_result(capabilities={"prompts": {}})
        return right.with_error(-32601, status=404) if request.method == "tools/list" else right

    assert outcome("MCP-STL-003", without_tools) is Outcome.PASS


@pytest.mark.parametrize(
    ("defect", "era", "rule"),
    [
        ("discovery-required", Era.MODERN, "MCP-STL-003"),
        ("discovery-required", Era.DUAL, "MCP-STL-003"),
        ("metadata-remembered", Era.MODERN, "MCP-STL-004"),
        ("tools-vary-per-connection", Era.DUAL, "MCP-STL-008"),
    ],
)
def test_state_of_a_connection_is_found(defect: str, era: Era, rule: str) -> None:
    done = probe_reference(era, "MCP-STL", defects=(defect,))
    assert [verdict.id for verdict in done.run.verdicts if verdict.findings] == [rule]


def without_meta_served(request: Request, right: Reply) -> Reply:
    if request.method == "tools/list" and "_meta" not in request.params:
        result = {"resultType": "complete", "tools": []}
        return Reply(({"jsonrpc": "2.0", "id": request.id, "result": result},))
    return right


def test_a_server_that_never_needs_meta_remembers_nothing() -> None:
    assert outcome("MCP-STL-004", without_meta_served) is Outcome.INCONCLUSIVE


def remembers_capabilities() -> Fault:
    """The capability of one call serves the next on any connection, once."""
    state = {"asked": False}

    def fault(request: Request, right: Reply) -> Reply:
        if request.method != "tools/call" or request.params.get("name") != "ask":
            return right
        if "result" in right.response:
            state["asked"] = True
            return right
        if not state["asked"]:
            return right
        state["asked"] = False
        asked = {"name": {"method": "elicitation/create", "params": {}}}
        result = {"resultType": "input_required", "inputRequests": asked}
        return Reply(({"jsonrpc": "2.0", "id": request.id, "result": result},))

    return fault


def test_a_remembered_capability_fails() -> None:
    verdict = probe_fake(remembers_capabilities(), "MCP-STL-004")["MCP-STL-004"]
    assert verdict.outcome is Outcome.FAIL
    assert "elicitation/create" in verdict.findings[0].seen


def answering(verb: str, reply: Reply) -> Fault:
    return lambda request, right: reply if request.http_method == verb else right


@pytest.mark.parametrize("status", [200, 204, 400, 404, 406])
@pytest.mark.parametrize(("verb", "rule"), [("GET", "MCP-STL-005"), ("DELETE", "MCP-STL-006")])
def test_another_status_than_405_is_one_warning(status: int, verb: str, rule: str) -> None:
    fault = answering(verb, Reply(status=status, headers=()))
    done = probe_fake(fault, "MCP-STL")
    assert [verdict.id for verdict in done.run.verdicts if verdict.findings] == [rule]
    assert len(done[rule].findings) == 1
    assert done[rule].outcome is Outcome.WARN


@pytest.mark.parametrize("status", [401, 403, 302, 429])
@pytest.mark.parametrize(("verb", "rule"), [("GET", "MCP-STL-005"), ("DELETE", "MCP-STL-006")])
def test_a_gate_in_front_decides_nothing(status: int, verb: str, rule: str) -> None:
    fault = answering(verb, Reply(status=status, headers=(("location", "/docs"),)))
    assert outcome(rule, fault) is Outcome.INCONCLUSIVE


def test_a_405_without_allow_is_noted() -> None:
    done = probe_fake(answering("GET", Reply(status=405, headers=())), "MCP-STL-005")
    assert done["MCP-STL-005"].outcome is Outcome.PASS
    assert "Allow" in done.run.notes[0]


def test_a_refused_last_event_id_is_a_warning() -> None:
    fault = refusing("server/discover", -32600, "cannot resume", has("last-event-id"))
    assert findings(fault) == ["MCP-STL-007"]


def test_replayed_events_are_a_warning() -> None:
    def replays(request: Request, right: Reply) -> Reply:
        if request.http_method == "GET" and "last-event-id" in request.headers:
            return Reply(({"jsonrpc": "2.0", "method": "notifications/x"},), headers=SSE_TYPE)
        return right

    assert findings(replays) == ["MCP-STL-007"]


def test_the_ids_of_events_are_no_resumption() -> None:
    def numbered(request: Request, right: Reply) -> Reply:
        if request.method != "server/discover" or right.status != 200:
            return right
        data = b"id: 1\ndata: " + json.dumps(right.response).encode() + b"\n\n"
        return Reply(headers=SSE_TYPE, raw=data)

    assert outcome("MCP-STL-007", numbered) is Outcome.PASS


def listing(shown: Callable[[Request], Any]) -> Fault:
    def fault(request: Request, right: Reply) -> Reply:
        if request.method != "tools/list" or right.status != 200:
            return right
        return right.with_result(tools=shown(request), nextCursor=...)

    return fault


def test_another_order_is_not_another_set() -> None:
    fault = listing(lambda request: list(TOOLS if request.nth % 2 else reversed(TOOLS)))
    assert outcome("MCP-STL-008", fault) is Outcome.PASS


def test_a_change_once_is_inconclusive() -> None:
    fault = listing(lambda request: list(TOOLS if request.nth != 1 else TOOLS[:1]))
    assert outcome("MCP-STL-008", fault) is Outcome.INCONCLUSIVE


def test_a_list_without_an_end_is_inconclusive() -> None:
    def endless(request: Request, right: Reply) -> Reply:
        return right.with_result(nextCursor="0") if request.method == "tools/list" else right

    assert outcome("MCP-STL-008", endless) is Outcome.INCONCLUSIVE


def test_tools_that_appear_after_other_requests_fail() -> None:
    """`prompts/list` on a connection shows a tool that `tools/list` then has at each odd turn."""
    state = {"prompted": False}

    def fault(request: Request, right: Reply) -> Reply:
        if request.method == "prompts/list":
            state["prompted"] = True
        if request.method != "tools/list" or right.status != 200:
            return right
        shown = TOOLS if state["prompted"] else TOOLS[:1]
        state["prompted"] = False
        return right.with_result(tools=list(shown), nextCursor=...)

    verdict = probe_fake(fault, "MCP-STL-008")["MCP-STL-008"]
    assert verdict.outcome is Outcome.FAIL
    assert "other requests" in verdict.findings[0].message


def test_a_server_that_closes_after_each_answer_is_judged_all_the_same() -> None:
    def closing(_request: Request, right: Reply) -> Reply:
        return Reply(right.messages, right.status, SSE_TYPE) if right.status == 200 else right

    done = probe_fake(closing, "MCP-STL")
    assert not [verdict.id for verdict in done.run.verdicts if verdict.findings]
    assert done["MCP-STL-008"].outcome is Outcome.PASS
    assert VERSION in str(done.run.revisions)
