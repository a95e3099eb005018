"""Defects of our rules about input requests (MRT, ELI, SMP): when and what the client is asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clausewise.reference.call import Call, Outlet
from clausewise.reference.defects.defect import Defect
from clausewise.reference.defects.rewiring import (
    ChangeObject,
    Rewire,
    modern,
    on_delivered,
    on_result,
    with_method,
)
from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.features.tools import NAME_FORM, text_result
from clausewise.reference.input_requests import (
    ELICIT,
    SAMPLE,
    InputRequest,
    form,
    user_text,
    visit,
)
from clausewise.reference.messages import JsonObject, RpcError, Verbatim, encode
from clausewise.reference.modern import request_state
from clausewise.reference.modern.call import ModernCall
from clausewise.reference.modern.methods import METHODS
from clausewise.reference.modern.parts import Incoming, ModernParts
from clausewise.reference.wiring import Wiring
from clausewise.wire.meta import META_CAPABILITIES

_ASKING = "greet_user"
_DEPRECATED = "MCP-DEP-005"
_NOTE: JsonObject = {"name": "note", "inputSchema": {"type": "object"}}
_MIXED: JsonObject = {
    "role": "user",
    "content": [
        {"type": "tool_result", "toolUseId": "call-1", "content": []},
        {"type": "text", "text": "and a remark"},
    ],
}
_USE: JsonObject = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "call-1", "name": "note", "input": {}}],
}


def _asking_for(asked: InputRequest) -> Rewire:
    """Let the tool greet_user ask for something else."""

    async def run(call: Call, _arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
        await call.ask(asked)
        return text_result("Thank you.")

    def rewire(wiring: Wiring) -> Wiring:
        content = wiring.modern.content
        tools = tuple(
            replace(tool, run=run) if tool.name == _ASKING else tool for tool in content.tools
        )
        return modern(wiring, content=replace(content, tools=tools))

    return rewire


def _elicitation(needs: JsonObject, **params: Any) -> InputRequest:
    return InputRequest("user_name", ELICIT, params, {"elicitation": needs})


def _sampling(*messages: JsonObject, needs: JsonObject, **params: Any) -> InputRequest:
    asked = {"messages": list(messages), "maxTokens": 100, **params}
    return InputRequest("answer", SAMPLE, asked, {"sampling": needs})


def _believing(claim: ChangeObject) -> Rewire:
    """Let tools/call take the client's capabilities for other ones."""

    async def handle(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
        claimed = claim(incoming.meta.get(META_CAPABILITIES, {}))
        params = {**incoming.params, "_meta": {**incoming.meta, META_CAPABILITIES: claimed}}
        believed = Incoming(
            {**incoming.message, "params": params}, incoming.http, incoming.connection
        )
        return await METHODS["tools/call"](believed, outlet, parts)

    return with_method("tools/call", handle)


def _any_will_do(capabilities: JsonObject) -> JsonObject:
    return {**capabilities, "elicitation": {"form": {}}} if capabilities else capabilities


def _any_mode_will_do(capabilities: JsonObject) -> JsonObject:
    if "elicitation" not in capabilities:
        return capabilities
    return {**capabilities, "elicitation": {"form": {}, "url": {}}}


async def _asking_list(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    if "elicitation" in incoming.meta.get(META_CAPABILITIES, {}):
        await ModernCall(incoming, outlet, parts).ask(NAME_FORM)
    return await METHODS["prompts/list"](incoming, outlet, parts)


async def _trusting(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    """tools/call that takes a requestState which does not verify for one without answers."""
    try:
        return await METHODS["tools/call"](incoming, outlet, parts)
    except RpcError as error:
        if "requestState" not in error.message:
            raise
    http = incoming.http
    principal = (http.value("authorization") or "") if http is not None else ""
    params = incoming.params
    sealed = request_state.seal(parts.state_key, {}, incoming.method, params, principal)
    message = {**incoming.message, "params": {**params, "requestState": sealed}}
    return await METHODS["tools/call"](Incoming(message, http, incoming.connection), outlet, parts)


def _on_asking(change: ChangeObject) -> Rewire:
    """Change the results of tools/call that ask for input."""

    def changed(result: JsonObject) -> JsonObject:
        return change(result) if result["resultType"] == "input_required" else result

    return on_result("tools/call", changed)


def _with_empty_hands(result: JsonObject) -> JsonObject:
    return {k: v for k, v in result.items() if k not in ("inputRequests", "requestState")}


def _of_unknown_method(result: JsonObject) -> JsonObject:
    asked = {key: {**one, "method": "user/ask"} for key, one in result["inputRequests"].items()}
    return {**result, "inputRequests": asked}


def _asks(_incoming: Incoming, message: JsonObject) -> bool:
    return "inputRequests" in message.get("result", {})


def _asked_twice(message: JsonObject) -> JsonObject:
    asked = encode(message["result"]["inputRequests"])
    return Verbatim(encode(message).replace(asked, asked[:-1] + b"," + asked[1:]))


DEFECTS = (
    Defect(
        "prompts-list-asks",
        "prompts/list asks a client that declares elicitation for a name.",
        with_method("prompts/list", _asking_list),
        rules=("CW-MRT-001",),
    ),
    Defect(
        "input-required-for-nothing",
        "A result that asks for input has neither inputRequests nor requestState.",
        _on_asking(_with_empty_hands),
        rules=("CW-MRT-002",),
    ),
    Defect(
        "any-capability-will-do",
        "A tool elicits as soon as the client declares any capability.",
        _believing(_any_will_do),
        rules=("CW-MRT-003",),
    ),
    Defect(
        "input-request-of-unknown-method",
        "An input request has a method that is none of the three.",
        _on_asking(_of_unknown_method),
        rules=("CW-MRT-004",),
    ),
    Defect(
        "input-request-key-twice",
        "inputRequests has the same key twice.",
        on_delivered(_asks, _asked_twice),
        rules=("CW-MRT-005",),
    ),
    Defect(
        "request-state-unverified",
        "A requestState that does not verify is taken for a fresh one.",
        with_method("tools/call", _trusting),
        rules=("CW-MRT-006",),
    ),
    Defect(
        "any-mode-will-do",
        "A tool shows a form to clients that declare URL mode alone.",
        _believing(_any_mode_will_do),
        rules=("CW-ELI-001",),
    ),
    Defect(
        "form-without-message",
        "An elicitation has no message.",
        _asking_for(
            _elicitation(
                {"form": {}}, mode="form", requestedSchema=NAME_FORM.params["requestedSchema"]
            )
        ),
        rules=("CW-ELI-002",),
    ),
    Defect(
        "form-without-schema",
        "An elicitation in form mode has no requestedSchema.",
        _asking_for(_elicitation({"form": {}}, mode="form", message="What is your name?")),
        rules=("CW-ELI-003",),
    ),
    Defect(
        "visit-without-mode",
        "An elicitation has a url and does not say that it is in URL mode.",
        _asking_for(
            _elicitation({"url": {}}, message="Please sign in.", url="https://example.com/s/7f3a")
        ),
        rules=("CW-ELI-004",),
    ),
    Defect(
        "visit-without-url",
        "An elicitation in URL mode has no url.",
        _asking_for(_elicitation({"url": {}}, mode="url", message="Please sign in.")),
        rules=("CW-ELI-004",),
    ),
    Defect(
        "visit-of-a-path",
        "The url of an elicitation is a path.",
        _asking_for(visit("page", "Please sign in.", "/sign-in")),
        rules=("CW-ELI-005",),
    ),
    Defect(
        "form-for-a-password",
        "A form asks for a password.",
        _asking_for(form("login", "Please sign in.", {"password": {"type": "string"}}, "password")),
        rules=("CW-ELI-006",),
    ),
    Defect(
        "visit-with-token",
        "The url of an elicitation has an access token in its query.",
        _asking_for(visit("page", "Please sign in.", "https://example.com/in?token=7f3a9c")),
        rules=("CW-ELI-007",),
    ),
    Defect(
        "sampling-with-undeclared-tools",
        "A tool wants sampling with tools of clients that declare sampling alone.",
        _asking_for(_sampling(user_text("Take a note."), needs={}, tools=[_NOTE])),
        rules=("CW-SMP-001", _DEPRECATED),
    ),
    Defect(
        "sampling-mixed-results",
        "A sampling message has text beside its tool results.",
        _asking_for(
            _sampling(user_text("Take a note."), _USE, _MIXED, needs={"tools": {}}, tools=[_NOTE])
        ),
        rules=("CW-SMP-002", _DEPRECATED),
    ),
    Defect(
        "sampling-of-a-system-message",
        "A sampling message has the role system.",
        _asking_for(_sampling({**user_text("Be brief."), "role": "system"}, needs={})),
        rules=("CW-SMP-003", _DEPRECATED),
    ),
)
