"""What a client owes an HTTP server of 2026-07-28, tried with servers that are difficult."""

from __future__ import annotations

import base64
import json

import anyio
import pytest

from clausewise.core.errors import TargetError
from clausewise.reference.http_layer import HttpExchange, HttpHead
from tests.reference_client.driving import AUTO, MODERN, complaints, drive_scripted
from tests.reference_client.scripted import (
    DISCOVERED,
    INITIALIZED,
    STREAM_HEAD,
    TOOL,
    Act,
    Json,
    Scripted,
    encoded,
    give,
    listed,
    modern_server,
    refuse,
    respond,
    status,
    stream,
)

PREFIX = "io.modelcontextprotocol/"
CALL = '[[step]]\ndo = "call"\ntool = "t"\n'
LIST = '[[step]]\ndo = "list"\nwhat = "tools"\n'
READ = '[[step]]\ndo = "read"\nuri = "a://1"\n'
DONE: Json = {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}


# clause: BASE-030, TRAN-071, TRAN-072, TRAN-204
def test_every_request_has_its_metadata_in_body_and_headers() -> None:
    read = give({"resultType": "complete", "contents": [], "ttlMs": 0, "cacheScope": "private"})
    server = modern_server(tools__call=give(DONE), resources__read=read)
    assert complaints(drive_scripted(server, CALL + READ, MODERN)) == []
    names = {"tools/call": "t", "resources/read": "a://1"}
    for one in server.got:
        meta = one.message["params"]["_meta"]
        assert meta[PREFIX + "protocolVersion"] == "2026-07-28"
        assert meta[PREFIX + "clientInfo"]["name"] == "clausewise-reference-client"
        assert PREFIX + "clientCapabilities" in meta
        assert one.header("mcp-protocol-version") == "2026-07-28"
        assert one.header("mcp-method") == one.method
        assert one.header("mcp-name") == names.get(one.method or "")
        assert one.header("accept") == "application/json, text/event-stream"
        assert one.header("mcp-session-id") is None
    assert {one.verb for one in server.got} == {"POST"}


def wrapped(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


# clause: TRAN-079, TRAN-087, TRAN-212, TRAN-214
def test_arguments_are_mirrored_into_headers_as_their_tool_asks() -> None:
    properties = {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "limit": {"type": "integer", "x-mcp-header": "Limit"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry"},
        "none": {"type": ["string", "null"], "x-mcp-header": "None"},
        "deep": {"type": "object", "properties": {"er": {"type": "string", "x-mcp-header": "Er"}}},
    }
    tool = {"name": "naïve", "inputSchema": {"type": "object", "properties": properties}}
    server = modern_server(tools__list=give(listed(tool)), tools__call=give(DONE))
    given = {
        "region": " Québec",
        "limit": -7,
        "dry": True,
        "none": None,
        "deep": {"er": "=?base64?eA==?="},
    }
    arguments = f"arguments = '{json.dumps(given)}'"
    script = CALL.replace('"t"', '"naïve"') + arguments
    assert complaints(drive_scripted(server, script, MODERN)) == []
    (call,) = server.of("tools/call")
    assert call.header("mcp-name") == wrapped("naïve")
    assert call.header("mcp-param-region") == wrapped(" Québec")
    assert call.header("mcp-param-limit") == "-7"
    assert call.header("mcp-param-dry") == "true"
    assert call.header("mcp-param-none") is None
    assert call.header("mcp-param-er") == wrapped("=?base64?eA==?=")


# clause: TRAN-083, TRAN-084
@pytest.mark.parametrize(
    "annotated",
    [
        {"a": {"type": "string", "x-mcp-header": ""}},
        {"a": {"type": "string", "x-mcp-header": "No Token"}},
        {"a": {"type": "number", "x-mcp-header": "A"}},
        {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}},
        {
            "a": {"type": "string", "x-mcp-header": "Same"},
            "b": {"type": "string", "x-mcp-header": "same"},
        },
    ],
)
def test_a_tool_with_a_wrong_annotation_is_left_out_and_the_others_stay(annotated: Json) -> None:
    bad = {"name": "bad", "inputSchema": {"type": "object", "properties": annotated}}
    server = modern_server(tools__list=give(listed(bad, TOOL)), tools__call=give(DONE))
    script = LIST + CALL + CALL.replace('"t"', '"bad"')
    offered, good, refused = drive_scripted(server, script, MODERN)
    assert [tool["name"] for tool in offered.outcome["result"]["tools"]] == ["t"]
    assert "bad" in offered.outcome["rejected"]
    assert good.complaints == ()
    assert "must not be used" in refused.outcome["fault"]
    assert len(server.of("tools/call")) == 1


# clause: TRAN-207
def test_an_integer_that_no_header_may_carry_is_not_sent() -> None:
    properties = {"n": {"type": "integer", "x-mcp-header": "N"}}
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": properties}}
    server = modern_server(tools__list=give(listed(tool)))
    (result,) = drive_scripted(server, f"{CALL}arguments = {{ n = {2**53} }}\n", MODERN)
    assert "no safe integer" in result.outcome["fault"]
    assert not server.of("tools/call")


# clause: TRAN-094
def test_after_a_header_mismatch_the_tools_are_listed_again_and_the_call_repeated() -> None:
    mirrored = {"a": {"type": "string", "x-mcp-header": "A"}}
    new = {"name": "t", "inputSchema": {"type": "object", "properties": mirrored}}
    server = modern_server(
        tools__list=[give(listed(ttlMs=60_000)), give(listed(new))],
        tools__call=[refuse(-32020, 400), give(DONE)],
    )
    script = CALL + 'arguments = { a = "x" }\n'
    assert complaints(drive_scripted(server, script, MODERN)) == []
    first, second = server.of("tools/call")
    assert (first.header("mcp-param-a"), second.header("mcp-param-a")) == (None, "x")
    assert first.message["id"] != second.message["id"]


FORM: Json = {
    "method": "elicitation/create",
    "params": {
        "message": "Who?",
        "requestedSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 3}},
            "required": ["name"],
        },
    },
}
ACCEPTING = '[answers.form]\naction = "accept"\ncontent = { name = "Ada" }\n'


