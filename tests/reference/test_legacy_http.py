"""The correct path of the legacy era over Streamable HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import anyio
import pytest

from clausewise.core.vocabulary import Era
from clausewise.reference.options import ServerLimits, ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import (
    LEGACY_VERSION,
    MEDIA,
    Client,
    Json,
    connect,
    initialize_message,
    legacy_message,
    open_session,
)

pytestmark = pytest.mark.anyio

COUNTER = "reference://counter"


@pytest.fixture(params=[Era.DUAL, Era.LEGACY])
async def url(request: pytest.FixtureRequest) -> AsyncIterator[str]:
    async with serve_http(ServerOptions(era=request.param)) as address:
        yield address


@pytest.fixture
async def client(url: str) -> AsyncIterator[Client]:
    async with connect(url) as connection:
        yield connection


# clause: TRAN-010, TRAN-011, LIFE-006, LIFE-010
async def test_initialize_opens_a_session_with_an_unguessable_visible_id(client: Client) -> None:
    answer = await client.post(initialize_message())
    assert answer.status == 200
    assert answer.result["protocolVersion"] == LEGACY_VERSION
    session_id = answer.headers["mcp-session-id"]
    assert len(session_id) >= 32
    assert all(0x21 <= ord(char) <= 0x7E for char in session_id)


# clause: TRAN-027
async def test_an_accepted_notification_is_202_without_a_body(client: Client) -> None:
    headers = await open_session(client)
    answer = await client.post({"jsonrpc": "2.0", "method": "notifications/progress"}, headers)
    assert (answer.status, answer.body) == (202, b"")


# clause: LIFE-006, LIFE-012
async def test_an_unsupported_version_is_answered_with_a_supported_one(client: Client) -> None:
    answer = await client.post(initialize_message(version="1999-01-01"))
    assert answer.result["protocolVersion"] == LEGACY_VERSION


@pytest.mark.parametrize("params", [{}, {"protocolVersion": 1}, {"protocolVersion": "x"}])
async def test_initialize_with_ill_formed_parameters_is_invalid_params(
    client: Client, params: Json
) -> None:
    answer = await client.post(legacy_message("initialize", params))
    assert answer.error["code"] == -32602
    assert "mcp-session-id" not in answer.headers


async def test_the_session_serves_every_feature(client: Client) -> None:
    headers = await open_session(client)
    for number, (method, params, key) in enumerate(
        [
            ("ping", None, None),
            ("tools/list", {}, "tools"),
            ("tools/call", {"name": "echo", "arguments": {"text": "x"}}, "content"),
            ("resources/list", None, "resources"),
            ("resources/templates/list", {}, "resourceTemplates"),
            ("resources/read", {"uri": COUNTER}, "contents"),
            ("prompts/list", {}, "prompts"),
            ("prompts/get", {"name": "summarize_welcome"}, "messages"),
            ("logging/setLevel", {"level": "debug"}, None),
            ("resources/subscribe", {"uri": COUNTER}, None),
            ("resources/unsubscribe", {"uri": COUNTER}, None),
        ]
    ):
        answer = await client.post(legacy_message(method, params, number), headers)
        assert answer.status == 200
        assert answer.message["id"] == number
        assert (key in answer.result) if key else answer.result == {}
        assert "resultType" not in answer.result


# clause: RES-008, LOG-003, PAGE-003
@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nope", {}, -32601),
        ("server/discover", {}, -32601),
        ("resources/read", {"uri": "reference://nowhere"}, -32002),
        ("resources/subscribe", {"uri": "reference://nowhere"}, -32002),
        ("tools/call", {"name": "nope"}, -32602),
        ("logging/setLevel", {"level": "loud"}, -32602),
        ("tools/list", {"cursor": "nope"}, -32602),
        ("tools/call", {"name": "greet_user"}, -32600),
    ],
)
async def test_errors_have_the_codes_of_the_revision(
    client: Client, method: str, params: Json, code: int
) -> None:
    headers = await open_session(client)
    answer = await client.post(legacy_message(method, params), headers)
    assert (answer.status, answer.error["code"]) == (200, code)


# clause: TRAN-015, TRAN-020
@pytest.mark.parametrize(
    ("edit", "status"),
    [
        ({"MCP-Session-Id": ""}, 404),
        ({"MCP-Session-Id": "not-a-session"}, 404),
        ({"MCP-Protocol-Version": "1999-01-01"}, 400),
        ({"MCP-Protocol-Version": "nonsense"}, 400),
    ],
)
async def test_a_dead_session_or_a_bad_version_header_is_refused(
    client: Client, edit: dict[str, str], status: int
) -> None:
    headers = await open_session(client)
    answer = await client.post(legacy_message("ping"), headers | edit)
    assert answer.status == status
    assert "error" in answer.message


# clause: TRAN-014
async def test_without_a_session_header_the_request_is_refused(client: Client) -> None:
    await open_session(client)
    headers = {"MCP-Protocol-Version": LEGACY_VERSION}
    assert (await client.post(legacy_message("ping"), headers)).status == 400


# clause: TRAN-019
async def test_the_version_header_may_be_absent(client: Client) -> None:
    headers = await open_session(client)
    del headers["MCP-Protocol-Version"]
    assert (await client.post(legacy_message("ping"), headers)).status == 200


# clause: TRAN-015
async def test_delete_ends_the_session(client: Client) -> None:
    headers = await open_session(client)
    assert (await client.exchange("DELETE", headers)).status == 204
    assert (await client.post(legacy_message("ping"), headers)).status == 404
    assert (await client.exchange("DELETE", headers)).status == 404


async def test_the_oldest_session_ends_for_a_new_one_beyond_the_bound() -> None:
    options = ServerOptions(limits=ServerLimits(max_sessions=2))
    async with serve_http(options) as url, connect(url) as client:
        first, second, third = [await open_session(client) for _ in range(3)]
        statuses = [
            (await client.post(legacy_message("ping"), headers)).status
            for headers in (first, second, third)
        ]
        assert statuses == [404, 200, 200]


# clause: TRAN-031, TRAN-044
async def test_a_stream_begins_with_an_id_and_no_data_and_ids_are_unique(client: Client) -> None:
    headers = await open_session(client)
    params = {
        "name": "count_slowly",
        "arguments": {"delayMs": 0},
        "_meta": {"progressToken": 0},
    }
    bodies = [
        (await client.post(legacy_message("tools/call", params, n), headers)).body for n in (1, 2)
    ]
    assert bodies[0].startswith(b"id: ")
    assert b"data: \n\n" in bodies[0].partition(b"\n")[2][:10]
    ids = [line for body in bodies for line in body.split(b"\n") if line.startswith(b"id:")]
    assert len(ids) == len(set(ids)) > 4


async def test_log_messages_follow_the_level_of_the_session(client: Client) -> None:
    headers = await open_session(client)
    call = legacy_message("tools/call", {"name": "count_slowly", "arguments": {"delayMs": 0}})
    assert len((await client.post(call, headers)).messages) == 2
    await client.post(legacy_message("logging/setLevel", {"level": "error"}), headers)
    assert len((await client.post(call, headers)).messages) == 1


async def test_a_tool_asks_the_client_on_its_own_stream(url: str, client: Client) -> None:
    headers = await open_session(client, {"elicitation": {}})
    call = legacy_message("tools/call", {"name": "greet_user"}, "t")
    async with connect(url) as tool:
        await tool.send("POST", {**MEDIA, **headers}, json.dumps(call).encode())
        await tool.head()
        asked = await tool.event()
        assert asked["method"] == "elicitation/create"
        assert asked["params"]["mode"] == "form"
        reply = {"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}}
        assert (await client.post(reply, headers)).status == 202
        assert (await client.post(reply, headers)).status == 400
        done = await tool.event()
        assert done["id"] == "t"
        assert "nobody" in done["result"]["content"][0]["text"]
        assert await tool.chunk() is None


async def test_a_client_that_never_answers_is_told_to_stop() -> None:
    options = ServerOptions(limits=ServerLimits(ask_s=0.01))
    async with serve_http(options) as url, connect(url) as client:
        headers = await open_session(client, {"elicitation": {"form": {}}})
        call = legacy_message("tools/call", {"name": "greet_user"})
        asked, cancelled, response = (await client.post(call, headers)).messages
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == asked["id"]
        assert response["error"]["code"] == -32603


# clause: CANC-021
async def test_a_cancelled_request_ends_its_stream_without_a_response(
    url: str, client: Client
) -> None:
    headers = await open_session(client)
    slow = {"name": "count_slowly", "arguments": {"steps": 1000, "delayMs": 1000}}
    async with connect(url) as tool:
        call = json.dumps(legacy_message("tools/call", slow, "slow")).encode()
        await tool.send("POST", {**MEDIA, **headers}, call)
        await tool.head()
        assert (await tool.event())["method"] == "notifications/message"
        cancel = {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": "slow"},
        }
        assert (await client.post(cancel, headers)).status == 202
        assert await tool.chunk() is None


# clause: TRAN-043
async def test_changes_come_on_the_newest_stream_of_the_session_only(
    url: str, client: Client
) -> None:
    headers = await open_session(client)
    await client.post(legacy_message("resources/subscribe", {"uri": COUNTER}), headers)
    async with AsyncExitStack() as stack:
        older = await stack.enter_async_context(connect(url))
        newer = await stack.enter_async_context(connect(url))
        for stream in (older, newer):
            await stream.send("GET", {"Accept": "text/event-stream", **headers})
            status, answer = await stream.head()
            assert (status, answer["content-type"]) == (200, "text/event-stream")
            assert (await stream.chunk() or b"").startswith(b"id: ")
        assert await older.chunk() is None
        await client.post(legacy_message("tools/call", {"name": "touch_counter"}), headers)
        assert (await newer.event())["params"] == {"uri": COUNTER}


@pytest.mark.parametrize(("edit", "status"), [({"Accept": "text/html"}, 406), ({}, 400)])
async def test_a_stream_needs_its_media_type_and_a_session(
    client: Client, edit: dict[str, str], status: int
) -> None:
    answer = await client.exchange("GET", {"Accept": "text/event-stream", **edit})
    assert answer.status == status


async def test_a_legacy_only_server_does_not_speak_the_modern_era() -> None:
    async with serve_http(ServerOptions(era=Era.LEGACY)) as url, connect(url) as client:
        answer = await client.modern("server/discover")
        assert answer.status == 400
        assert answer.error["code"] not in (-32020, -32021, -32022)


async def test_an_open_stream_ends_properly_when_the_server_stops() -> None:
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            opened = anyio.Event()

            async def listener(url: str) -> None:
                async with connect(url) as client:
                    headers = await open_session(client)
                    await client.send("GET", {"Accept": "text/event-stream", **headers})
                    await client.head()
                    await client.chunk()
                    opened.set()
                    assert await client.chunk() is None

            async with serve_http(ServerOptions()) as url:
                tasks.start_soon(listener, url)
                await opened.wait()
