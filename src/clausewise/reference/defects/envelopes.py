"""Defects of our rules about messages and errors: ids, envelopes, encodings, notifications."""

from __future__ import annotations

from clausewise.reference.defects.defect import HTTP_ONLY, STDIO_ONLY, Defect
from clausewise.reference.defects.rewiring import (
    Rewire,
    deliver_with,
    modern,
    on_delivered,
    on_error,
    on_head,
    on_result,
    on_sent,
    recoded,
)
from clausewise.reference.http_layer import HttpHead
from clausewise.reference.messages import (
    INTERNAL_ERROR,
    JsonObject,
    RpcError,
    Verbatim,
    encode,
    error_response,
    notification,
)
from clausewise.reference.modern.parts import UNSUPPORTED_VERSION, Incoming
from clausewise.reference.wiring import Answered, Wiring
from clausewise.wire.jsontext import JsonTextError, decode
from clausewise.wire.meta import META_VERSION

_UNKNOWN_NAME = frozenset({"tools/call", "prompts/get"})
_UNKNOWN_NOTIFICATION = "notifications/clausewise/"
_PRETTY = b'{\n  "jsonrpc": "2.0",\n  "method": "notifications/clausewise",\n  "params": {}\n}'


def _is_of_unknown_name(incoming: Incoming, message: JsonObject) -> bool:
    error = message.get("error")
    is_unknown = isinstance(error, dict) and str(error.get("message")).startswith("unknown ")
    return incoming.method in _UNKNOWN_NAME and is_unknown


def _is_unknown_tool(incoming: Incoming, error: RpcError) -> bool:
    return incoming.method == "tools/call" and error.message.startswith("unknown ")


def _is_prompt_list(incoming: Incoming, message: JsonObject) -> bool:
    return incoming.method == "prompts/list" and "result" in message


def _without(member: str) -> Rewire:
    """Leave a member out of the errors for unknown names."""
    return on_delivered(
        _is_of_unknown_name, lambda message: {k: v for k, v in message.items() if k != member}
    )


def _error_with(change: JsonObject) -> Rewire:
    """Change members of the errors for unknown names; None leaves one out."""

    def changed(message: JsonObject) -> JsonObject:
        error = {k: v for k, v in {**message["error"], **change}.items() if v is not None}
        return {**message, "error": error}

    return on_delivered(_is_of_unknown_name, changed)


def _in_latin_1(message: JsonObject) -> JsonObject:
    return Verbatim(encode(message).replace(b"Greet ", b"Gr\xfc\xdfe "))


def _is_greeting(incoming: Incoming, message: JsonObject) -> bool:
    named = incoming.method == "prompts/get" and incoming.params.get("name") == "greet"
    return named and "result" in message


def _id_as_number(message: JsonObject) -> JsonObject:
    return {**message, "id": int(message["id"])}


def _has_numeric_text_id(incoming: Incoming, message: JsonObject) -> bool:
    return isinstance(incoming.id, str) and incoming.id.isdigit() and "result" in message


def _in_metadata(key: str, value: str) -> Rewire:
    return on_result(
        "prompts/list", lambda result: {**result, "_meta": {**result["_meta"], key: value}}
    )


def _is_refused_notification(answered: Answered, head: HttpHead) -> bool:
    if head.status != 400 or answered.era is not None:
        return False
    try:
        message = decode(answered.request.body)
    except JsonTextError:
        return False
    return _is_unknown_notification(message)


def _is_unknown_notification(message: object) -> bool:
    if not isinstance(message, dict) or "id" in message:
        return False
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    is_modern = isinstance(meta, dict) and META_VERSION in meta
    return is_modern and str(message.get("method")).startswith(_UNKNOWN_NOTIFICATION)


def _answering_notifications(wiring: Wiring) -> Wiring:
    def notice(message: JsonObject) -> JsonObject | None:
        if _is_unknown_notification(message):
            return {"jsonrpc": "2.0", "id": None, "result": {}}
        return wiring.modern.notice(message)

    return modern(wiring, notice=notice)