def asking(state: str | None = None, **inputs: Json) -> Json:
    result: Json = {"resultType": "input_required"}
    if inputs:
        result["inputRequests"] = inputs
    return result | ({} if state is None else {"requestState": state})


# clause: MRTR-016, MRTR-019, TOOL-023
def test_a_retry_has_the_input_and_the_state_as_it_came_under_a_new_id() -> None:
    state = '{ "b":1,  "a" : "\\u00e9" }'
    server = modern_server(
        tools__call=[
            give(asking(state, who=FORM, again=FORM)),
            give(asking(None, who=FORM)),
            give(DONE),
        ]
    )
    (result,) = drive_scripted(server, ACCEPTING + CALL + "arguments = { x = 1 }\n", MODERN)
    assert (result.complaints, result.outcome["rounds"]) == ((), 2)
    first, second, third = [one.message for one in server.of("tools/call")]
    answered = {"action": "accept", "content": {"name": "Ada", "age": 3}}
    assert second["params"]["inputResponses"] == {"who": answered, "again": answered}
    assert second["params"]["requestState"] == state
    assert "requestState" not in third["params"]
    assert {one["params"]["arguments"]["x"] for one in (first, second, third)} == {1}
    assert len({first["id"], second["id"], third["id"]}) == 3
    assert "inputResponses" not in first["params"]


# clause: MRTR-020
def test_a_state_alone_is_echoed_and_nothing_of_it_goes_into_other_requests() -> None:
    server = modern_server(tools__call=[give(asking("s")), give(DONE), give(DONE)])
    assert complaints(drive_scripted(server, CALL + CALL, MODERN)) == []
    states = [one.message["params"].get("requestState") for one in server.of("tools/call")]
    assert states == [None, "s", None]


def test_a_server_that_asks_without_end_is_given_up() -> None:
    server = modern_server(tools__call=give(asking("s")))
    (result,) = drive_scripted(server, CALL, MODERN)
    assert result.outcome["fault"] == "the server asked for input 10 times"
    assert len(server.of("tools/call")) == 10


