"""The correct path of both eras over newline-delimited JSON."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from clausewise.core.vocabulary import Era
from clausewise.reference.options import ServerLimits, ServerOptions
from tests.reference.client import (
    META,
    PREFIX,
    VERSION,
    initialize_message,
    legacy_message,
    modern_message,
)
from tests.reference.streams import piped

pytestmark = pytest.mark.anyio

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
SLOW = {"name": "count_slowly", "arguments": {"steps": 1000, "delayMs": 1000}}


async def test_a_cold_modern_request_is_served() -> None:
    async with piped() as pipe:
        answer = await pipe.ask(modern_message("tools/list"))
        assert answer["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("meta", "code"),
    [
        ({}, -32602),
        ({k: v for k, v in META.items() if "Capabilities" not in k}, -32602),
        (META | {PREFIX + "protocolVersion": "1900-01-01"}, -32022),
    ],
)
async def test_metadata_faults_have_their_codes(meta: dict[str, Any], code: int) -> None:
    async with piped() as pipe:
        answer = await pipe.ask(modern_message("server/discover", {"_meta": meta}, "a"))
        assert answer["error"]["code"] == code
        assert answer["id"] == "a"


# clause: CW-RES-004
async def test_an_unknown_method_is_not_found_and_a_notification_is_never_answered() -> None:
    async with piped() as pipe:
        await pipe.send({"jsonrpc": "2.0", "method": "notifications/nope"})
        answer = await pipe.ask(modern_message("nope"))
        assert answer["error"]["code"] == -32601


# clause: CW-STD-003
async def test_a_cancelled_request_is_never_answered() -> None:
    async with piped() as pipe:
        slow = SLOW | {"_meta": META | {"progressToken": 1}, "arguments": {"steps": 1000}}
        await pipe.send(modern_message("tools/call", slow, "slow"))
        assert (await pipe.receive())["method"] == "notifications/progress"
        await pipe.send(
            {
                "jsonrpc": "2.0",
                "method": "notifications/cancelled",
                "params": {"requestId": "slow"},
            },
            modern_message("server/discover", request_id="after"),
        )
        later = await pipe.receive()
        while later.get("method") == "notifications/progress":
            later = await pipe.receive()
        assert later["id"] == "after"
        await pipe.close_stdin()
        assert await pipe.rest() == []


async def test_a_cancellation_that_is_read_together_with_its_request_counts() -> None:
    call = modern_message("tools/call", {**SLOW, "arguments": {"steps": 3}}, "slow")
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": "slow"}}
    async with piped() as pipe:
        lines = [json.dumps(call), json.dumps({"jsonrpc": "2.0", **cancelled}), ""]
        await pipe.write("\n".join(lines).encode())
        assert (await pipe.ask(modern_message("server/discover", request_id="d")))["id"] == "d"
        await pipe.close_stdin()
        assert await pipe.rest() == []


async def test_a_subscription_is_tagged_and_cancelled_without_an_answer() -> None:
    async with piped() as pipe:
        wanted = {"notifications": {"toolsListChanged": True}}
        await pipe.send(modern_message("subscriptions/listen", wanted, "s"))
        assert (await pipe.receive())["params"]["_meta"] == {PREFIX + "subscriptionId": "s"}
        await pipe.send(modern_message("tools/call", {"name": "announce_lists"}, "c"))
        seen = [await pipe.receive(), await pipe.receive()]
        (changed,) = [message for message in seen if "method" in message]
        assert changed["params"]["_meta"] == {PREFIX + "subscriptionId": "s"}
        await pipe.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "s"}}
        )
        assert (await pipe.ask(modern_message("server/discover", request_id="d")))["id"] == "d"
        await pipe.close_stdin()
        assert await pipe.rest() == []


async def test_a_request_in_progress_is_answered_after_stdin_closes() -> None:
    async with piped(ServerOptions()) as pipe:
        quick = {"name": "count_slowly", "arguments": {"delayMs": 1}}
        await pipe.send(modern_message("tools/call", quick, "q"))
        await pipe.close_stdin()
        assert [message["id"] for message in await pipe.rest()] == ["q"]


async def test_a_request_that_takes_too_long_does_not_keep_the_server_up() -> None:
    limits = ServerLimits(shutdown_s=0.01)
    async with piped(ServerOptions(limits=limits)) as pipe:
        await pipe.send(modern_message("tools/call", SLOW, "q"))
        await pipe.close_stdin()
        assert await pipe.rest() == []


async def test_an_id_in_use_is_refused() -> None:
    async with piped() as pipe:
        await pipe.send(modern_message("tools/call", SLOW, "q"))
        answer = await pipe.ask(modern_message("server/discover", request_id="q"))
        assert answer["error"]["code"] == -32600


async def test_a_legacy_session_is_initialized_and_served() -> None:
    async with piped() as pipe:
        first = await pipe.ask(initialize_message())
        assert first["result"]["protocolVersion"] == "2025-11-25"
        assert first["result"]["serverInfo"]["name"] == "clausewise-reference"
        await pipe.send(READY)
        assert (await pipe.ask(legacy_message("ping")))["result"] == {}
        tools = (await pipe.ask(legacy_message("tools/list", request_id=2)))["result"]
        assert set(tools) == {"tools", "nextCursor"}


async def test_a_dual_server_serves_both_eras_in_one_process() -> None:
    async with piped() as pipe:
        await pipe.ask(initialize_message())
        modern = await pipe.ask(modern_message("tools/list"))
        assert modern["result"]["resultType"] == "complete"
        legacy = await pipe.ask(legacy_message("tools/list", request_id=2))
        assert "resultType" not in legacy["result"]


async def test_ping_needs_no_session_and_anything_else_does() -> None:
    async with piped(ServerOptions(era=Era.LEGACY)) as pipe:
        assert (await pipe.ask(legacy_message("ping")))["result"] == {}
        assert (await pipe.ask(legacy_message("tools/list")))["error"]["code"] == -32600


async def test_a_modern_only_server_refuses_initialize_with_its_versions() -> None:
    async with piped(ServerOptions(era=Era.MODERN)) as pipe:
        error = (await pipe.ask(initialize_message()))["error"]
        assert VERSION in error["message"]
        assert error["data"]["supported"] == [VERSION]


async def test_a_legacy_tool_asks_the_client_and_uses_the_answer() -> None:
    async with piped() as pipe:
        await pipe.ask(initialize_message({"elicitation": {}}))
        await pipe.send(READY)
        asked = await pipe.ask(legacy_message("tools/call", {"name": "greet_user"}, "t"))
        assert asked["method"] == "elicitation/create"
        answer = {"action": "accept", "content": {"name": "Ada"}}
        done = await pipe.ask({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        assert done["id"] == "t"
        assert done["result"]["content"][0]["text"] == "Hello, Ada!"


async def test_a_legacy_subscription_is_told_of_changes_once_initialized() -> None:
    async with piped() as pipe:
        await pipe.ask(initialize_message())
        await pipe.send(READY)
        await pipe.ask(legacy_message("resources/subscribe", {"uri": "reference://counter"}))
        await pipe.send(legacy_message("tools/call", {"name": "touch_counter"}, "t"))
        seen = [await pipe.receive(), await pipe.receive()]
        (updated,) = [message for message in seen if "method" in message]
        assert updated["params"] == {"uri": "reference://counter"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b"1", -32600),
        (b'{"jsonrpc":"1.0","id":null,"method":"x"}', -32600),
        (b"x" * 2000, -32600),
    ],
)
async def test_a_bad_line_is_one_error_without_an_id_and_the_next_line_is_served(
    line: bytes, code: int
) -> None:
    limits = ServerLimits(max_body_bytes=1000 if line.startswith(b"x") else 1_000_000)
    async with piped(ServerOptions(limits=limits)) as pipe:
        await pipe.write(line + b"\n\n\r\n")
        error = await pipe.receive()
        assert error["error"]["code"] == code
        assert "id" not in error
        assert (await pipe.ask(modern_message("server/discover")))["id"] == 1


async def test_a_message_may_come_in_pieces_and_without_a_last_newline() -> None:
    async with piped() as pipe:
        text = json.dumps(modern_message("server/discover")).encode()
        await pipe.write(text[:10])
        await pipe.write(text[10:])
        await pipe.close_stdin()
        assert [message["id"] for message in await pipe.rest()] == [1]


async def test_more_requests_than_the_bound_are_refused() -> None:
    async with piped(ServerOptions(limits=ServerLimits(max_requests=2, shutdown_s=0.01))) as pipe:
        for number in range(3):
            await pipe.send(modern_message("tools/call", SLOW, number))
        await anyio.wait_all_tasks_blocked()
        assert (await pipe.receive())["error"]["code"] == -32603


async def test_a_client_that_stops_reading_does_not_break_the_server() -> None:
    async with piped() as pipe:
        await pipe.ask(initialize_message())
        await pipe.close_stdout()
        await pipe.send(READY, legacy_message("ping"), modern_message("announce"), "no message")
