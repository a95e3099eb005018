"""What the official conformance suite expects a server to offer, by the names it knows.

The server offers it beside its ordinary content when it is started with fixtures. The suite
reads only the first page of a list, so all lists are then one page.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

from clausewise.reference.call import Call
from clausewise.reference.features.content import Content
from clausewise.reference.features.fixture_tools import FIXTURE_TOOLS
from clausewise.reference.features.prompts import Argument, Prompt, user_message
from clausewise.reference.features.resources import PIXEL_PNG, Resource, Template
from clausewise.reference.input_requests import accepted, form
from clausewise.reference.messages import JsonObject

_ONE_PAGE = 1000


def with_fixtures(content: Content) -> Content:
    """`content` with the fixtures after it."""
    return replace(
        content,
        tools=content.tools + FIXTURE_TOOLS,
        resources=content.resources + _RESOURCES,
        templates=content.templates + _TEMPLATES,
        prompts=content.prompts + _PROMPTS,
        page_size=_ONE_PAGE,
    )


_RESOURCES = (
    Resource(
        "test://static-text",
        "static-text",
        "A line of text.",
        "text/plain",
        text="This is the content of the static text resource.",
    ),
    Resource("test://static-binary", "static-binary", "One pixel.", "image/png", blob=PIXEL_PNG),
    Resource(
        "test://watched-resource",
        "watched-resource",
        "For clients that subscribe.",
        "text/plain",
        text="Nothing has changed yet.",
    ),
)


def _template_data(variables: Mapping[str, str]) -> str:
    identifier = variables["id"]
    data = {"id": identifier, "templateTest": True, "data": f"Data for ID: {identifier}"}
    return json.dumps(data)


_TEMPLATES = (
    Template(
        "test://template/{id}/data",
        "template-data",
        "Data about any id.",
        "application/json",
        _template_data,
    ),
)


def _text(text: str) -> JsonObject:
    return user_message({"type": "text", "text": text})


async def _simple(_call: Call, _arguments: Mapping[str, str]) -> list[JsonObject]:
    return [_text("This is a simple prompt for testing.")]


async def _with_arguments(_call: Call, arguments: Mapping[str, str]) -> list[JsonObject]:
    first, second = arguments["arg1"], arguments["arg2"]
    return [_text(f"Prompt with arguments: arg1='{first}', arg2='{second}'")]


async def _with_resource(_call: Call, arguments: Mapping[str, str]) -> list[JsonObject]:
    embedded = {
        "uri": arguments["resourceUri"],
        "mimeType": "text/plain",
        "text": "Embedded resource content for testing.",
    }
    return [
        user_message({"type": "resource", "resource": embedded}),
        _text("Please process the embedded resource above."),
    ]


async def _with_image(_call: Call, _arguments: Mapping[str, str]) -> list[JsonObject]:
    return [
        user_message({"type": "image", "data": PIXEL_PNG, "mimeType": "image/png"}),
        _text("Please analyze the image above."),
    ]


_CONTEXT = form(
    "user_context",
    "What context should the prompt use?",
    {"context": {"type": "string"}},
    "context",
)


async def _with_input(call: Call, _arguments: Mapping[str, str]) -> list[JsonObject]:
    content = accepted((await call.ask(_CONTEXT))[_CONTEXT.key])
    return [_text("No context." if content is None else f"Context: {content['context']}")]


_PROMPTS = (
    Prompt("test_simple_prompt", "A prompt without arguments.", _simple),
    Prompt(
        "test_prompt_with_arguments",
        "A prompt with two arguments.",
        _with_arguments,
        (
            Argument("arg1", "The first.", required=True, values=("test", "testing")),
            Argument("arg2", "The second.", required=True),
        ),
    ),
    Prompt(
        "test_prompt_with_embedded_resource",
        "A prompt that embeds a resource.",
        _with_resource,
        (Argument("resourceUri", "The URI to embed it under.", required=True),),
    ),
    Prompt("test_prompt_with_image", "A prompt with an image.", _with_image),
    Prompt("test_input_required_result_prompt", "A prompt that asks the user.", _with_input),
)