@pytest.mark.parametrize(
    "asked",
    [
        {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}},
        {"method": "no/such", "params": {}},
        {"method": "elicitation/create", "params": {"message": "no schema"}},
        {
            "method": "elicitation/create",
            "params": {
                "message": "m",
                "requestedSchema": {
                    "$schema": "https://example.com/dialect",
                    "type": "object",
                    "properties": {},
                },
            },
        },
    ],
)
def test_input_that_cannot_be_given_ends_the_request_without_a_retry(asked: Json) -> None:
    server = modern_server(tools__call=give(asking("s", one=asked)))
    (result,) = drive_scripted(server, ACCEPTING + CALL, MODERN)
    assert result.outcome["fault"].startswith("input not given")
    assert len(server.of("tools/call")) == 1


def test_results_are_told_by_their_type() -> None:
    without = {"content": [{"type": "text", "text": "older"}]}
    server = modern_server(tools__call=[give({"resultType": "bogus"}), give(without)])
    odd, older = drive_scripted(server, CALL + CALL, MODERN)
    assert odd.outcome["fault"] == "the result has the unknown type 'bogus'"
    assert older.complaints == ()


def test_a_request_of_the_server_is_not_answered() -> None:
    forbidden = {"jsonrpc": "2.0", "id": "x", "method": "roots/list"}
    answer = {"jsonrpc": "2.0", "id": "$id", "result": DONE}
    server = modern_server(tools__call=stream(forbidden, b": comment\n\n", answer))
    assert complaints(drive_scripted(server, CALL + CALL, MODERN)) == []
    assert all("method" in message for message in server.messages)


def test_to_cancel_is_to_close_the_stream_and_to_say_nothing() -> None:
    gone = []

    async def endless(exchange: HttpExchange, _message: Json) -> None:
        await exchange.open(HttpHead(200, STREAM_HEAD))
        note = {"jsonrpc": "2.0", "method": "notifications/progress"}
        await exchange.write(b"data: " + encoded(note) + b"\n\n")
        try:
            await anyio.sleep_forever()
        finally:
            gone.append(True)

    script = (
        CALL
        + 'name = "c"\nbackground = true\n[[step]]\ndo = "wait"\n'
        + 'notification = "notifications/progress"\n[[step]]\ndo = "cancel"\nof = "c"\n'
        + '[[step]]\ndo = "await"\nof = "c"\nexpect = { "/fault" = "cancelled by the client" }\n'
    )
    server = modern_server(tools__call=endless)
    assert complaints(drive_scripted(server, script, MODERN)) == []
    assert gone == [True]
    assert not server.of("notifications/cancelled")


LISTENING = '[[step]]\ndo = "listen"\nname = "l"\ntools = true\nuris = ["a://1"]\n'


def listening(acknowledged: Json, *more: Json) -> Act:
    async def act(exchange: HttpExchange, message: Json) -> None:
        about = {"_meta": {PREFIX + "subscriptionId": message["id"]}}
        method = "notifications/subscriptions/acknowledged"
        notice: Json = {"jsonrpc": "2.0", "method": method}
        notice["params"] = {**about, "notifications": acknowledged}
        await stream(notice, *more, ends=False)(exchange, message)

    return act


def test_what_a_subscription_does_not_cover_is_told() -> None:
    server = modern_server(subscriptions__listen=listening({"toolsListChanged": True}))
    (result,) = drive_scripted(server, LISTENING, MODERN)
    assert result.outcome["unsupported"] == ["resourceSubscriptions"]
    (listen,) = server.of("subscriptions/listen")
    assert listen.message["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourceSubscriptions": ["a://1"],
    }


def test_a_subscription_that_ends_at_once_is_told() -> None:
    ended = give({"resultType": "complete"})
    server = modern_server(subscriptions__listen=ended)
    (result,) = drive_scripted(server, LISTENING, MODERN)
    assert result.outcome["fault"] == "the subscription was not acknowledged"


def test_a_fresh_list_is_used_again_and_a_changed_one_is_not() -> None:
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    answer = {"jsonrpc": "2.0", "id": "$id", "result": DONE}
    server = modern_server(
        tools__list=give(listed(ttlMs=60_000)), tools__call=stream(changed, answer)
    )
    results = drive_scripted(server, LIST + LIST + CALL + LIST, MODERN)
    assert [one.outcome.get("cached") for one in results] == [None, True, None, None]
    assert len(server.of("tools/list")) == 2


