"""The tools of the reference server: definitions and what each does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import anyio
from jsonschema_rs import Draft202012Validator

from clausewise.reference.call import Call
from clausewise.reference.features.changes import Change, ChangeFeed
from clausewise.reference.features.resources import (
    COUNTER,
    PIXEL,
    PIXEL_PNG,
    SILENCE_WAV,
    WELCOME,
)
from clausewise.reference.input_requests import accepted, form
from clausewise.reference.messages import INVALID_PARAMS, JsonObject, RpcError

TaskSupport = Literal["forbidden", "optional", "required"]
GREETINGS = "com.example.clausewise/greetings"
"""An extension: the client names the language it wants to be greeted in."""

_HELLO: Mapping[str, str] = {"english": "Hello", "french": "Bonjour", "german": "Guten Tag"}
GREETINGS_SETTINGS: JsonObject = {"languages": list(_HELLO)}

ToolRun = Callable[[Call, JsonObject, ChangeFeed], Awaitable[JsonObject]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its listing, and what `tools/call` does with the (validated) arguments.

    `task_support` tells whether a call may, must or must not run as a task (legacy era).
    """

    name: str
    definition: JsonObject
    run: ToolRun
    task_support: TaskSupport = "forbidden"


def object_schema(properties: JsonObject, *required: str) -> JsonObject:
    """The schema of an object with these properties and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def tool_of(
    run: ToolRun,
    description: str,
    inputs: JsonObject,
    *,
    read_only: bool = True,
    output: JsonObject | None = None,
    task_support: TaskSupport = "forbidden",
) -> Tool:
    """A tool named like the function that runs it."""
    name = run.__name__.strip("_")
    definition: JsonObject = {
        "name": name,
        "title": name.replace("_", " ").capitalize(),
        "description": description,
        "inputSchema": inputs,
        "annotations": {"readOnlyHint": read_only, "openWorldHint": False},
    }
    if output is not None:
        definition["outputSchema"] = output
    return Tool(name, definition, run, task_support)


def text_result(text: str) -> JsonObject:
    """A tool result of one text block."""
    return {"content": [{"type": "text", "text": text}]}


def error_result(text: str) -> JsonObject:
    """A tool result that tells the model what went wrong."""
    return text_result(text) | {"isError": True}


async def _echo(_call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    text = arguments["text"]
    return text_result(text) | {"_meta": {"com.example.clausewise/length": len(text)}}


async def _all_content(_call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    embedded = {
        "uri": WELCOME,
        "mimeType": "text/plain",
        "text": "Welcome to the reference server.",
    }
    picture = {"uri": PIXEL, "mimeType": "image/png", "blob": PIXEL_PNG}
    return {
        "content": [
            {"type": "text", "text": "One block of every kind."},
            {"type": "image", "data": PIXEL_PNG, "mimeType": "image/png"},
            {"type": "audio", "data": SILENCE_WAV, "mimeType": "audio/wav"},
            {"type": "resource", "resource": embedded},
            {"type": "resource", "resource": picture},
            {"type": "resource_link", "uri": WELCOME, "name": "welcome", "mimeType": "text/plain"},
        ]
    }


async def _add(_call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    total = arguments["a"] + arguments["b"]
    return text_result(f'{{"sum": {total}}}') | {"structuredContent": {"sum": total}}


async def _fail(_call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    return error_result("This tool always fails; nothing was done.")


async def _count_slowly(call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    steps, delay_ms = arguments.get("steps", 3), arguments.get("delayMs", 10)
    await call.log("info", {"event": "counting begins", "steps": steps})
    for step in range(1, steps + 1):
        await anyio.sleep(delay_ms / 1000)
        await call.progress(step, steps, f"step {step} of {steps}")
    await call.log("debug", {"event": "counting ended"})
    return text_result(f"Counted to {steps}.")


NAME_FORM = form(
    "user_name",
    "How shall the server call you?",
    {"name": {"type": "string", "title": "Name", "minLength": 1}},
    "name",
)


async def _greet_user(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    answers = await call.ask(NAME_FORM)
    content = accepted(answers[NAME_FORM.key])
    if content is None:
        return text_result("No name was given, so nobody is greeted.")
    return text_result(f"{_greeting(call.client_capabilities)}, {content['name']}!")


def _greeting(capabilities: JsonObject) -> str:
    """In the language that a client with the extension wants; any other is greeted in English."""
    extensions = capabilities.get("extensions")
    settings = extensions.get(GREETINGS) if isinstance(extensions, dict) else None
    language = settings.get("language") if isinstance(settings, dict) else None
    return _HELLO.get(language, "Hello") if isinstance(language, str) else "Hello"


async def answer_later(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    """Closes the connection before it answers, where the client can resume the stream."""
    await call.hang_up(_RETRY_MS)
    await anyio.sleep(_LATER_S)
    return text_result("The answer came after the connection was closed.")


async def _wait(_call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    await anyio.sleep(arguments.get("delayMs", 400) / 1000)
    return text_result("Waited long enough for something else to happen.")


async def _query_region(_call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    limit = arguments.get("limit", 10)
    return text_result(
        f"{arguments['query']!r} in {arguments['region']}: 0 of at most {limit} rows"
    )


async def _touch_counter(_call: Call, _arguments: JsonObject, feed: ChangeFeed) -> JsonObject:
    feed.publish(Change(uri=COUNTER))
    return text_result("Told the subscribers that the counter changed.")


async def _announce_lists(_call: Call, _arguments: JsonObject, feed: ChangeFeed) -> JsonObject:
    for change in (Change("tools"), Change("prompts"), Change("resources")):
        feed.publish(change)
    return text_result("Told the subscribers to fetch the lists again.")


_NUMBER: JsonObject = {"type": "number"}
_RETRY_MS = 100
_LATER_S = 0.05
_MAX_STEPS = 1000
_MAX_DELAY_MS = 1000
_MAX_WAIT_MS = 10_000

NOTHING = object_schema({})

TOOLS: tuple[Tool, ...] = (
    tool_of(_echo, "Returns its text.", object_schema({"text": {"type": "string"}}, "text")),
    tool_of(_all_content, "Returns one content block of every kind.", NOTHING),
    tool_of(
        _add,
        "Adds two numbers.",
        object_schema({"a": _NUMBER, "b": _NUMBER}, "a", "b"),
        output=object_schema({"sum": _NUMBER}, "sum"),
    ),
    tool_of(_fail, "Always ends in a tool error.", NOTHING),
    tool_of(
        _count_slowly,
        "Counts step by step, with progress and log messages; can be cancelled.",
        object_schema(
            {
                "steps": {"type": "integer", "minimum": 1, "maximum": _MAX_STEPS},
                "delayMs": {"type": "integer", "minimum": 0, "maximum": _MAX_DELAY_MS},
            }
        ),
        task_support="optional",
    ),
    tool_of(_greet_user, "Asks the user for a name and greets.", NOTHING, task_support="optional"),
    tool_of(
        _query_region,
        "Pretends to query a region; two parameters travel in headers, too.",
        object_schema(
            {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "limit": {"type": "integer", "minimum": 1, "x-mcp-header": "Limit"},
                "query": {"type": "string"},
            },
            "region",
            "query",
        ),
    ),
    tool_of(
        answer_later,
        "Closes the connection before it answers, if the client can resume the stream.",
        NOTHING,
    ),
    tool_of(
        _touch_counter, "Announces a change of the resource counter.", NOTHING, read_only=False
    ),
    tool_of(_announce_lists, "Announces a change of every list.", NOTHING, read_only=False),
    tool_of(
        _wait,
        "Takes its time; can be cancelled.",
        object_schema(
            {"delayMs": {"type": "integer", "minimum": 0, "maximum": _MAX_WAIT_MS}},
        ),
    ),
)


def find_tool(name: str, tools: tuple[Tool, ...]) -> Tool:
    """The tool called `name`.

    Raises:
        RpcError: there is none (invalid params).
    """
    for tool in tools:
        if tool.name == name:
            return tool
    raise RpcError(INVALID_PARAMS, f"unknown tool {name!r}")


async def call_tool(tool: Tool, call: Call, feed: ChangeFeed) -> JsonObject:
    """The result of `tools/call`; arguments that do not fit the input schema are a tool error.

    Raises:
        RpcError: `arguments` is no object (invalid params), or the tool needs more of the client.
    """
    arguments: Any = call.params.get("arguments")
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise RpcError(INVALID_PARAMS, "params.arguments must be an object")
    validator = Draft202012Validator(tool.definition["inputSchema"], offline=True)
    problem = next(validator.iter_errors(arguments), None)
    if problem is not None:
        return error_result(f"The arguments do not fit the input schema: {problem.message}")
    return await tool.run(call, arguments, feed)
