"""Tasks of the legacy era over HTTP: where their messages go, and whose they are."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping

import pytest

from clausewise.reference.auth.protect import sample_tokens
from clausewise.reference.auth.scopes import READ, WRITE, Scopes
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http, serve_runtime
from tests.reference.client import MEDIA, Client, Json, connect, legacy_message, open_session

pytestmark = pytest.mark.anyio

RELATED = "io.modelcontextprotocol/related-task"
QUICK: Json = {"name": "count_slowly", "arguments": {"steps": 1, "delayMs": 1}, "task": {}}
SLOW: Json = {"name": "count_slowly", "arguments": {"steps": 9, "delayMs": 900}, "task": {}}


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with serve_http(ServerOptions()) as address:
        yield address


async def create(client: Client, headers: Mapping[str, str], params: Json = QUICK) -> Json:
    answer = await client.post(legacy_message("tools/call", params), headers)
    assert not answer.is_stream
    task: Json = answer.result["task"]
    return task


async def about(client: Client, operation: str, task: Json, headers: Mapping[str, str]) -> Json:
    message = legacy_message(f"tasks/{operation}", {"taskId": task["taskId"]})
    return (await client.post(message, headers)).message


async def test_the_status_of_a_task_is_told_on_the_stream_that_belongs_to_no_request(
    url: str,
) -> None:
    async with connect(url) as client, connect(url) as listener:
        headers = await open_session(client)
        await listener.send("GET", {"Accept": "text/event-stream", **headers})
        assert (await listener.head())[0] == 200
        task = await create(client, headers)
        started, told = await listener.event(), await listener.event()
        assert started["params"]["_meta"] == {RELATED: {"taskId": task["taskId"]}}
        assert told["method"] == "notifications/tasks/status"
        assert told["params"]["status"] == "completed"
        assert "_meta" not in told["params"]


async def test_without_a_stream_the_result_is_there_all_the_same(url: str) -> None:
    async with connect(url) as client:
        headers = await open_session(client)
        task = await create(client, headers)
        done = await about(client, "result", task, headers)
        assert done["result"]["content"][0]["text"] == "Counted to 1."


async def test_who_waits_for_the_result_is_asked_and_told_on_that_stream(url: str) -> None:
    async with connect(url) as client, connect(url) as waiting:
        headers = await open_session(client, {"elicitation": {}})
        params = {"name": "compile_report", "arguments": {}, "task": {}}
        task = await create(client, headers, params | {"_meta": {"progressToken": 1}})
        message = json.dumps(legacy_message("tasks/result", {"taskId": task["taskId"]}, "r"))
        await waiting.send("POST", {**MEDIA, **headers}, message.encode())
        assert (await waiting.head())[1]["content-type"] == "text/event-stream"
        asked = await waiting.event()
        assert asked["method"] == "elicitation/create"
        reply = {"action": "accept", "content": {"title": "T"}}
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": reply}
        assert (await client.post(answer, headers)).status == 202
        progress = [await waiting.event() for _ in range(2)]
        assert [m["params"]["progress"] for m in progress] == [1, 2]
        assert (await waiting.event())["result"]["content"][0]["text"].startswith("T: ")


async def test_a_task_is_unknown_outside_its_session_and_ends_with_it(url: str) -> None:
    async with connect(url) as client:
        mine, other = await open_session(client), await open_session(client)
        task = await create(client, mine, SLOW)
        for operation in ("get", "result", "cancel"):
            assert (await about(client, operation, task, other))["error"]["code"] == -32602
        listed = await client.post(legacy_message("tasks/list"), other)
        assert listed.result == {"tasks": []}
        assert (await client.exchange("DELETE", mine)).status == 204


async def test_on_a_protected_server_a_task_belongs_to_the_user_whatever_the_session() -> None:
    options = ServerOptions(protected=True)
    async with serve_runtime(options) as (url, runtime), connect(url) as client:
        issuer = runtime.wiring.protection.issuer
        token = sample_tokens(runtime.wiring.protection).full
        foreign = issuer.access_token(url, Scopes((READ, WRITE)), subject="somebody-else")
        own = {"Authorization": f"Bearer {token}"}
        theirs = {"Authorization": f"Bearer {foreign}"}
        first = await open_session(_With(client, own)) | own
        task = await create(client, first, SLOW)
        assert (await client.exchange("DELETE", first)).status == 204
        second = await open_session(_With(client, own)) | own
        assert (await about(client, "get", task, second))["result"]["status"] == "working"
        other = await open_session(_With(client, theirs)) | theirs
        assert (await about(client, "get", task, other))["error"]["code"] == -32602
        assert (await client.post(legacy_message("ping"), second | theirs)).status == 404
        assert (await about(client, "cancel", task, second))["result"]["status"] == "cancelled"


class _With(Client):
    """A client that sends these headers with everything."""

    def __init__(self, client: Client, headers: Mapping[str, str]) -> None:
        super().__init__(client.stream, client.host)
        self._more = headers

    async def send(
        self, method: str, headers: Mapping[str, str], body: bytes = b"", path: str = "/mcp"
    ) -> None:
        await super().send(method, {**headers, **self._more}, body, path)
