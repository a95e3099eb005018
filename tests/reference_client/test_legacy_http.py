"""What a client owes an HTTP server of 2025-11-25, tried with servers that are difficult."""

from __future__ import annotations

from dataclasses import replace

import anyio
import pytest

from clausewise.core.errors import BarredError, TargetError
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.report.client_steps import step_line
from tests.reference_client.driving import LEGACY, complaints, drive_scripted
from tests.reference_client.scripted import (
    INITIALIZED,
    JSON_HEAD,
    SESSION,
    STREAM_HEAD,
    Json,
    Scripted,
    encoded,
    give,
    legacy_server,
    respond,
    status,
    stream,
)

PING = '[[step]]\ndo = "ping"\n'
CALL = '[[step]]\ndo = "call"\ntool = "t"\nwithin = 1.0\n'
RESULT: Json = {"content": [{"type": "text", "text": "done"}]}


# clause: TRAN-013, LIFE-018, TRAN-017, TRAN-018
def test_every_request_after_initialize_names_session_and_version() -> None:
    server = legacy_server(ping=give({}))
    assert complaints(drive_scripted(server, PING, LEGACY)) == []
    first, *others = server.got
    assert first.method == "initialize"
    assert (first.header("mcp-session-id"), first.header("mcp-protocol-version")) == (None, None)
    assert {one.header("mcp-session-id") for one in others} == {"the-session"}
    assert {one.header("mcp-protocol-version") for one in others} == {"2025-11-25"}
    assert [one.method or one.verb for one in others if one.verb != "GET"] == [
        "notifications/initialized",
        "ping",
        "DELETE",
    ]


# clause: LIFE-007, LIFE-011
def test_the_latest_version_is_proposed_and_an_older_one_taken_over() -> None:
    older = {**INITIALIZED, "protocolVersion": "2025-06-18"}
    server = Scripted({"initialize": give(older), "ping": give({})})
    assert complaints(drive_scripted(server, PING, LEGACY)) == []
    assert server.of("initialize")[0].message["params"]["protocolVersion"] == "2025-11-25"
    assert server.of("ping")[0].header("mcp-protocol-version") == "2025-06-18"


# clause: LIFE-013
@pytest.mark.parametrize("version", ["1999-01-01", "2099-01-01", None, 7])
def test_a_client_leaves_a_server_with_an_unknown_version_and_says_nothing_more(
    version: object,
) -> None:
    server = Scripted({"initialize": give({**INITIALIZED, "protocolVersion": version}, **SESSION)})
    with pytest.raises(TargetError, match="protocol version"):
        drive_scripted(server, PING, LEGACY)
    assert [one.method for one in server.got] == ["initialize"]


# clause: TRAN-030
def test_an_answer_may_be_json_or_a_stream() -> None:
    streamed = stream({"jsonrpc": "2.0", "id": "$id", "result": {}})
    server = legacy_server(ping=[give({}), streamed])
    assert complaints(drive_scripted(server, PING + PING, LEGACY)) == []


# clause: TRAN-016
def test_a_lost_session_is_replaced_by_a_new_one_without_its_id() -> None:
    server = legacy_server(ping=[status(404), give({})])
    assert complaints(drive_scripted(server, PING, LEGACY)) == []
    again = server.of("initialize")
    assert len(again) == 2
    assert again[1].header("mcp-session-id") is None
    assert len({one.message["id"] for one in server.got if "id" in one.message}) == 4


# clause: TRAN-033, TRAN-046, TRAN-138
def test_a_stream_is_resumed_after_its_last_event_when_the_time_is_there() -> None:
    when: list[float] = []

    async def breaks(exchange: HttpExchange, _message: Json) -> None:
        await exchange.open(HttpHead(200, STREAM_HEAD))
        await exchange.write(b"id: e-1\nretry: 300\ndata:\n\n")
        when.append(anyio.current_time())
        await exchange.close()

    async def resumes(exchange: HttpExchange, message: Json) -> None:
        if exchange.request.value("last-event-id") is None:
            await exchange.respond(HttpHead(405))
            return
        when.append(anyio.current_time())
        (call,) = server.of("tools/call")
        await stream(respond(call.message, RESULT))(exchange, message)

    server = legacy_server(tools__call=breaks, GET=resumes)
    assert complaints(drive_scripted(server, CALL, LEGACY)) == []
    resumed = [one for one in server.of("GET") if one.header("last-event-id")]
    assert [one.header("last-event-id") for one in resumed] == ["e-1"]
    assert resumed[0].header("accept") == "text/event-stream"
    assert when[1] - when[0] >= 0.3
    assert len(server.of("tools/call")) == 1


