"""The tools that the official conformance suite calls, by the names it knows."""

from __future__ import annotations

import json

import anyio

from clausewise.reference.call import Call
from clausewise.reference.features.changes import Change, ChangeFeed
from clausewise.reference.features.resources import PIXEL_PNG, SILENCE_WAV
from clausewise.reference.features.tools import (
    Tool,
    ToolRun,
    answer_later,
    error_result,
    object_schema,
    text_result,
)
from clausewise.reference.input_requests import (
    InputRequest,
    accepted,
    form,
    list_roots,
    sampled_text,
    sampling,
)
from clausewise.reference.messages import JsonObject

_PAUSE_S = 0.05

_IMAGE = {"type": "image", "data": PIXEL_PNG, "mimeType": "image/png"}
_AUDIO = {"type": "audio", "data": SILENCE_WAV, "mimeType": "audio/wav"}


def _embedded(uri: str, mime_type: str, text: str) -> JsonObject:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}}


def _answering(result: JsonObject) -> ToolRun:
    """A tool that always gives `result`."""

    async def run(_call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
        return result

    return run


def _asking(*requests: InputRequest, sealed: bool = True) -> ToolRun:
    """A tool that asks the client all of this at a time and tells what it was answered."""

    async def run(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
        answers = await call.ask(*requests, sealed=sealed)
        return text_result(json.dumps(answers))

    return run


def _announcing(change: Change) -> ToolRun:
    """A tool that tells subscribers of a change."""

    async def run(_call: Call, _arguments: JsonObject, feed: ChangeFeed) -> JsonObject:
        feed.publish(change)
        return text_result("Told the subscribers.")

    return run


async def _log(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    await call.log("info", "Tool execution started")
    await anyio.sleep(_PAUSE_S)
    await call.log("info", "Tool processing data")
    await anyio.sleep(_PAUSE_S)
    await call.log("info", "Tool execution completed")
    return text_result("Logged three messages.")


async def _progress(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    await call.progress(0, 100, "begun")
    await anyio.sleep(_PAUSE_S)
    await call.progress(50, 100, "half done")
    await anyio.sleep(_PAUSE_S)
    await call.progress(100, 100, "done")
    return text_result("Reported progress three times.")


async def _sample(call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    asked = sampling("answer", arguments["prompt"], 100)
    answers = await call.ask(asked)
    return text_result(f"LLM response: {sampled_text(answers[asked.key])}")


async def _elicit(call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    properties = {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    }
    asked = form("user", arguments["message"], properties, "username", "email")
    answers = await call.ask(asked)
    return text_result(f"User response: {json.dumps(answers[asked.key])}")


async def _greet(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    # Nothing here hangs on which call the name was asked in, so the answer needs no seal.
    content = accepted((await call.ask(_USER_NAME, sealed=False))[_USER_NAME.key])
    return text_result("Hello!" if content is None else f"Hello, {content['name']}!")


async def _confirm(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    content = accepted((await call.ask(_CONFIRM))[_CONFIRM.key])
    return text_result(f"state-ok, confirmed: {content is not None and content['ok']}")


async def _two_rounds(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    name = accepted((await call.ask(_STEP_1))[_STEP_1.key])
    color = accepted((await call.ask(_STEP_2))[_STEP_2.key])
    return text_result(f"name {json.dumps(name)}, color {json.dumps(color)}")


async def _ask_what_is_offered(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    offered = [
        asked
        for asked in (_USER_NAME, _CAPITAL, _ROOTS)
        if asked.is_met_by(call.client_capabilities)
    ]
    answers = await call.ask(*offered) if offered else {}
    return text_result(json.dumps(answers))


_NAME: JsonObject = {"name": {"type": "string"}}
_USER_NAME = form("user_name", "What is your name?", _NAME, "name")
_CAPITAL = sampling("capital_question", "What is the capital of France?", 100)
_GREETING = sampling("greeting", "Generate a greeting", 50)
_ROOTS = list_roots("client_roots")
_CONFIRM = form("confirm", "Please confirm", {"ok": {"type": "boolean"}}, "ok")
_STEP_1 = form("step1", "Step 1: What is your name?", _NAME, "name")
_STEP_2 = form(
    "step2", "Step 2: What is your favorite color?", {"color": {"type": "string"}}, "color"
)
_DEFAULTS = form(
    "profile",
    "Check these values.",
    {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
)


def _titled(noun: str) -> list[JsonObject]:
    ordinals = ("First", "Second", "Third")
    return [
        {"const": f"value{number}", "title": f"{ordinal} {noun}"}
        for number, ordinal in enumerate(ordinals, 1)
    ]


_OPTIONS = ["option1", "option2", "option3"]
_ENUMS = form(
    "choices",
    "Choose.",
    {
        "untitledSingle": {"type": "string", "enum": _OPTIONS},
        "titledSingle": {"type": "string", "oneOf": _titled("Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": _titled("Choice")}},
    },
)
_CONTACT_SCHEMA: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _fixture(name: str, description: str, run: ToolRun, inputs: JsonObject | None = None) -> Tool:
    definition = {
        "name": name,
        "description": description,
        "inputSchema": object_schema({}) if inputs is None else inputs,
    }
    return Tool(name, definition, run)


def _one_text(name: str) -> JsonObject:
    return object_schema({name: {"type": "string"}}, name)


_MIXED: list[JsonObject] = [
    {"type": "text", "text": "Multiple content types test:"},
    _IMAGE,
    _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
]
_EMBEDDED = _embedded(
    "test://embedded-resource", "text/plain", "This is an embedded resource content."
)

_CONTENT_TOOLS = (
    _fixture(
        "test_simple_text",
        "Returns a text.",
        _answering(text_result("This is a simple text response for testing.")),
    ),
    _fixture("test_image_content", "Returns an image.", _answering({"content": [_IMAGE]})),
    _fixture("test_audio_content", "Returns a sound.", _answering({"content": [_AUDIO]})),
    _fixture("test_embedded_resource", "Embeds a resource.", _answering({"content": [_EMBEDDED]})),
    _fixture(
        "test_multiple_content_types", "Returns three blocks.", _answering({"content": _MIXED})
    ),
    _fixture(
        "test_error_handling",
        "Always fails.",
        _answering(error_result("This tool intentionally returns an error for testing")),
    ),
    _fixture(
        "json_schema_2020_12_tool",
        "Takes a contact, described in JSON Schema 2020-12.",
        _answering(text_result("A contact that fits.")),
        _CONTACT_SCHEMA,
    ),
)

_MESSAGE_TOOLS = (
    _fixture("test_tool_with_logging", "Logs while it runs.", _log),
    _fixture("test_logging_tool", "Logs while it runs.", _log),
    _fixture("test_tool_with_progress", "Reports progress.", _progress),
    _fixture("test_reconnection", "Closes the connection before it answers.", answer_later),
    _fixture("test_trigger_tool_change", "Announces new tools.", _announcing(Change("tools"))),
    _fixture(
        "test_trigger_prompt_change", "Announces new prompts.", _announcing(Change("prompts"))
    ),
)

_ASKING_TOOLS = (
    _fixture("test_sampling", "Asks the model.", _sample, _one_text("prompt")),
    _fixture("test_elicitation", "Asks the user.", _elicit, _one_text("message")),
    _fixture("test_elicitation_sep1034_defaults", "Offers defaults.", _asking(_DEFAULTS)),
    _fixture("test_elicitation_sep1330_enums", "Offers choices.", _asking(_ENUMS)),
    _fixture("test_missing_capability", "Needs a model.", _asking(_CAPITAL)),
    _fixture("test_streaming_elicitation", "Asks the user.", _asking(_USER_NAME)),
    _fixture("test_input_required_result_elicitation", "Asks for a name.", _greet),
    _fixture("test_input_required_result_sampling", "Asks the model.", _asking(_CAPITAL)),
    _fixture("test_input_required_result_list_roots", "Asks for roots.", _asking(_ROOTS)),
    _fixture("test_input_required_result_request_state", "Asks to confirm.", _confirm),
    _fixture("test_input_required_result_tampered_state", "Asks to confirm.", _confirm),
    _fixture(
        "test_input_required_result_multiple_inputs",
        "Asks for three things at a time.",
        _asking(_USER_NAME, _GREETING, _ROOTS),
    ),
    _fixture("test_input_required_result_multi_round", "Asks twice.", _two_rounds),
    _fixture(
        "test_input_required_result_capabilities",
        "Asks only what the client can answer.",
        _ask_what_is_offered,
    ),
)

FIXTURE_TOOLS: tuple[Tool, ...] = _CONTENT_TOOLS + _MESSAGE_TOOLS + _ASKING_TOOLS