def _with_id(message: JsonObject) -> list[JsonObject]:
    return [{**message, "id": 5}]


DEFECTS = (
    Defect(
        "unknown-name-without-id",
        "The error for an unknown tool or prompt has no id.",
        _without("id"),
        rules=("CW-ERR-001",),
    ),
    Defect(
        "unknown-name-without-message",
        "The error for an unknown tool or prompt has no message.",
        _error_with({"message": None}),
        rules=("CW-ERR-002",),
    ),
    Defect(
        "unknown-name-code-as-text",
        "The code of the error for an unknown tool or prompt is a string.",
        _error_with({"code": "-32602"}),
        rules=("CW-ERR-003",),
    ),
    Defect(
        "unknown-tool-as-unsupported-version",
        "An unknown tool is answered -32022, which means an unsupported version.",
        on_error(_is_unknown_tool, recoded(UNSUPPORTED_VERSION)),
        rules=("CW-ERR-004",),
    ),
    Defect(
        "numeric-text-id-as-number",
        'A result for the id "1" carries the id 1.',
        on_delivered(_has_numeric_text_id, _id_as_number),
        rules=("CW-RES-001",),
    ),
    Defect(
        "prompts-list-without-jsonrpc",
        "The response to prompts/list has no jsonrpc member.",
        on_delivered(
            _is_prompt_list, lambda message: {k: v for k, v in message.items() if k != "jsonrpc"}
        ),
        rules=("CW-RES-002",),
    ),
    Defect(
        "prompts-list-with-error",
        "The response to prompts/list has an error beside its result.",
        on_delivered(
            _is_prompt_list,
            lambda message: {**error_response(None, RpcError(INTERNAL_ERROR, "none")), **message},
        ),
        rules=("CW-RES-003",),
    ),
    Defect(
        "unknown-notification-served",
        "A notification that the server does not know is answered with a result.",
        _answering_notifications,
        rules=("CW-RES-004",),
    ),
    Defect(
        "progress-with-id",
        "Notifications about a tool call carry an id.",
        on_sent("tools/call", _with_id),
        rules=("CW-RES-005",),
    ),
    Defect(
        "refused-notification-ok-status",
        "A notification that the server does not know is refused with HTTP status 200.",
        on_head(_is_refused_notification, lambda head: HttpHead(200, head.headers)),
        rules=("CW-RES-006",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "prompt-in-latin-1",
        "The prompt greet is sent in ISO 8859-1.",
        on_delivered(_is_greeting, _in_latin_1),
        rules=("CW-RES-007",),
    ),
    Defect(
        "change-on-response-stream",
        "notifications/tools/list_changed comes ahead of the result of prompts/list.",
        deliver_with("prompts/list", before=notification("notifications/tools/list_changed")),
        rules=("CW-RES-008",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "metadata-key-malformed",
        "The _meta of prompts/list has a key whose prefix ends with a hyphen.",
        _in_metadata("com.example-/trace", "1"),
        rules=("CW-RES-009",),
    ),
    Defect(
        "metadata-key-reserved",
        "The _meta of prompts/list has a key of its own under a prefix of MCP.",
        _in_metadata("dev.mcp/trace", "1"),
        rules=("CW-RES-009",),
    ),
    Defect(
        "trace-parent-malformed",
        "The traceparent in the _meta of prompts/list has an id of zeros.",
        _in_metadata("traceparent", f"00-{'0' * 32}-00f067aa0ba902b7-01"),
        rules=("CW-RES-010",),
    ),
    Defect(
        "message-over-lines",
        "A notification ahead of the result of prompts/list is written over several lines.",
        deliver_with("prompts/list", before=Verbatim(_PRETTY)),
        rules=("CW-STD-001",),
        transports=STDIO_ONLY,
    ),
    Defect(
        "log-line-on-stdout",
        "A log line is written to stdout when the prompts are listed.",
        deliver_with("prompts/list", before=Verbatim(b"INFO listing the prompts")),
        rules=("CW-STD-002",),
        transports=STDIO_ONLY,
    ),
)
