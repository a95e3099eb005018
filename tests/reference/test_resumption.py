"""A legacy client that lost a stream has the rest of it, and of no other."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import anyio
import pytest

from clausewise.reference.legacy.streams import EventHistory
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import MEDIA, Client, Json, connect, legacy_message, open_session

pytestmark = pytest.mark.anyio

COUNTER = "reference://counter"
HANG_UP = {"name": "answer_later"}
SLOW = {"name": "count_slowly", "arguments": {"steps": 3, "delayMs": 10}}


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with serve_http(ServerOptions()) as address:
        yield address


@pytest.fixture
async def client(url: str) -> AsyncIterator[Client]:
    async with connect(url) as connection:
        yield connection


@pytest.fixture
async def session(client: Client) -> dict[str, str]:
    return await open_session(client)


async def begin(client: Client, session: dict[str, str], params: Json, number: int = 1) -> None:
    """Call a tool and read the head of the stream."""
    body = json.dumps(legacy_message("tools/call", params, number)).encode()
    await client.send("POST", {**MEDIA, **session}, body)
    status, headers = await client.head()
    assert (status, headers["content-type"]) == (200, "text/event-stream")


async def resume(client: Client, session: dict[str, str], event_id: str) -> None:
    headers = {"Accept": "text/event-stream", **session, "Last-Event-ID": event_id}
    await client.send("GET", headers)
    status, answer = await client.head()
    assert (status, answer["content-type"]) == (200, "text/event-stream")


def event_ids(body: bytes) -> list[str]:
    return [line[4:].decode() for line in body.split(b"\n") if line.startswith(b"id: ")]


async def rest(client: Client) -> bytes:
    """The body up to the end of the stream."""
    body = b""
    while (piece := await client.chunk()) is not None:
        body += piece
    return body


def messages(body: bytes) -> list[Json]:
    lines = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: ")]
    return [json.loads(line) for line in lines if line]


# clause: TRAN-032
async def test_a_server_that_hangs_up_says_when_to_come_back_and_answers_then(
    url: str, client: Client, session: dict[str, str]
) -> None:
    async with connect(url) as tool:
        await begin(tool, session, HANG_UP)
        body = await rest(tool)
        assert messages(body) == []
        assert body.startswith(b"id: ")
        assert b"\nretry: 100\n" in body
        assert await tool.at_end()
    await resume(client, session, event_ids(body)[-1])
    (response,) = messages(await rest(client))
    assert response["id"] == 1
    assert "after the connection" in response["result"]["content"][0]["text"]


async def test_what_was_sent_into_a_broken_connection_is_sent_again(
    url: str, client: Client, session: dict[str, str]
) -> None:
    params = SLOW | {"_meta": {"progressToken": "t"}}
    async with connect(url) as tool:
        await begin(tool, session, params)
        (first,) = event_ids(await tool.chunk() or b"")
    await resume(client, session, first)
    body = await rest(client)
    kinds = [message.get("method", "response") for message in messages(body)]
    assert kinds == ["notifications/message", *["notifications/progress"] * 3, "response"]
    await resume(client, session, event_ids(body)[1])
    again = await rest(client)
    assert event_ids(again) == event_ids(body)[2:]
    await resume(client, session, event_ids(body)[-1])
    assert await rest(client) == b""


# clause: TRAN-047
async def test_nothing_of_another_stream_is_sent(
    url: str, client: Client, session: dict[str, str]
) -> None:
    bodies = []
    for number in (1, 2):
        async with connect(url) as tool:
            await begin(tool, session, HANG_UP, number)
            bodies.append(await rest(tool))
    for number, body in enumerate(bodies, 1):
        await resume(client, session, event_ids(body)[0])
        assert [message["id"] for message in messages(await rest(client))] == [number]


async def test_the_newest_connection_alone_carries_the_stream(
    url: str, client: Client, session: dict[str, str]
) -> None:
    stuck = SLOW | {"arguments": {"steps": 1000, "delayMs": 1000}}
    async with connect(url) as tool, connect(url) as older, connect(url) as newer:
        await begin(tool, session, stuck)
        (first,) = event_ids(await tool.chunk() or b"")
        await resume(older, session, first)
        assert (await older.event())["method"] == "notifications/message"
        await resume(newer, session, first)
        assert await older.chunk() is None
        assert (await newer.event())["method"] == "notifications/message"
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        assert (await client.post({"jsonrpc": "2.0", **cancel}, session)).status == 202
        assert await newer.chunk() is None
        assert len(event_ids(await rest(tool))) == 1


async def test_the_stream_of_no_request_goes_on_where_it_broke_off(
    url: str, client: Client, session: dict[str, str]
) -> None:
    await client.post(legacy_message("resources/subscribe", {"uri": COUNTER}), session)
    touch = legacy_message("tools/call", {"name": "touch_counter"})
    async with connect(url) as listener:
        await listener.send("GET", {"Accept": "text/event-stream", **session})
        await listener.head()
        (primed,) = event_ids(await listener.chunk() or b"")
        await client.post(touch, session)
        (first,) = event_ids(await listener.chunk() or b"")
    async with connect(url) as listener:
        await resume(listener, session, primed)
        assert event_ids(await listener.chunk() or b"") == [first]
        await client.post(touch, session)
        (second,) = event_ids(await listener.chunk() or b"")
        assert second.partition("-")[0] == first.partition("-")[0]


@pytest.mark.parametrize("event_id", ["", "nonsense", "1-", "999-1000", "١-٢", "9" * 5000 + "-1"])
async def test_an_unknown_event_id_gives_a_new_stream(
    client: Client, session: dict[str, str], event_id: str
) -> None:
    await resume(client, session, event_id)
    assert (await client.chunk() or b"").startswith(b"id: ")


async def test_the_end_of_the_session_ends_a_resumed_stream(
    url: str, client: Client, session: dict[str, str]
) -> None:
    stuck = SLOW | {"arguments": {"steps": 1000, "delayMs": 1000}}
    async with connect(url) as tool, connect(url) as again:
        await begin(tool, session, stuck)
        (first,) = event_ids(await tool.chunk() or b"")
        await resume(again, session, first)
        assert (await again.event())["method"] == "notifications/message"
        assert (await client.exchange("DELETE", session)).status == 204
        assert await again.chunk() is None


async def test_hanging_up_does_nothing_where_no_stream_can_be_resumed(client: Client) -> None:
    answer = await client.modern("tools/call", HANG_UP)
    assert not answer.is_stream
    assert answer.result["resultType"] == "complete"


def test_a_history_keeps_the_newest_events_within_its_bound() -> None:
    history = EventHistory(max_bytes=210)
    old, new = history.open(), history.open()
    first = old.record(b"1234")
    second = new.record(b"5678")
    third = new.record(b"9012")
    assert history.find(first) is None
    found = history.find(second)
    assert found is not None
    stream, number = found
    assert [event.id for event in stream.after(number)] == [third]
    huge = old.record(b"x" * 111)
    assert [history.find(event) for event in (second, third, huge)] == [None, None, None]


def test_empty_events_take_room_too() -> None:
    history = EventHistory(max_bytes=1000)
    stream = history.open()
    for _ in range(1000):
        stream.record(b"")
    assert len(stream.kept) == 10


async def test_a_follower_gets_what_comes_until_the_stream_ends() -> None:
    stream = EventHistory().open()
    before = stream.record(b"before")
    got: list[tuple[str, bytes]] = []

    async def follow() -> None:
        got.extend([(event.id, event.data) async for event in stream.follow(0, "me")])

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await anyio.wait_all_tasks_blocked()
            after = stream.record(b"after")
            stream.end()
    assert got == [(before, b"before"), (after, b"after")]
