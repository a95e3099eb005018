"""`subscriptions/listen` over Streamable HTTP: acknowledged, tagged, filtered, ended."""

from __future__ import annotations

import anyio
import pytest

from clausewise.reference.modern.subscriptions import MAX_LISTENERS
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import PREFIX, Client, Json, connect

pytestmark = pytest.mark.anyio

COUNTER = "reference://counter"
TAG = PREFIX + "subscriptionId"


async def listen(client: Client, wanted: Json, request_id: int | str = 7) -> Json:
    """Open a subscription; gives its first message."""
    await client.send_modern(
        "subscriptions/listen", {"notifications": wanted}, request_id=request_id
    )
    status, headers = await client.head()
    assert status == 200
    assert headers["x-accel-buffering"] == "no"
    return await client.event()


# clause: CW-SUB-002
async def test_the_acknowledgment_comes_first_and_tells_what_is_honoured() -> None:
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        asked = {"toolsListChanged": True, "promptsListChanged": False, "sunrise": True}
        first = await listen(client, asked)
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"] == {"_meta": {TAG: 7}, "notifications": {"toolsListChanged": True}}


# clause: CW-SUB-001, CW-SUB-003
async def test_only_what_was_asked_for_arrives_and_is_tagged() -> None:
    async with serve_http(ServerOptions()) as url, connect(url) as one, connect(url) as two:
        await listen(one, {"promptsListChanged": True}, "one")
        await listen(two, {"resourceSubscriptions": [COUNTER]}, "two")
        async with connect(url) as other:
            await other.modern("tools/call", {"name": "touch_counter"})
            await other.modern("tools/call", {"name": "announce_lists"})
        changed = await one.event()
        assert changed["method"] == "notifications/prompts/list_changed"
        assert changed["params"]["_meta"] == {TAG: "one"}
        updated = await two.event()
        assert updated["method"] == "notifications/resources/updated"
        assert updated["params"] == {"_meta": {TAG: "two"}, "uri": COUNTER}


async def test_the_server_ends_a_subscription_with_a_result() -> None:
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            opened = anyio.Event()
            seen: list[Json] = []

            async def subscriber(url: str) -> None:
                async with connect(url) as client:
                    await listen(client, {"toolsListChanged": True})
                    opened.set()
                    seen.append(await client.event())
                    seen.append(await client.event())
                    assert await client.chunk() is None

            async with serve_http(ServerOptions()) as url:
                tasks.start_soon(subscriber, url)
                await opened.wait()
    cancelled, response = seen
    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"]["requestId"] == 7
    assert response["id"] == 7
    assert response["result"]["resultType"] == "complete"
    assert response["result"]["_meta"][TAG] == 7


async def test_a_client_that_leaves_frees_its_subscription() -> None:
    async with serve_http(ServerOptions()) as url:
        for _ in range(MAX_LISTENERS + 1):
            async with connect(url) as client:
                await listen(client, {})