def test_a_stream_without_event_ids_cannot_be_resumed_and_the_call_fails() -> None:
    server = legacy_server(tools__call=stream(b": nothing\n\n"))
    (result,) = drive_scripted(server, CALL, LEGACY)
    assert "fault" in result.outcome
    assert not [one for one in server.of("GET") if one.header("last-event-id")]


def test_a_script_can_break_a_stream_to_have_it_resumed() -> None:
    async def begins(exchange: HttpExchange, _message: Json) -> None:
        await exchange.open(HttpHead(200, STREAM_HEAD))
        params = {"level": "info", "data": "begun"}
        notice = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
        await exchange.write(b"id: a\nretry: 10\ndata: " + encoded(notice) + b"\n\n")
        await anyio.sleep_forever()

    async def goes_on(exchange: HttpExchange, message: Json) -> None:
        if exchange.request.value("last-event-id") != "a":
            await exchange.respond(HttpHead(405))
            return
        (call,) = server.of("tools/call")
        await stream(respond(call.message, RESULT))(exchange, message)

    script = """
[[step]]
do = "call"
name = "c"
tool = "t"
background = true
[[step]]
do = "wait"
notification = "notifications/message"
[[step]]
do = "resume"
of = "c"
expect = { "/cut" = true }
[[step]]
do = "await"
of = "c"
expect = { "/result/content/0/text" = "done" }
"""
    server = legacy_server(tools__call=begins, GET=goes_on)
    assert complaints(drive_scripted(server, script, LEGACY)) == []


# clause: LIFE-015, LIFE-016
def test_a_request_that_is_not_answered_is_cancelled_once_and_given_up() -> None:
    server = legacy_server(tools__call=stream(b": wait\n\n", ends=False), ping=give({}))
    results = drive_scripted(server, CALL + PING, LEGACY)
    assert [bool(one.complaints) for one in results] == [True, False]
    (cancelled,) = server.of("notifications/cancelled")
    (call,) = server.of("tools/call")
    assert cancelled.message["params"]["requestId"] == call.message["id"]


# clause: LIFE-017
def test_endless_progress_does_not_keep_a_request_alive() -> None:
    async def endless(exchange: HttpExchange, message: Json) -> None:
        await exchange.open(HttpHead(200, STREAM_HEAD))
        token = message["params"]["_meta"]["progressToken"]
        for step in range(1, 1000):
            params = {"progressToken": token, "progress": step}
            notice = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
            await exchange.write(b"data: " + encoded(notice) + b"\n\n")
            await anyio.sleep(0.05)

    server = legacy_server(tools__call=endless)
    (result,) = drive_scripted(server, CALL + "progress = true\n", LEGACY)
    assert "in 1 s" in result.outcome["fault"]
    assert len(server.of("notifications/cancelled")) == 1


# clause: CANC-019
def test_initialize_is_never_cancelled() -> None:
    server = Scripted({"initialize": stream(b": wait\n\n", ends=False)})
    with pytest.raises(TargetError, match="initialize"):
        drive_scripted(server, PING, type(LEGACY)(LEGACY.era, seconds=0.5))
    assert [one.method for one in server.got] == ["initialize"]


def test_a_redirect_is_not_followed() -> None:
    async def redirects(exchange: HttpExchange, _message: Json) -> None:
        await exchange.respond(HttpHead(307, (("Location", "http://127.0.0.1:9/elsewhere"),)))

    (result,) = drive_scripted(legacy_server(ping=redirects), PING, LEGACY)
    assert result.outcome["fault"] == "HTTP 307 without a response"


