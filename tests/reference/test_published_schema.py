"""What the server sends fits the published JSON Schema of its revision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema_rs import Draft202012Validator

from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import (
    ABLE_META,
    META,
    Json,
    connect,
    initialize_message,
    legacy_message,
    open_session,
)

SHARED_REQUESTS: tuple[tuple[str, Json, str], ...] = (
    ("tools/list", {}, "ListToolsResult"),
    ("tools/call", {"name": "all_content"}, "CallToolResult"),
    ("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, "CallToolResult"),
    ("tools/call", {"name": "fail"}, "CallToolResult"),
    ("resources/list", {}, "ListResourcesResult"),
    ("resources/templates/list", {}, "ListResourceTemplatesResult"),
    ("resources/read", {"uri": "reference://images/pixel"}, "ReadResourceResult"),
    ("resources/read", {"uri": "reference://texts/empty"}, "ReadResourceResult"),
    ("prompts/list", {}, "ListPromptsResult"),
    ("prompts/get", {"name": "summarize_welcome"}, "GetPromptResult"),
    ("prompts/get", {"name": "describe_media"}, "GetPromptResult"),
    (
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "language", "value": ""},
        },
        "CompleteResult",
    ),
)
MODERN_REQUESTS: tuple[tuple[str, Json, str], ...] = (
    *SHARED_REQUESTS,
    ("server/discover", {}, "DiscoverResult"),
    ("tools/call", {"name": "greet_user", "_meta": ABLE_META}, "InputRequiredResult"),
)
PROGRESS: Json = {"name": "count_slowly", "arguments": {"delayMs": 0}}


def validator(shared: Path, revision: str, definition: str) -> Draft202012Validator:
    path = shared / "spec" / "schema" / revision / "schema.json"
    schema: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return Draft202012Validator(
        {**schema, "$ref": f"#/$defs/{definition}"}, offline=True, validate_formats=True
    )


@pytest.mark.parametrize(("method", "params", "definition"), MODERN_REQUESTS)
def test_a_modern_result_fits(shared: Path, method: str, params: Json, definition: str) -> None:
    async def result() -> Any:
        async with serve_http(ServerOptions()) as url, connect(url) as client:
            return (await client.modern(method, params)).result

    validator(shared, "2026-07-28", definition).validate(anyio.run(result))


@pytest.mark.parametrize(("method", "params", "definition"), SHARED_REQUESTS)
def test_a_legacy_result_fits(shared: Path, method: str, params: Json, definition: str) -> None:
    async def result() -> Any:
        async with serve_http(ServerOptions()) as url, connect(url) as client:
            headers = await open_session(client)
            return (await client.post(legacy_message(method, params), headers)).result

    validator(shared, "2025-11-25", definition).validate(anyio.run(result))


def test_what_is_said_of_tasks_fits(shared: Path) -> None:
    call: Json = {"name": "count_slowly", "arguments": {"steps": 1, "delayMs": 0}, "task": {}}

    async def results() -> dict[str, Json]:
        async with serve_http(ServerOptions()) as url, connect(url) as client:
            headers = await open_session(client)

            async def result(method: str, params: Json) -> Json:
                return (await client.post(legacy_message(method, params), headers)).result

            created = await result("tools/call", call)
            named = {"taskId": created["task"]["taskId"]}
            cancelled = await result("tools/call", call | {"arguments": {"delayMs": 900}})
            return {
                "CreateTaskResult": created,
                "GetTaskResult": await result("tasks/get", named),
                "CallToolResult": await result("tasks/result", named),
                "GetTaskPayloadResult": await result("tasks/result", named),
                "ListTasksResult": await result("tasks/list", {}),
                "CancelTaskResult": await result(
                    "tasks/cancel", {"taskId": cancelled["task"]["taskId"]}
                ),
            }

    for definition, value in anyio.run(results).items():
        validator(shared, "2025-11-25", definition).validate(value)


def test_the_initialize_result_fits(shared: Path) -> None:
    async def result() -> Any:
        async with serve_http(ServerOptions()) as url, connect(url) as client:
            return (await client.post(initialize_message())).result

    validator(shared, "2025-11-25", "InitializeResult").validate(anyio.run(result))


@pytest.mark.parametrize(
    ("method", "params", "headers", "definition"),
    [
        ("tools/list", {}, {"Mcp-Method": "x"}, "HeaderMismatchError"),
        ("tools/call", {"name": "greet_user"}, {}, "MissingRequiredClientCapabilityError"),
        (
            "tools/list",
            {"_meta": META | {"io.modelcontextprotocol/protocolVersion": "1900-01-01"}},
            {"MCP-Protocol-Version": "1900-01-01"},
            "UnsupportedProtocolVersionError",
        ),
        ("nope", {}, {}, "JSONRPCErrorResponse"),
    ],
)
def test_an_error_fits(
    shared: Path, method: str, params: Json, headers: dict[str, str], definition: str
) -> None:
    async def message() -> Any:
        async with serve_http(ServerOptions()) as url, connect(url) as client:
            return (await client.modern(method, params, headers=headers)).message

    validator(shared, "2026-07-28", definition).validate(anyio.run(message))


def test_the_notifications_of_a_request_fit(shared: Path) -> None:
    meta = META | {"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"}

    async def messages() -> list[Json]:
        async with serve_http(ServerOptions(logging=True)) as url, connect(url) as client:
            return (await client.modern("tools/call", PROGRESS | {"_meta": meta})).messages

    sent = anyio.run(messages)
    assert len(sent) == 6
    check = validator(shared, "2026-07-28", "ServerNotification")
    for message in sent[:-1]:
        check.validate(message)