@pytest.mark.parametrize("ttl", [0, -1, None])
def test_what_is_stale_at_once_is_asked_for_again(ttl: int | None) -> None:
    hints = {} if ttl is None else {"ttlMs": ttl}
    found = {name: value for name, value in listed().items() if name != "ttlMs"}
    server = modern_server(tools__list=give({**found, **hints}))
    assert complaints(drive_scripted(server, LIST + LIST, MODERN)) == []
    assert len(server.of("tools/list")) == 2


def test_what_was_read_with_input_is_not_kept() -> None:
    read = {"resultType": "complete", "contents": [], "ttlMs": 60_000, "cacheScope": "private"}
    server = modern_server(resources__read=[give(asking("s")), give(read), give(read)])
    assert complaints(drive_scripted(server, READ + READ, MODERN)) == []
    assert len(server.of("resources/read")) == 3


# ---- eras


@pytest.mark.parametrize(
    "act",
    [
        status(400),
        status(404),
        status(405),
        status(500),
        refuse(-32601, 404),
        refuse(-32602, 400),
        refuse(-32600, 400),
        refuse(-32000, 400),
        refuse(-32601, 200),
        refuse(1, 200),
        give({}),
        refuse(-32022, 400, {"supported": ["2025-11-25"], "requested": "2026-07-28"}),
        give({**DISCOVERED, "supportedVersions": ["2025-11-25"]}),
    ],
)
def test_whatever_is_no_modern_answer_leads_to_initialize(act: Act) -> None:
    server = Scripted({"server/discover": act, "initialize": give(INITIALIZED), "ping": give({})})
    assert complaints(drive_scripted(server, '[[step]]\ndo = "ping"\n', AUTO)) == []
    said = [one.method for one in server.got if one.verb == "POST"]
    assert said == ["server/discover", "initialize", "notifications/initialized", "ping"]


# clause: VERS-002
def test_a_modern_error_is_met_with_a_version_that_it_names() -> None:
    named = refuse(-32022, 400, {"supported": ["2026-07-28"], "requested": "2026-07-28"})
    server = modern_server(server__discover=[named, give(DISCOVERED)], tools__call=give(DONE))
    assert complaints(drive_scripted(server, CALL, AUTO)) == []
    assert not server.of("initialize")


@pytest.mark.parametrize(
    "act",
    [
        refuse(-32022, 400, {"supported": ["2030-01-01"], "requested": "2026-07-28"}),
        refuse(-32020, 400),
        refuse(-32021, 400, {"requiredCapabilities": {"roots": {}}}),
    ],
)
def test_a_modern_server_that_refuses_is_not_taken_for_a_legacy_one(act: Act) -> None:
    server = Scripted({"server/discover": act, "initialize": give(INITIALIZED)})
    with pytest.raises(TargetError, match="refuses server/discover"):
        drive_scripted(server, CALL, AUTO)
    assert not server.of("initialize")


def test_a_modern_client_tells_that_a_legacy_server_is_none_of_its_kind() -> None:
    server = Scripted({"server/discover": status(400), "initialize": give(INITIALIZED)})
    with pytest.raises(TargetError, match="does not speak 2026-07-28"):
        drive_scripted(server, CALL, MODERN)
    assert not server.of("initialize")


def test_without_credentials_a_protected_server_is_told_as_such() -> None:
    server = Scripted({"server/discover": status(401)})
    with pytest.raises(TargetError, match="HTTP 401: the server lets nobody in"):
        drive_scripted(server, CALL, AUTO)


def test_the_answer_may_come_in_a_stream_after_notifications() -> None:
    async def noted(exchange: HttpExchange, message: Json) -> None:
        note: Json = {"jsonrpc": "2.0", "method": "notifications/message"}
        note["params"] = {"level": "info", "data": "so far"}
        await stream(note, respond(message, DONE))(exchange, message)

    (result,) = drive_scripted(modern_server(tools__call=noted), CALL, MODERN)
    assert result.complaints == ()
    assert [one["method"] for one in result.outcome["notifications"]] == ["notifications/message"]