def test_a_ping_is_answered_and_what_was_not_declared_is_refused() -> None:
    asked: list[Json] = [
        {"jsonrpc": "2.0", "id": "p", "method": "ping"},
        {"jsonrpc": "2.0", "id": 0, "method": "roots/list"},
        {"jsonrpc": "2.0", "id": "x", "method": "no/such"},
    ]
    answer = {"jsonrpc": "2.0", "id": "$id", "result": {}}
    server = legacy_server(ping=stream(*asked, answer))
    script = PING + '[[step]]\ndo = "wait"\nnotification = "none"\ncount = 0\n'
    assert complaints(drive_scripted(server, script, LEGACY)) == []
    responses = {one["id"]: one for one in server.messages if "method" not in one}
    assert responses["p"]["result"] == {}
    assert responses[0]["error"]["code"] == -32601
    assert responses["x"]["error"]["code"] == -32601


# clause: BASE-011, CANC-026
def test_odd_notifications_are_not_answered_and_harm_nothing() -> None:
    odd: list[Json] = [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "never"}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {
            "jsonrpc": "2.0",
            "method": "notifications/elicitation/complete",
            "params": {"elicitationId": "never"},
        },
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": 7},
        {"jsonrpc": "2.0", "method": 7},
        {"jsonrpc": "2.0", "id": "nobody-asked", "result": {}},
        {"jsonrpc": "2.0", "id": None, "method": "ping"},
    ]
    answer = {"jsonrpc": "2.0", "id": "$id", "result": {}}
    server = legacy_server(ping=[stream(*odd, answer), give({})])
    assert complaints(drive_scripted(server, PING + PING, LEGACY)) == []
    assert [one for one in server.messages if "method" not in one] == []


# clause: CANC-022
def test_a_late_answer_to_a_cancelled_request_is_ignored() -> None:
    script = CALL.replace("within = 1.0", "within = 0.3") + PING
    calls: list[Json] = []

    async def keeps(exchange: HttpExchange, message: Json) -> None:
        calls.append(message)
        await stream(b": wait\n\n", ends=False)(exchange, message)

    async def late(exchange: HttpExchange, message: Json) -> None:
        answer = {"jsonrpc": "2.0", "id": "$id", "result": {}}
        await stream(respond(calls[0], RESULT), answer)(exchange, message)

    server = legacy_server(tools__call=keeps, ping=late)
    results = drive_scripted(server, script, LEGACY)
    assert [bool(one.complaints) for one in results] == [True, False]
    assert len(server.of("notifications/cancelled")) == 1


# clause: TOOL-014
def test_structured_content_that_misses_its_schema_is_told() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    tool = {"name": "t", "inputSchema": {"type": "object"}, "outputSchema": schema}
    result = {"content": [], "structuredContent": {"n": "seven"}}
    server = legacy_server(tools__list=give({"tools": [tool]}), tools__call=give(result))
    script = '[[step]]\ndo = "list"\nwhat = "tools"\n' + CALL
    told = drive_scripted(server, script, LEGACY)[1].outcome["fault"]
    assert told.startswith("structuredContent does not fit outputSchema")


@pytest.mark.parametrize("code", [500, 503, 404, 405])
def test_a_status_without_a_message_is_told_as_such(code: int) -> None:
    server = Scripted({"initialize": give(INITIALIZED), "ping": status(code)})
    (result,) = drive_scripted(server, PING, LEGACY)
    assert result.outcome["fault"] == f"HTTP {code} without a response"


def test_a_result_that_is_no_object_is_of_no_use() -> None:
    (result,) = drive_scripted(legacy_server(ping=give(None)), PING, LEGACY)
    assert result.outcome["fault"] == "the result is no object"


def test_a_feature_that_the_server_does_not_declare_is_not_used() -> None:
    server = legacy_server()
    script = '[[step]]\ndo = "set-level"\nlevel = "info"\n[[step]]\ndo = "listen"\ntools = true\n'
    told = [one.outcome["fault"] for one in drive_scripted(server, script, LEGACY)]
    assert told == [
        "the server does not declare logging",
        "revision 2025-11-25 does not have this",
    ]
    assert not server.of("logging/setLevel")


async def _never(_exchange: HttpExchange, _message: Json) -> None:
    raise AssertionError("must not be asked")


def test_a_tool_without_task_support_is_not_called_as_a_task() -> None:
    tool = {"name": "t", "inputSchema": {"type": "object"}}
    able = {**INITIALIZED["capabilities"], "tasks": {"requests": {"tools": {"call": {}}}}}
    server = Scripted(
        {
            "initialize": give({**INITIALIZED, "capabilities": able}),
            "tools/list": give({"tools": [tool]}),
            "tools/call": _never,
        }
    )
    script = '[[step]]\ndo = "list"\nwhat = "tools"\n' + CALL + "task = {}\n"
    assert drive_scripted(server, script, LEGACY)[1].outcome == {
        "fault": "the tool does not support tasks"
    }


