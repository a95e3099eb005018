"""Our rules about messages: what breaks them, what only looks like it, and what is no occasion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clausewise.core.vocabulary import Outcome
from tests.probe.crafted import (
    STDIO,
    asking,
    call,
    error,
    judged,
    notification,
    progress,
    reply,
    result,
    seen,
)

FAIL, PASS, NOT_OBSERVED = Outcome.FAIL, Outcome.PASS, Outcome.NOT_OBSERVED
OPENING = notification("subscriptions/acknowledged")

URI = {"uri": "file:///notes/today.txt"}


def test_a_message_without_the_version_of_json_rpc_is_none() -> None:
    for version in ({}, {"jsonrpc": "1.0"}, {"jsonrpc": 2.0}):
        message = {k: v for k, v in result().items() if k != "jsonrpc"} | version
        assert judged("CW-RES-002", reply("tools/list", message)).outcome is FAIL


def test_the_page_of_a_gateway_is_no_message() -> None:
    page = reply("tools/list", {"error": "invalid_token"}, status=401)
    assert judged("CW-RES-002", page).outcome is NOT_OBSERVED
    assert judged("CW-ERR-002", page).outcome is NOT_OBSERVED


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        (result(), PASS),
        (error(), PASS),
        (result() | {"error": {"code": 1, "message": "m"}}, FAIL),
        ({"jsonrpc": "2.0", "id": 1}, FAIL),
        (notification("progress"), NOT_OBSERVED),
    ],
)
def test_a_response_has_a_result_or_an_error(message: dict[str, Any], outcome: Outcome) -> None:
    assert judged("CW-RES-003", reply("tools/list", message)).outcome is outcome


@pytest.mark.parametrize("id_", [5, "a", None])
def test_a_notification_with_an_id_is_told_and_not_taken_for_a_request(id_: Any) -> None:
    answered = call({**progress(1), "id": id_}, result())
    assert judged("CW-RES-005", answered).outcome is FAIL
    assert judged("MCP-RES-003", answered).outcome is PASS


@pytest.mark.parametrize(
    ("code", "outcome"),
    [(-32602, PASS), (-32602.0, PASS), ("-32602", FAIL), (-32602.5, FAIL), (True, FAIL)],
)
def test_an_error_code_is_an_integer_in_terms_of_json(code: Any, outcome: Outcome) -> None:
    assert judged("CW-ERR-003", reply("tools/list", error(code))).outcome is outcome


@pytest.mark.parametrize("fault", ["no", None, {}, {"code": 1}, {"message": "m"}])
def test_an_error_has_a_code_and_a_message(fault: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "error": fault}
    assert judged("CW-ERR-002", reply("tools/list", message)).outcome is FAIL


def test_a_missing_code_is_one_finding() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "error": {"message": "m"}}
    assert judged("CW-ERR-003", reply("tools/list", message)).outcome is NOT_OBSERVED


@pytest.mark.parametrize(
    ("code", "edits", "outcome"),
    [
        (-32022, {}, FAIL),
        (-32021, {}, FAIL),
        (-32602, {}, PASS),
        (-32022, {"version": "1900-01-01"}, NOT_OBSERVED),
        (-32020, {"headers": {"Mcp-Method": None}}, NOT_OBSERVED),
        (-32602, {"without_meta": True}, NOT_OBSERVED),
        (-32020, {"body": b"{"}, NOT_OBSERVED),
    ],
)
def test_a_defined_code_is_wrong_where_the_envelope_is_sound(
    code: int, edits: dict[str, Any], outcome: Outcome
) -> None:
    refused = reply("tools/list", error(code), status=400, **edits)
    assert judged("CW-ERR-004", refused).outcome is outcome


@pytest.mark.parametrize("code", [-32020, -32021, -32022])
@pytest.mark.parametrize("served", [True, False])
def test_one_rule_tells_that_a_code_means_something_else(code: int, served: bool) -> None:
    sent = [reply("server/discover", result())] * served
    refused = [*sent, reply("tools/list", error(code), status=400)]
    told = [rule for rule in ("MCP-ERR-005", "CW-ERR-004") if judged(rule, *refused).faults]
    assert len(told) == 1


@pytest.mark.parametrize("edits", [{}, {"headers": {"Mcp-Name": "x"}}])
def test_which_headers_a_removed_method_needs_is_left_open(edits: dict[str, Any]) -> None:
    """Some ask for the name that the method had in earlier revisions."""
    refused = reply("resources/subscribe", error(-32020), status=400, params=URI, **edits)
    severities = [fault.severity for fault in judged("MCP-ERR-005", refused).faults]
    assert severities == ([] if edits else [Outcome.WARN])
    assert not judged("CW-ERR-004", refused).faults


def test_a_mismatch_that_is_none_fails_beside_one_that_is_left_open() -> None:
    left_open = reply("resources/subscribe", error(-32020), status=400, params=URI)
    wrong = reply("tools/list", error(-32020), status=400)
    severities = [fault.severity for fault in judged("MCP-ERR-005", left_open, wrong).faults]
    assert severities == [Outcome.WARN, None]


def test_a_call_that_lacks_its_parameter_headers_may_be_a_mismatch() -> None:
    assert judged("CW-ERR-004", call(error(-32020), status=400)).outcome is NOT_OBSERVED


def test_a_call_may_lack_a_capability_that_no_list_needs() -> None:
    assert judged("CW-ERR-004", call(error(-32021), status=400)).outcome is PASS


@pytest.mark.parametrize(
    ("key", "severity"),
    [
        ("progress", PASS),
        ("com.example/trace", PASS),
        ("io.modelcontextprotocol/serverInfo", PASS),
        ("com.example.mcp/trace", PASS),
        ("a-b.c1/x_y.z", PASS),
        ("com.example/", PASS),
        ("_private", FAIL),
        ("1com/x", FAIL),
        ("com..example/x", FAIL),
        ("com.example-/x", FAIL),
        ("/x", FAIL),
        ("com.example/x_", FAIL),
        ("io.modelcontextprotocol/serverinfo", Outcome.WARN),
        ("dev.mcp/x", Outcome.WARN),
    ],
)
def test_keys_of_metadata_have_a_form_and_prefixes_an_owner(key: str, severity: Outcome) -> None:
    observation = judged("CW-RES-009", reply("tools/list", result(_meta={key: 1})))
    if severity is PASS:
        assert observation.outcome is PASS
    else:
        (fault,) = observation.faults
        assert (fault.severity or FAIL) is severity


def test_a_key_may_be_one_of_an_official_extension_that_is_advertised() -> None:
    extensions: dict[str, Any] = {"io.modelcontextprotocol/tasks": {}}
    discovered = reply("server/discover", result(capabilities={"extensions": extensions}))
    listed = reply("tools/list", result(_meta={"io.modelcontextprotocol/related-task": {}}))
    assert judged("CW-RES-009", discovered, listed).outcome is PASS


def test_metadata_is_found_in_entries_and_not_in_what_is_the_servers_own() -> None:
    schema = {"properties": {"_meta": {"-": 1}}}
    tools = [{"name": "t", "_meta": {"-": 1}, "inputSchema": schema}]
    listed = judged("CW-RES-009", reply("tools/list", result(tools=tools)))
    assert len(listed.faults) == listed.occasions == 1
    answered = call(result(structuredContent={"_meta": {"-": 1}}))
    assert judged("CW-RES-009", answered).outcome is NOT_OBSERVED


TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"


@pytest.mark.parametrize(
    ("name", "value", "outcome"),
    [
        ("traceparent", f"00-{TRACE}-{SPAN}-01", PASS),
        ("traceparent", f"cc-{TRACE}-{SPAN}-01-more", PASS),
        ("traceparent", f"00-{TRACE}-{SPAN}-01-more", FAIL),
        ("traceparent", f"ff-{TRACE}-{SPAN}-01", FAIL),
        ("traceparent", f"00-{'0' * 32}-{SPAN}-01", FAIL),
        ("traceparent", f"00-{TRACE.upper()}-{SPAN}-01", FAIL),
        ("traceparent", 1, FAIL),
        ("tracestate", "congo=t61, rojo=00f0 67,", PASS),
        ("tracestate", "Congo=t61", FAIL),
        ("tracestate", "congo", FAIL),
        ("baggage", "user=a%20b;ttl=1 , server = x", PASS),
        ("baggage", "user=a b", FAIL),
        ("baggage", "", FAIL),
    ],
)
def test_trace_context_has_the_formats_of_w3c(name: str, value: Any, outcome: Outcome) -> None:
    assert judged("CW-RES-010", reply("tools/list", result(_meta={name: value}))).outcome is outcome


def test_text_that_is_no_utf8_is_told_where_no_other_rule_tells_it() -> None:
    bad = reply("prompts/get", result(description="caf"))
    body = bad.answer.body.replace(b"caf", b"caf\xe9")
    broken = replace(bad, answer=replace(bad.answer, body=body))
    assert judged("CW-RES-007", broken).outcome is FAIL
    as_json = ((b"content-type", b"application/json"),)
    listed = reply("tools/list", result())
    bad_list = replace(listed, answer=replace(broken.answer, headers=as_json))
    assert judged("CW-RES-007", bad_list).outcome is NOT_OBSERVED
    zipped = (*broken.answer.headers, (b"content-encoding", b"gzip"))
    compressed = replace(bad, answer=replace(broken.answer, headers=zipped))
    assert judged("CW-RES-007", compressed).outcome is PASS


def test_changes_belong_on_subscriptions() -> None:
    change = notification("tools/list_changed")
    assert judged("CW-RES-008", call(change, result())).outcome is FAIL
    assert judged("CW-RES-008", call(progress(1), result())).outcome is PASS
    listening = reply("subscriptions/listen", OPENING, change)
    assert judged("CW-RES-008", listening).outcome is NOT_OBSERVED


def test_the_server_may_cancel_a_subscription_and_nothing_else() -> None:
    about = notification("cancelled", requestId=1)
    assert judged("CW-CAN-001", reply("subscriptions/listen", OPENING, about)).outcome is PASS
    assert judged("CW-CAN-001", call(about, result())).outcome is FAIL
    other = notification("cancelled", requestId="1")
    assert judged("CW-CAN-001", reply("subscriptions/listen", OPENING, other)).outcome is FAIL
    assert judged("CW-CAN-001", call(result())).outcome is NOT_OBSERVED


def test_an_extension_that_is_advertised_needs_a_client_that_declares_it() -> None:
    extensions: dict[str, Any] = {"com.example/turbo": {}}
    discovered = reply("server/discover", result(capabilities={"extensions": extensions}))
    odd = reply("tools/call", result(resultType="turbo"))
    assert judged("CW-DSC-001", discovered, odd).outcome is FAIL
    assert judged("CW-DSC-001", odd).outcome is Outcome.NOT_APPLICABLE
    declared = reply(
        "tools/call", result(resultType="turbo"), capabilities={"extensions": extensions}
    )
    assert judged("CW-DSC-001", discovered, declared).outcome is PASS
    task = reply("tools/call", result(resultType="task"))
    assert judged("CW-DSC-001", discovered, task).faults == ()


def test_a_list_that_asks_declared_clients_is_told_by_our_rule_alone() -> None:
    asked = reply("tools/list", asking({}), capabilities={"elicitation": {}})
    assert judged("MCP-RES-002", asked).outcome is NOT_OBSERVED
    assert judged("MCP-RES-002", reply("tools/list", asking({}))).outcome is FAIL


@pytest.mark.parametrize(
    ("values", "outcome"),
    [
        ([1, 2], PASS),
        ([0.1, 0.2, 0.25], PASS),
        ([1, 1], FAIL),
        ([2, 1], FAIL),
        ([1], NOT_OBSERVED),
        ([1, "2"], NOT_OBSERVED),
    ],
)
def test_progress_increases(values: list[Any], outcome: Outcome) -> None:
    answered = call(*(progress(value) for value in values), result())
    assert judged("CW-PRG-001", answered).outcome is outcome


@pytest.mark.parametrize(
    ("given", "token", "outcome"),
    [
        ({"progressToken": 7}, 7, PASS),
        ({"progressToken": 7}, "7", FAIL),
        ({"progressToken": "7"}, 7, FAIL),
        ({}, 7, FAIL),
        ({}, None, FAIL),
    ],
)
def test_progress_has_the_token_of_its_request_with_its_type(
    given: dict[str, Any], token: Any, outcome: Outcome
) -> None:
    answered = call(progress(1, token), result(), meta=given)
    assert judged("CW-PRG-002", answered).outcome is outcome


def test_a_call_that_reports_nothing_keeps_the_rule_about_tokens() -> None:
    assert judged("CW-PRG-002", call(result())).outcome is PASS


def test_over_http_the_token_of_another_request_is_foreign_and_on_stdio_it_is_not() -> None:
    for transport, outcome in ((STDIO, PASS), (call(result()).transport, FAIL)):
        first = call(result(), transport=transport)
        second = call(progress(1), result(), meta={"progressToken": "b"}, transport=transport)
        assert judged("CW-PRG-002", first, second).outcome is outcome


def test_progress_after_the_response_shows_on_the_next_answer() -> None:
    first = call(progress(1), result(), transport=STDIO)
    late = call(progress(2), result(), meta={"progressToken": "b"}, transport=STDIO)
    assert judged("CW-PRG-003", first, late).outcome is FAIL
    assert judged("CW-PRG-003", first).outcome is PASS
    assert judged("CW-PRG-003", call(result(), transport=STDIO)).outcome is NOT_OBSERVED


def test_log_messages_come_only_where_they_are_asked_for() -> None:
    logged = notification("message", level="info", data="x")
    level = {"io.modelcontextprotocol/logLevel": "info"}
    assert judged("CW-LOG-002", call(logged, result())).outcome is FAIL
    assert judged("CW-LOG-002", call(logged, result(), meta=level)).outcome is NOT_OBSERVED
    assert judged("CW-LOG-002", call(result())).outcome is PASS
    listening = reply("subscriptions/listen", OPENING, logged)
    assert judged("CW-LOG-002", listening).outcome is NOT_OBSERVED


def test_a_fault_that_comes_again_is_one_finding() -> None:
    lists = [reply("prompts/list", result(_meta={"-x": 1})) for _ in range(3)]
    observation = judged("CW-RES-009", *lists)
    assert (observation.occasions, len(observation.faults)) == (3, 1)
    assert seen(observation) == ['the name "-x" in the key "-x"']
