"""What the server offers beside its ordinary content when it is started with fixtures."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import anyio
import pytest

from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.features.content import Content
from clausewise.reference.features.fixtures import with_fixtures
from clausewise.reference.features.resources import Template
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import (
    Client,
    Json,
    connect,
    legacy_message,
    modern_message,
    open_session,
)
from tests.reference.test_process import SERVER
from tests.reference.test_published_schema import validator

FIXTURES = ServerOptions(fixtures=True)
ORDINARY = Content(ChangeFeed())
EVERYTHING = with_fixtures(ORDINARY)

LISTS = {
    "tools/list": ("tools", "ListToolsResult"),
    "resources/list": ("resources", "ListResourcesResult"),
    "resources/templates/list": ("resourceTemplates", "ListResourceTemplatesResult"),
    "prompts/list": ("prompts", "ListPromptsResult"),
}
CONTENT_TOOLS = (
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
)
PROMPTS: tuple[tuple[str, Json], ...] = (
    ("test_simple_prompt", {}),
    ("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"}),
    ("test_prompt_with_embedded_resource", {"resourceUri": "test://any"}),
    ("test_prompt_with_image", {}),
)


def result_of(method: str, params: Json, revision: str) -> Any:
    """The result of one request in a new session."""

    async def ask(client: Client) -> Any:
        if revision == "2026-07-28":
            return (await client.modern(method, params)).result
        headers = await open_session(client)
        return (await client.post(legacy_message(method, params), headers)).result

    async def serve_and_ask() -> Any:
        async with serve_http(FIXTURES) as url, connect(url) as client:
            return await ask(client)

    return anyio.run(serve_and_ask)


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("method", LISTS)
def test_every_list_is_one_page_that_fits(shared: Path, method: str, revision: str) -> None:
    key, definition = LISTS[method]
    result = result_of(method, {}, revision)
    assert "nextCursor" not in result
    validator(shared, revision, definition).validate(result)
    names = [item["name"] for item in result[key]]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize("name", CONTENT_TOOLS)
def test_the_result_of_a_fixture_tool_fits(shared: Path, name: str, revision: str) -> None:
    result = result_of("tools/call", {"name": name}, revision)
    validator(shared, revision, "CallToolResult").validate(result)
    assert result.get("isError", False) is (name == "test_error_handling")


@pytest.mark.parametrize("revision", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(("name", "arguments"), PROMPTS)
def test_a_fixture_prompt_fits(shared: Path, name: str, arguments: Json, revision: str) -> None:
    result = result_of("prompts/get", {"name": name, "arguments": arguments}, revision)
    validator(shared, revision, "GetPromptResult").validate(result)
    for value in arguments.values():
        assert value in json.dumps(result["messages"])


def test_the_fixtures_come_after_the_ordinary_content_and_change_none_of_it() -> None:
    assert EVERYTHING.tools[: len(ORDINARY.tools)] == ORDINARY.tools
    assert EVERYTHING.resources[: len(ORDINARY.resources)] == ORDINARY.resources
    assert EVERYTHING.templates[: len(ORDINARY.templates)] == ORDINARY.templates
    assert EVERYTHING.prompts[: len(ORDINARY.prompts)] == ORDINARY.prompts
    assert not any("test" in tool.name for tool in ORDINARY.tools)


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"contactMethod": "phone", "phone": "1"}, True),
        ({"email": "a@example.org", "address": {"city": "Tartu"}}, True),
        ({"contactMethod": "phone", "email": "a@example.org"}, False),
        ({"email": "a@example.org", "address": {"city": 1}}, False),
        ({"email": "a@example.org", "fax": "1"}, False),
        ({}, False),
    ],
)
def test_arguments_are_validated_by_every_keyword_of_2020_12(arguments: Json, fits: bool) -> None:
    params = {"name": "json_schema_2020_12_tool", "arguments": arguments}
    result = result_of("tools/call", params, "2025-11-25")
    assert result.get("isError", False) is not fits


DATA = next(t for t in EVERYTHING.templates if t.uri_template == "test://template/{id}/data")


@pytest.mark.parametrize("identifier", ["123", "a.b-c_d~e", "%C3%A9"])
def test_a_template_gives_what_its_variable_names(identifier: str) -> None:
    contents = DATA.read(f"test://template/{identifier}/data")
    assert contents is not None
    assert json.loads(contents["text"])["id"] == identifier


@pytest.mark.parametrize(
    "uri",
    [
        "test://template//data",
        "test://template/1/2/data",
        "test://template/1/data/",
        "TEST://template/1/data",
        "test://template/é/data",
        "test://template/1/data\n",
    ],
)
def test_a_uri_that_is_no_expansion_is_no_resource(uri: str) -> None:
    assert DATA.read(uri) is None


def test_the_literal_parts_of_a_template_are_literal() -> None:
    template = Template("x://a.b/{id}", "n", "d", "text/plain", lambda variables: variables["id"])
    assert template.read("x://a.b/1") is not None
    assert template.read("x://a-b/1") is None


def test_completion_offers_the_values_of_an_argument() -> None:
    params = {
        "ref": {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
        "argument": {"name": "arg1", "value": "testi"},
    }
    result = result_of("completion/complete", params, "2026-07-28")
    assert result["completion"]["values"] == ["testing"]


def test_the_command_line_turns_the_fixtures_on() -> None:
    call = modern_message("tools/call", {"name": "test_simple_text"})
    for arguments, key in ((["--fixtures"], "result"), ([], "error")):
        completed = subprocess.run(
            [*SERVER, "--stdio", *arguments],
            input=json.dumps(call).encode() + b"\n",
            stdout=subprocess.PIPE,
            timeout=30,
            check=True,
        )
        assert key in json.loads(completed.stdout)
