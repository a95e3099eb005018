"""What the server offers, asked for in the modern era over Streamable HTTP."""

from __future__ import annotations

import base64
import io
import wave
import zlib
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import Client, Json, connect

pytestmark = pytest.mark.anyio


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with serve_http(ServerOptions()) as url, connect(url) as connection:
        yield connection


@pytest.mark.parametrize(
    ("method", "key"), [("tools/list", "tools"), ("resources/list", "resources")]
)
async def test_the_pages_of_a_list_make_the_whole(client: Client, method: str, key: str) -> None:
    names: list[str] = []
    cursor: Json = {}
    pages = 0
    while True:
        result = (await client.modern(method, cursor)).result
        names += [item["name"] for item in result[key]]
        pages += 1
        if "nextCursor" not in result:
            break
        cursor = {"cursor": result["nextCursor"]}
    assert pages > 1
    assert len(names) == len(set(names)) > len(result[key])


@pytest.mark.parametrize("cursor", ["", "x", "dG9vbHMvbGlzdEA1Nzc=", 5, "é"])
async def test_a_cursor_that_was_never_given_is_invalid_params(client: Client, cursor: Any) -> None:
    assert (await client.modern("tools/list", {"cursor": cursor})).error["code"] == -32602


async def test_a_cursor_of_another_list_is_invalid_params(client: Client) -> None:
    cursor = (await client.modern("tools/list")).result["nextCursor"]
    assert (await client.modern("resources/list", {"cursor": cursor})).error["code"] == -32602


async def test_every_kind_of_content_is_returned(client: Client) -> None:
    content = (await client.modern("tools/call", {"name": "all_content"})).result["content"]
    kinds = [block["type"] for block in content]
    assert kinds == ["text", "image", "audio", "resource", "resource", "resource_link"]
    png = base64.b64decode(content[1]["data"], validate=True)
    length = int.from_bytes(png[8:12], "big")
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    checksum = int.from_bytes(png[16 + length : 20 + length], "big")
    assert zlib.crc32(png[12 : 16 + length]) == checksum
    with wave.open(io.BytesIO(base64.b64decode(content[2]["data"], validate=True))) as sound:
        assert sound.getnframes() == 8


async def test_structured_content_comes_with_its_schema(client: Client) -> None:
    params = {"name": "add", "arguments": {"a": 1, "b": 2}}
    assert (await client.modern("tools/call", params)).result["structuredContent"] == {"sum": 3}


@pytest.mark.parametrize(
    ("name", "arguments"), [("fail", {}), ("add", {"a": {}, "b": 1}), ("echo", {})]
)
async def test_a_tool_failure_and_wrong_arguments_are_tool_errors(
    client: Client, name: str, arguments: Json
) -> None:
    answer = await client.modern("tools/call", {"name": name, "arguments": arguments})
    assert answer.status == 200
    assert answer.result["isError"] is True


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "nope"}),
        ("tools/call", {"name": "echo", "arguments": []}),
        ("prompts/get", {"name": "nope"}),
        ("prompts/get", {"name": "greet"}),
        ("prompts/get", {"name": "greet", "arguments": {"name": 1}}),
        ("completion/complete", {"ref": {"type": "ref/tool"}, "argument": {}}),
        ("subscriptions/listen", {}),
        ("subscriptions/listen", {"notifications": {"toolsListChanged": 1}}),
    ],
)
async def test_parameters_that_name_nothing_are_invalid_params(
    client: Client, method: str, params: Json
) -> None:
    answer = await client.modern(method, params)
    assert answer.error["code"] == -32602


async def test_completion_offers_what_begins_as_typed(client: Client) -> None:
    params = {
        "ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "language", "value": "g"},
    }
    completion = (await client.modern("completion/complete", params)).result["completion"]
    assert completion == {"values": ["german", "greek"], "total": 2, "hasMore": False}


async def test_a_template_expansion_can_be_read_and_completed(client: Client) -> None:
    ref = {"type": "ref/resource", "uri": "reference://notes/{topic}"}
    params = {"ref": ref, "argument": {"name": "topic", "value": "li"}}
    topic = (await client.modern("completion/complete", params)).result["completion"]["values"][0]
    read = await client.modern("resources/read", {"uri": f"reference://notes/{topic}"})
    assert read.result["contents"][0]["text"] == "A note about lifecycle."


@pytest.mark.parametrize(
    ("settled", "sections"),
    [
        ({"topic": "base"}, ["messages", "metadata"]),
        ({"topic": "progress"}, []),
        ({}, ["messages", "metadata"]),
    ],
)
async def test_completion_heeds_what_is_settled_already(
    client: Client, settled: Json, sections: list[str]
) -> None:
    params = {
        "ref": {"type": "ref/resource", "uri": "reference://notes/{topic}/{section}"},
        "argument": {"name": "section", "value": "me"},
        "context": {"arguments": settled},
    }
    completion = (await client.modern("completion/complete", params)).result["completion"]
    assert completion["values"] == sections


@pytest.mark.parametrize("context", [7, {"arguments": []}, {"arguments": {"topic": 1}}])
async def test_an_ill_formed_completion_context_is_invalid_params(
    client: Client, context: Any
) -> None:
    params = {
        "ref": {"type": "ref/prompt", "name": "greet"},
        "argument": {"name": "language", "value": "g"},
        "context": context,
    }
    assert (await client.modern("completion/complete", params)).error["code"] == -32602


async def test_a_section_is_read_under_its_own_topic_alone(client: Client) -> None:
    known, unknown = "reference://notes/tools/tasks", "reference://notes/base/tasks"
    read = await client.modern("resources/read", {"uri": known})
    assert read.result["contents"][0]["text"] == "About tools: tasks."
    assert (await client.modern("resources/read", {"uri": unknown})).error["code"] == -32602


async def test_the_counter_counts_its_changes(client: Client) -> None:
    counter = {"uri": "reference://counter"}
    for count in ("0", "1", "2"):
        read = await client.modern("resources/read", counter)
        assert read.result["contents"][0]["text"] == count
        await client.modern("tools/call", {"name": "touch_counter"})
