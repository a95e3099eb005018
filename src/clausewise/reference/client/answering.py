"""Answer what a server asks of its client, in either era.

Source: 2025-11-25 and 2026-07-28, client/elicitation, client/sampling, client/roots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs

from clausewise.judge.subjects.sampling_messages import is_malformed
from clausewise.judge.subjects.schema_documents import Dialect, dialect_of, fault_of
from clausewise.reference.client.answers import Action, Answers, FormAnswer, SamplingAnswer
from clausewise.reference.input_requests import ELICIT, LIST_ROOTS, SAMPLE
from clausewise.reference.messages import INVALID_PARAMS, METHOD_NOT_FOUND, JsonObject, RpcError

USER_REJECTED = -1
_TOOL_MEMBERS = ("tools", "toolChoice")
_UNFIT = (jsonschema_rs.ValidationError, ValueError, TypeError)


def answer(method: Any, params: Any, answers: Answers) -> JsonObject:
    """The result for one request of the server, a ping aside.

    Raises:
        RpcError: the client has no such feature, or the request cannot be answered.
    """
    members = params if isinstance(params, dict) else {}
    if method == LIST_ROOTS and answers.roots is not None:
        return {"roots": [dict(root) for root in answers.roots]}
    if method == ELICIT and (answers.form is not None or answers.url is not None):
        return _elicited(members, answers)
    if method == SAMPLE and answers.sampling is not None:
        return _sampled(members, answers.sampling)
    raise RpcError(METHOD_NOT_FOUND, "Method not found")


def _elicited(params: Mapping[str, Any], answers: Answers) -> JsonObject:
    mode = params.get("mode", "form")
    if mode == "form" and answers.form is not None:
        return _filled_in(params.get("requestedSchema"), answers.form)
    if mode == "url" and answers.url is not None:
        return {"action": answers.url.value}
    raise RpcError(INVALID_PARAMS, f"the elicitation mode {mode!r} is not supported")


def _filled_in(schema: Any, given: FormAnswer) -> JsonObject:
    """The form as the user left it; input that does not fit is not sent.

    Raises:
        RpcError: the form's schema is invalid or in a dialect that is not supported.
    """
    if not isinstance(schema, dict):
        raise RpcError(INVALID_PARAMS, "requestedSchema must be an object")
    dialect = _check_dialect(schema)
    fault = fault_of(schema, dialect)
    if fault is not None and fault.undecidable is None:
        raise RpcError(INVALID_PARAMS, f"requestedSchema is invalid: {fault.seen}")
    if given.action is not Action.ACCEPT:
        return {"action": given.action.value}
    content = {**_defaults(schema), **_asked_for(given.content, schema)}
    if not _fits(content, schema):
        return {"action": Action.CANCEL.value}
    return {"action": given.action.value, "content": content}


def _check_dialect(schema: Any) -> Dialect:
    """The dialect of a schema.

    Raises:
        RpcError: it is not supported.
    """
    members = schema if isinstance(schema, dict) else {}
    dialect = dialect_of(members)
    if dialect is None:
        named = members.get("$schema")
        raise RpcError(INVALID_PARAMS, f"the JSON Schema dialect {named!r} is not supported")
    return dialect


def _asked_for(content: JsonObject, schema: Mapping[str, Any]) -> JsonObject:
    """What the form has a field for; one answer may serve several forms."""
    properties = schema.get("properties")
    return {name: value for name, value in content.items() if name in (properties or ())}


def _defaults(schema: Mapping[str, Any]) -> JsonObject:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        name: part["default"]
        for name, part in properties.items()
        if isinstance(part, dict) and "default" in part
    }


def _fits(content: JsonObject, schema: JsonObject) -> bool:
    try:
        validator = jsonschema_rs.validator_for(schema, offline=True, validate_formats=True)
        return validator.is_valid(content)
    except _UNFIT:
        return False


def _sampled(params: Mapping[str, Any], given: SamplingAnswer) -> JsonObject:
    """The model's message.

    Raises:
        RpcError: the user rejects it, it has tools that the client did not declare, or its
            messages are malformed.
    """
    if given.tool is None and any(name in params for name in _TOOL_MEMBERS):
        raise RpcError(INVALID_PARAMS, "sampling with tools is not supported")
    messages = params.get("messages")
    if not isinstance(messages, list) or not messages:
        raise RpcError(INVALID_PARAMS, "messages must be a list with a message")
    for tool in params.get("tools") or ():
        _check_dialect(tool.get("inputSchema") if isinstance(tool, dict) else None)
    if is_malformed(messages):
        raise RpcError(INVALID_PARAMS, "tool results are missing, or mixed with other content")
    if given.refuse:
        raise RpcError(USER_REJECTED, "User rejected sampling request")
    model = _model(params.get("modelPreferences"), given.models)
    if _uses_tool(params, given):
        use = {"type": "tool_use", "id": "use-1", "name": given.tool, "input": dict(given.input)}
        return _message(model, use, "toolUse")
    text, ended = _within(given.text, params.get("maxTokens"))
    return _message(model, {"type": "text", "text": text}, ended)


def _uses_tool(params: Mapping[str, Any], given: SamplingAnswer) -> bool:
    """Whether the model uses its tool: it is offered, and wanted or not yet used."""
    choice = params.get("toolChoice")
    mode = choice.get("mode", "auto") if isinstance(choice, dict) else "auto"
    tools = params.get("tools")
    names = {str(tool.get("name")) for tool in tools or () if isinstance(tool, dict)}
    if mode == "none" or given.tool not in names:
        if mode == "required":
            raise RpcError(INVALID_PARAMS, f"the model has no use for any tool of {sorted(names)}")
        return False
    return mode == "required" or not _ends_in_tool_results(params["messages"])


def _ends_in_tool_results(messages: list[Any]) -> bool:
    last = messages[-1]
    content = last.get("content") if isinstance(last, dict) else None
    blocks = content if isinstance(content, list) else [content]
    return any(isinstance(b, dict) and b.get("type") == "tool_result" for b in blocks)


def _message(model: str, content: JsonObject, stop_reason: str) -> JsonObject:
    return {"role": "assistant", "content": content, "model": model, "stopReason": stop_reason}


def _within(text: str, max_tokens: Any) -> tuple[str, str]:
    """The text cut to `maxTokens` bytes, for a token has one at least; and why it ends."""
    encoded = text.encode("utf-8")
    if not isinstance(max_tokens, int) or len(encoded) <= max_tokens:
        return text, "endTurn"
    return encoded[: max(0, max_tokens)].decode("utf-8", "ignore"), "maxTokens"


def _model(preferences: Any, models: tuple[str, ...]) -> str:
    """The first model that a hint is part of, hint by hint; else the best."""
    hints = preferences.get("hints") if isinstance(preferences, dict) else None
    for hint in hints if isinstance(hints, list) else ():
        name = hint.get("name") if isinstance(hint, dict) else None
        for model in models:
            if isinstance(name, str) and name in model:
                return model
    return models[0]