def test_a_bare_message_as_body_needs_no_stream() -> None:
    async def plain(exchange: HttpExchange, message: Json) -> None:
        await exchange.respond(HttpHead(200, JSON_HEAD), encoded(respond(message, {})))

    assert complaints(drive_scripted(legacy_server(ping=plain), PING, LEGACY)) == []


def test_two_requests_that_lose_their_session_at_once_begin_one_new_session() -> None:
    both = anyio.Event()
    waiting: list[Json] = []

    async def lost(exchange: HttpExchange, message: Json) -> None:
        waiting.append(message)
        if len(waiting) == 2:
            both.set()
        await both.wait()
        await exchange.respond(HttpHead(404))

    beside = CALL + 'name = "c"\nbackground = true\n'
    script = beside + CALL + '[[step]]\ndo = "await"\nof = "c"\n'
    server = legacy_server(tools__call=[lost, lost, give(RESULT)])
    assert complaints(drive_scripted(server, script, LEGACY)) == []
    assert len(server.of("initialize")) == 2


def test_a_session_id_is_sent_back_byte_for_byte() -> None:
    odd = "caf\u00e9"
    server = Scripted({"initialize": give(INITIALIZED, MCP_Session_Id=odd), "ping": give({})})
    assert complaints(drive_scripted(server, PING, LEGACY)) == []
    assert server.of("ping")[0].header("mcp-session-id") == odd


def test_what_the_server_asks_its_user_is_shown_with_the_whole_url() -> None:
    url = "https://example.com/" + "a" * 300
    params = {"mode": "url", "message": "Visit", "url": url, "elicitationId": "e"}
    asked: Json = {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}
    answer: Json = {"jsonrpc": "2.0", "id": "$id", "result": RESULT}
    server = legacy_server(tools__call=stream(asked, answer))
    script = '[answers]\nurl = "accept"\n' + CALL
    (result,) = drive_scripted(server, script, LEGACY)
    assert f"asked: elicitation/create Visit {url} -> accept" in step_line(result)


def test_what_could_not_be_begun_cannot_be_awaited() -> None:
    server = Scripted({"initialize": give({**INITIALIZED, "capabilities": {}})})
    beside = CALL + 'name = "c"\nbackground = true\n'
    script = beside + "".join(f'[[step]]\ndo = "{do}"\nof = "c"\n' for do in ("await", "cancel"))
    told = [one.outcome["fault"] for one in drive_scripted(server, script, LEGACY)]
    assert told == ["the server does not declare tools", "'c' was never sent", "'c' was never sent"]


def test_what_is_still_in_progress_at_the_end_is_cancelled_before_the_session_ends() -> None:
    server = legacy_server(tools__call=stream(b": wait\n\n", ends=False), ping=give({}))
    script = CALL + "background = true\n" + PING
    assert complaints(drive_scripted(server, script, LEGACY)) == []
    said = [one.method or one.verb for one in server.got]
    assert said[-2:] == ["notifications/cancelled", "DELETE"]
    (call,) = server.of("tools/call")
    (cancelled,) = server.of("notifications/cancelled")
    assert cancelled.message["params"]["requestId"] == call.message["id"]


class Refusing:
    """An authorizer that cannot get a token, and says so to everybody."""

    async def headers(self, _url: str) -> tuple[tuple[str, str], ...]:
        return ()

    async def challenged(self, *_refusal: object) -> bool:
        raise BarredError("no token is to be had")


def test_several_requests_that_are_barred_at_once_end_the_run_with_one_error() -> None:
    both, waiting = anyio.Event(), list[Json]()

    async def barred(exchange: HttpExchange, message: Json) -> None:
        waiting.append(message)
        if len(waiting) == 2:
            both.set()
        await both.wait()
        await exchange.respond(HttpHead(401))

    server = legacy_server(tools__call=barred)
    beside = CALL + "background = true\n"
    with pytest.raises(BarredError, match="no token is to be had"):
        drive_scripted(server, beside + CALL, replace(LEGACY, authorizer=Refusing()))
