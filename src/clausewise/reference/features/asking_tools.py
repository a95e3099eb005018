"""Tools that need something of the client: its user, its model, its roots."""

from __future__ import annotations

import json

import anyio
from jsonschema_rs import Draft202012Validator

from clausewise.reference.call import LOG_LEVELS, Call
from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.features.tools import (
    NOTHING,
    Tool,
    object_schema,
    text_result,
    tool_of,
)
from clausewise.reference.input_requests import (
    accepted,
    form,
    list_roots,
    sampled_blocks,
    sampled_text,
    sampling,
    sampling_with_tools,
    user_text,
    visit,
)
from clausewise.reference.messages import JsonObject

_STEP_S = 0.02
_ROUNDS = 3
"""How often the model may be asked in one call of `ask_model_with_tools`."""

PROFILE_FORM = form(
    "profile",
    "What shall the server know about you?",
    {
        "name": {"type": "string", "title": "Name", "minLength": 1, "maxLength": 80},
        "email": {"type": "string", "title": "E-mail", "format": "email"},
        "age": {"type": "integer", "title": "Age", "minimum": 0, "maximum": 150},
        "score": {"type": "number", "title": "Score", "default": 0.5},
        "newsletter": {"type": "boolean", "title": "Newsletter", "default": False},
        "language": {"type": "string", "enum": ["english", "french"], "default": "english"},
        "colour": {
            "type": "string",
            "oneOf": [{"const": "#f00", "title": "Red"}, {"const": "#00f", "title": "Blue"}],
        },
        "days": {
            "type": "array",
            "items": {"type": "string", "enum": ["monday", "friday"]},
            "maxItems": 2,
        },
        "topics": {
            "type": "array",
            "items": {
                "anyOf": [{"const": "a", "title": "Art"}, {"const": "b", "title": "Biology"}]
            },
        },
    },
    "name",
)

TERMS_PAGE = visit("terms", "Please read the terms.", "https://example.com/terms")
ACCOUNT_PAGE = visit("account", "Please link your account.", "https://example.com/link")
TITLE_FORM = form(
    "title", "What shall the title be?", {"title": {"type": "string", "minLength": 1}}, "title"
)

_ADD: JsonObject = {
    "name": "add",
    "description": "Adds two integers.",
    "inputSchema": object_schema({"a": {"type": "integer"}, "b": {"type": "integer"}}, "a", "b"),
}


async def _collect_profile(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    content = accepted((await call.ask(PROFILE_FORM))[PROFILE_FORM.key])
    if content is None:
        return text_result("The form was not filled in.")
    return text_result(f"Collected {', '.join(sorted(content))}.")


async def _visit_page(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    answer = (await call.ask(TERMS_PAGE))[TERMS_PAGE.key]
    if accepted(answer) is None:
        return text_result("The page was not visited.")
    # The page is nobody's, so the user's consent is taken for the visit.
    await call.end_visit(TERMS_PAGE)
    return text_result("The page was visited.")


async def _link_account(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    await call.require_visit(ACCOUNT_PAGE)
    return text_result("The account is linked.")


async def _ask_model(call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    asked = sampling(
        "answer",
        arguments["question"],
        200,
        may_be_task=True,
        systemPrompt="Answer in one sentence.",
        modelPreferences={"hints": [{"name": "small"}], "speedPriority": 0.8},
        temperature=0.2,
        stopSequences=["END"],
    )
    answer = (await call.ask(asked))[asked.key]
    return text_result(f"{answer['model']} answered: {sampled_text(answer)}")


async def _ask_model_with_tools(call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    messages = [user_text(arguments["question"])]
    for number in range(1, _ROUNDS + 1):
        last = number == _ROUNDS
        asked = sampling_with_tools(f"round-{number}", list(messages), [_ADD], last=last)
        answer = (await call.ask(asked))[asked.key]
        uses = [block for block in sampled_blocks(answer) if block["type"] == "tool_use"]
        if not uses or last:
            break
        messages.append({"role": "assistant", "content": sampled_blocks(answer)})
        messages.append({"role": "user", "content": [_use(use) for use in uses]})
    return text_result(f"{answer['model']} answered: {sampled_text(answer)}")


def _use(use: JsonObject) -> JsonObject:
    """What comes of a use of a tool by the client's model."""
    given = use["input"]
    result: JsonObject = {"type": "tool_result", "toolUseId": use["id"]}
    if use["name"] != _ADD["name"] or not _ADD_INPUT.is_valid(given):
        return result | text_result("There is no such tool, or not with this input.") | _ERROR
    return result | text_result(str(given["a"] + given["b"]))


_ADD_INPUT = Draft202012Validator(_ADD["inputSchema"], offline=True)
_ERROR = {"isError": True}


async def _list_roots(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    asked = list_roots("roots")
    answer = (await call.ask(asked))[asked.key]
    return text_result(json.dumps([root["uri"] for root in answer["roots"]]))


async def _log_every_level(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    for level in LOG_LEVELS:
        await call.log(level, {"event": f"a message of level {level}"})
    return text_result(f"Logged {len(LOG_LEVELS)} messages, of which you get those you want.")


async def _compile_report(call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    title = "Untitled"
    if TITLE_FORM.is_met_by(call.client_capabilities):
        content = accepted((await call.ask(TITLE_FORM))[TITLE_FORM.key])
        title = title if content is None else content["title"]
    chapters = arguments.get("chapters", 2)
    for chapter in range(1, chapters + 1):
        await anyio.sleep(_STEP_S)
        await call.progress(chapter, chapters, f"chapter {chapter} of {chapters}")
    return text_result(f"{title}: a report of {chapters} chapters.")


_QUESTION = object_schema({"question": {"type": "string", "minLength": 1}}, "question")

ASKING_TOOLS: tuple[Tool, ...] = (
    tool_of(_collect_profile, "Asks the user to fill in a form with fields of all kinds.", NOTHING),
    tool_of(_visit_page, "Asks the user to visit a page; the visit itself is pretended.", NOTHING),
    tool_of(
        _link_account,
        "Needs an account that the user has linked on a page; the visit there is pretended, "
        "takes a moment, and is good for one call.",
        NOTHING,
    ),
    tool_of(_ask_model, "Asks the client's model a question.", _QUESTION, task_support="optional"),
    tool_of(
        _ask_model_with_tools,
        "Asks the client's model a question that it may use a tool for.",
        _QUESTION,
    ),
    tool_of(_list_roots, "Tells the client's roots.", NOTHING),
    tool_of(_log_every_level, "Sends a log message of every level.", NOTHING),
    tool_of(
        _compile_report,
        "Works for a while, with progress and, if the client can ask its user, a question.",
        object_schema({"chapters": {"type": "integer", "minimum": 1, "maximum": 20}}),
        task_support="required",
    ),
)
