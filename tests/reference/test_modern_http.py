"""The correct path of the modern era over Streamable HTTP."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clausewise.core.vocabulary import Era
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import ABLE_META, META, PREFIX, VERSION, Client, Json, connect

pytestmark = pytest.mark.anyio

MODERN = ServerOptions(era=Era.MODERN)


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with serve_http(ServerOptions()) as url, connect(url) as connection:
        yield connection


# clause: MCP-DSC-001, MCP-DSC-002, MCP-DSC-005
async def test_discover_tells_versions_capabilities_and_identity(client: Client) -> None:
    answer = await client.modern("server/discover", request_id="d")
    assert answer.status == 200
    assert answer.message["id"] == "d"
    assert answer.result["supportedVersions"] == [VERSION]
    offered = {"tools", "resources", "prompts", "completions", "extensions"}
    assert set(answer.result["capabilities"]) == offered
    assert answer.result["_meta"][PREFIX + "serverInfo"]["name"] == "clausewise-reference"
    assert answer.result["resultType"] == "complete"


# clause: MCP-CAC-001, MCP-CAC-002
@pytest.mark.parametrize(
    ("method", "params", "cacheable"),
    [
        ("server/discover", {}, True),
        ("tools/list", {}, True),
        ("prompts/list", {}, True),
        ("resources/list", {}, True),
        ("resources/templates/list", {}, True),
        ("resources/read", {"uri": "reference://texts/welcome"}, True),
        ("tools/call", {"name": "echo", "arguments": {"text": "x"}}, False),
        ("prompts/get", {"name": "describe_media"}, False),
    ],
)
async def test_exactly_the_six_cacheable_results_carry_hints(
    client: Client, method: str, params: Json, cacheable: bool
) -> None:
    result = (await client.modern(method, params)).result
    assert (isinstance(result.get("ttlMs"), int) and result["ttlMs"] >= 0) is cacheable
    assert (result.get("cacheScope") in ("public", "private")) is cacheable


# clause: MCP-HDR-001, MCP-HDR-002, MCP-HDR-003, MCP-HDR-005, CW-HDR-001
@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ({"MCP-Protocol-Version": None}, "missing"),
        ({"Mcp-Method": None}, "missing"),
        ({"Mcp-Name": None}, "missing"),
        ({"MCP-Protocol-Version": "2025-11-25"}, "is not"),
        ({"Mcp-Method": "prompts/get"}, "is not"),
        ({"Mcp-Method": "TOOLS/CALL"}, "is not"),
        ({"Mcp-Name": "other"}, "is not"),
        ({"Mcp-Name": "ech\x7fo"}, "invalid characters"),
        ({"Mcp-Name": "=?base64?!!!?="}, "wrongly encoded"),
    ],
)
async def test_a_header_fault_is_a_header_mismatch(
    client: Client, headers: dict[str, str | None], why: str
) -> None:
    params = {"name": "echo", "arguments": {"text": "x"}}
    answer = await client.modern("tools/call", params, headers=headers)
    assert (answer.status, answer.error["code"]) == (400, -32020)
    assert why in answer.error["message"]
    assert answer.message["id"] == 1


async def test_a_header_that_occurs_twice_is_a_header_mismatch(client: Client) -> None:
    twice = {"Mcp-Method": "tools/list\r\nMcp-Method: tools/list"}
    answer = await client.modern("tools/list", headers=twice)
    assert (answer.status, answer.error["code"]) == (400, -32020)


# clause: MCP-HDR-007
async def test_an_encoded_name_is_decoded_before_it_is_compared(client: Client) -> None:
    encoded = f"=?base64?{base64.b64encode(b'echo').decode()}?="
    params = {"name": "echo", "arguments": {"text": "x"}}
    answer = await client.modern("tools/call", params, headers={"Mcp-Name": encoded})
    assert answer.result["content"] == [{"type": "text", "text": "x"}]


# clause: MCP-ERR-006
@pytest.mark.parametrize("missing", ["protocolVersion", "clientCapabilities"])
async def test_a_missing_metadata_field_is_invalid_params(client: Client, missing: str) -> None:
    meta = {key: value for key, value in META.items() if key != PREFIX + missing}
    answer = await client.modern("tools/list", {"_meta": meta})
    assert (answer.status, answer.error["code"]) == (400, -32602)


async def test_client_info_is_optional_but_must_be_well_formed(client: Client) -> None:
    without = {key: value for key, value in META.items() if "clientInfo" not in key}
    assert (await client.modern("tools/list", {"_meta": without})).status == 200
    wrong = META | {PREFIX + "clientInfo": "raw"}
    assert (await client.modern("tools/list", {"_meta": wrong})).error["code"] == -32602


# clause: MCP-ERR-001
async def test_an_unknown_version_is_refused_with_the_supported_ones(client: Client) -> None:
    meta = META | {PREFIX + "protocolVersion": "1900-01-01"}
    answer = await client.modern(
        "tools/list", {"_meta": meta}, headers={"MCP-Protocol-Version": "1900-01-01"}
    )
    assert (answer.status, answer.error["code"]) == (400, -32022)
    assert answer.error["data"] == {"supported": [VERSION], "requested": "1900-01-01"}


# clause: MCP-ERR-002
@pytest.mark.parametrize(
    "method", ["nope", "ping", "logging/setLevel", "resources/subscribe", "initialize"]
)
async def test_an_unknown_method_is_404_with_method_not_found(client: Client, method: str) -> None:
    answer = await client.modern(method)
    assert (answer.status, answer.error["code"]) == (404, -32601)


# clause: MCP-ERR-003
async def test_a_resource_that_does_not_exist_is_invalid_params(client: Client) -> None:
    answer = await client.modern("resources/read", {"uri": "reference://nowhere"})
    assert answer.error["code"] == -32602
    assert answer.error["data"] == {"uri": "reference://nowhere"}


# clause: CW-PRG-001, CW-PRG-003
async def test_progress_grows_and_ends_before_the_response(client: Client) -> None:
    params = {"name": "count_slowly", "arguments": {"delayMs": 0}}
    answer = await client.modern("tools/call", params | {"_meta": META | {"progressToken": "t"}})
    assert answer.is_stream
    assert answer.headers["x-accel-buffering"] == "no"
    *progress, response = answer.messages
    assert [message["params"]["progress"] for message in progress] == [1, 2, 3]
    assert {message["params"]["progressToken"] for message in progress} == {"t"}
    assert response["id"] == 1


async def test_without_a_token_there_is_no_progress_and_no_stream(client: Client) -> None:
    answer = await client.modern(
        "tools/call", {"name": "count_slowly", "arguments": {"delayMs": 0}}
    )
    assert not answer.is_stream


# clause: CW-LOG-001, CW-LOG-002
async def test_log_messages_come_only_when_offered_and_asked_for() -> None:
    params = {"name": "count_slowly", "arguments": {"delayMs": 0}}
    asking = params | {"_meta": META | {PREFIX + "logLevel": "info"}}
    async with serve_http(ServerOptions(logging=True)) as url, connect(url) as client:
        assert "logging" in (await client.modern("server/discover")).result["capabilities"]
        levels = [
            m["params"]["level"] for m in (await client.modern("tools/call", asking)).messages[:-1]
        ]
        assert levels == ["info"]
        assert len((await client.modern("tools/call", params)).messages) == 1
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        assert len((await client.modern("tools/call", asking)).messages) == 1


async def test_an_unknown_log_level_is_invalid_params(client: Client) -> None:
    answer = await client.modern("tools/list", {"_meta": META | {PREFIX + "logLevel": "loud"}})
    assert answer.error["code"] == -32602


# clause: MCP-ERR-007
async def test_a_missing_client_capability_is_named(client: Client) -> None:
    answer = await client.modern("tools/call", {"name": "greet_user"})
    assert (answer.status, answer.error["code"]) == (400, -32021)
    assert answer.error["data"]["requiredCapabilities"] == {"elicitation": {"form": {}}}


async def ask_for_name(client: Client) -> Json:
    answer = await client.modern("tools/call", {"name": "greet_user", "_meta": ABLE_META})
    assert answer.result["resultType"] == "input_required"
    assert "ttlMs" not in answer.result
    return answer.result


async def test_input_is_asked_for_and_used_in_the_retry(client: Client) -> None:
    paused = await ask_for_name(client)
    (key, asked), *others = paused["inputRequests"].items()
    assert not others
    assert asked["method"] == "elicitation/create"
    responses = {key: {"action": "accept", "content": {"name": "Ada"}}, "stray": {}}
    retry = {
        "name": "greet_user",
        "_meta": ABLE_META,
        "inputResponses": responses,
        "requestState": paused["requestState"],
    }
    answer = await client.modern("tools/call", retry, request_id=2)
    assert answer.result["content"][0]["text"] == "Hello, Ada!"


async def test_a_retry_without_the_answer_is_asked_again(client: Client) -> None:
    state = (await ask_for_name(client))["requestState"]
    retry = {"name": "greet_user", "_meta": ABLE_META, "requestState": state, "inputResponses": {}}
    answer = await client.modern("tools/call", retry)
    assert answer.result["resultType"] == "input_required"


def flipped(state: str) -> str:
    middle = len(state) // 2
    return state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1 :]


# clause: CW-MRT-006
@pytest.mark.parametrize("tamper", [flipped, lambda _: "", lambda s: s[:-4], lambda _: "é"])
async def test_an_altered_request_state_is_refused(client: Client, tamper: Any) -> None:
    state = tamper((await ask_for_name(client))["requestState"])
    retry = {"name": "greet_user", "_meta": ABLE_META, "requestState": state}
    assert (await client.modern("tools/call", retry)).error["code"] == -32602


async def test_a_request_state_serves_no_other_request_and_no_other_caller(client: Client) -> None:
    state = (await ask_for_name(client))["requestState"]
    other = {"name": "fail", "_meta": ABLE_META, "requestState": state}
    assert (await client.modern("tools/call", other)).error["code"] == -32602
    same = {"name": "greet_user", "_meta": ABLE_META, "requestState": state}
    stranger = await client.modern("tools/call", same, headers={"Authorization": "Bearer b"})
    assert stranger.error["code"] == -32602


REGION = {"name": "query_region", "arguments": {"region": "us-west1", "query": "q"}}


# clause: MCP-HDR-008
@pytest.mark.parametrize(
    ("extra", "headers", "code"),
    [
        ({}, {"Mcp-Param-Region": "us-west1"}, None),
        ({}, {"mcp-param-region": "=?base64?dXMtd2VzdDE=?="}, None),
        ({}, {}, -32020),
        ({}, {"Mcp-Param-Region": "us-east1"}, -32020),
        ({"limit": 42}, {"Mcp-Param-Region": "us-west1", "Mcp-Param-Limit": "42.0"}, None),
        ({"limit": 42}, {"Mcp-Param-Region": "us-west1", "Mcp-Param-Limit": "43"}, -32020),
        ({"limit": 42}, {"Mcp-Param-Region": "us-west1"}, -32020),
        ({}, {"Mcp-Param-Region": "us-west1", "Mcp-Param-Limit": "1"}, -32020),
    ],
)
async def test_parameter_headers_must_mirror_the_arguments(
    client: Client, extra: Json, headers: dict[str, str | None], code: int | None
) -> None:
    params = {**REGION, "arguments": {**REGION["arguments"], **extra}}  # type: ignore[dict-item]
    answer = await client.modern("tools/call", params, headers=headers)
    assert answer.message.get("error", {}).get("code") == code
    assert answer.status == (200 if code is None else 400)


# clause: CW-RES-001
async def test_ids_come_back_exactly(client: Client) -> None:
    for request_id in (0, -1, "1", "", 2**70, "ä\u2028"):
        answer = await client.modern("server/discover", request_id=request_id)
        assert answer.message["id"] == request_id
        assert type(answer.message["id"]) is type(request_id)


@pytest.mark.parametrize("request_id", [None, True, 1.5, [], {}])
async def test_an_invalid_id_is_an_invalid_request_and_is_not_echoed(
    client: Client, request_id: Any
) -> None:
    answer = await client.modern("server/discover", request_id=request_id)
    assert (answer.status, answer.error["code"]) == (400, -32600)
    assert "id" not in answer.message


# clause: MCP-STL-003, MCP-STL-004
async def test_requests_need_nothing_before_them_on_their_connection() -> None:
    async with serve_http(ServerOptions()) as url:
        for _ in range(2):
            async with connect(url) as client:
                assert (await client.modern("tools/list")).status == 200


# clause: MCP-STL-002, MCP-STL-007
async def test_session_ids_and_event_ids_of_older_clients_are_ignored(client: Client) -> None:
    plain = await client.modern("tools/list")
    older = {"Mcp-Session-Id": "abc", "Last-Event-ID": "42"}
    assert (await client.modern("tools/list", headers=older)).body == plain.body
    assert "mcp-session-id" not in plain.headers


# clause: MCP-RES-004, CW-RES-006
async def test_a_known_notification_is_accepted_an_unknown_one_refused(client: Client) -> None:
    headers = {"MCP-Protocol-Version": VERSION}
    known = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
    accepted = await client.post(known, headers)
    assert (accepted.status, accepted.body) == (202, b"")
    refused = await client.post({"jsonrpc": "2.0", "method": "notifications/nope"}, headers)
    assert refused.status == 400
    assert "id" not in refused.message


@pytest.mark.parametrize(
    "message",
    [[], [{"jsonrpc": "2.0", "id": 1, "method": "x"}], 1, {}, {"jsonrpc": "2.0", "id": 1}],
)
async def test_a_body_that_is_no_message_is_an_invalid_request(
    client: Client, message: Any
) -> None:
    answer = await client.post(message, {"MCP-Protocol-Version": VERSION})
    assert (answer.status, answer.error["code"]) == (400, -32600)


async def test_a_response_from_a_client_is_refused(client: Client) -> None:
    headers = {"MCP-Protocol-Version": VERSION}
    answer = await client.post({"jsonrpc": "2.0", "id": 1, "result": {}}, headers)
    assert answer.status == 400


# clause: MCP-STL-005, MCP-STL-006
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_a_modern_only_server_allows_nothing_but_post(method: str) -> None:
    async with serve_http(MODERN) as url, connect(url) as client:
        answer = await client.exchange(method, {"Accept": "text/event-stream"})
        assert answer.status == 405
        assert answer.headers["allow"] == "POST"


# clause: MCP-DEP-007
async def test_a_modern_only_server_names_its_versions_to_a_legacy_client() -> None:
    async with serve_http(MODERN) as url, connect(url) as client:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
        answer = await client.post(
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        )
        assert answer.status == 400
        assert VERSION in answer.error["message"]
        assert answer.error["data"]["supported"] == [VERSION]
        whole = await client.modern("initialize", params)
        assert (whole.status, whole.error["code"]) == (404, -32601)
        assert VERSION in whole.error["message"]


# clause: MCP-SEC-001, TRAN-002, TRAN-007
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[broken"}, 403),
        ({"Origin": "http://localhost:9999"}, 200),
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost:1"}, 200),
    ],
)
async def test_foreign_origins_and_hosts_are_forbidden(
    client: Client, headers: dict[str, str | None], status: int
) -> None:
    answer = await client.modern("server/discover", headers=headers)
    assert answer.status == status
    assert "id" not in answer.message or status == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Accept": "application/json"}, 406),
        ({"Accept": "text/event-stream"}, 406),
        ({"Accept": "*/*"}, 200),
        ({"Accept": None}, 200),
        ({"Accept": "Application/JSON;q=1, text/event-stream;q=0.5"}, 200),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "Application/Json; charset=utf-8"}, 200),
    ],
)
async def test_media_types_are_checked(
    client: Client, headers: dict[str, str | None], status: int
) -> None:
    assert (await client.modern("server/discover", headers=headers)).status == status


async def test_another_path_is_not_found(client: Client) -> None:
    assert (await client.exchange("POST", {}, path="/other")).status == 404
