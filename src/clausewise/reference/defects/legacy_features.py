"""Defects against tools, resources and prompts of 2025-11-25."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clausewise.reference.defects.legacy_rewiring import (
    before_legacy_response,
    forgiving_legacy,
    legacy,
    legacy_defect,
    on_legacy_error,
    on_legacy_result,
    on_tool,
    undeclared,
)
from clausewise.reference.defects.rewiring import ChangeObject, Rewire, recoded
from clausewise.reference.features.methods import SHARED_METHODS
from clausewise.reference.features.tools import Tool
from clausewise.reference.legacy.methods import shared
from clausewise.reference.messages import (
    INVALID_PARAMS,
    JsonObject,
    RpcError,
    notification,
)
from clausewise.reference.wiring import Wiring

_NOT_BASE64 = "this is no base64!"


def _without_resources(wiring: Wiring) -> Wiring:
    """Neither serve resources nor declare them: tools go on embedding one."""
    methods = wiring.legacy.methods
    kept = {name: one for name, one in methods.items() if not name.startswith("resources/")}
    return legacy(undeclared("resources")(wiring), methods=kept)


def _renamed(old: str, new: str) -> Rewire:
    """Offer a tool under another name, in the lists and in calls."""

    def renamed(tool: Tool) -> Tool:
        if tool.name != old:
            return tool
        return replace(tool, name=new, definition={**tool.definition, "name": new})

    def rewire(wiring: Wiring) -> Wiring:
        content = wiring.legacy.content
        tools = tuple(renamed(tool) for tool in content.tools)
        return legacy(wiring, content=replace(content, tools=tools))

    return rewire


def _ignoring_case(wiring: Wiring) -> Wiring:
    names = {tool.name.lower(): tool.name for tool in wiring.legacy.content.tools}
    right = shared(SHARED_METHODS["tools/call"])

    async def call(message: JsonObject, *others: Any) -> JsonObject:
        name = message["params"].get("name", "")
        params = {**message["params"], "name": names.get(name.lower(), name)}
        return await right({**message, "params": params}, *others)

    return legacy(wiring, methods={**wiring.legacy.methods, "tools/call": call})


def _on_call(member: str, change: ChangeObject) -> Rewire:
    """Change the results of tool calls that have a member."""
    return on_legacy_result("tools/call", lambda r: change(r) if member in r else r)


def _twice(result: JsonObject) -> JsonObject:
    return {**result, "tools": [*result["tools"], *result["tools"][:1]]}


def _on_first(member: str, change: ChangeObject) -> ChangeObject:
    """Change the first entry of a list in a result."""

    def changed(result: JsonObject) -> JsonObject:
        first, *others = result[member]
        return {**result, member: [change(first), *others]}

    return changed


def _saying(content: JsonObject) -> ChangeObject:
    """Put a block into a prompt."""
    said = {"role": "user", "content": content}
    return lambda result: {**result, "messages": [*result["messages"], said]}


def _is_missing_argument(message: JsonObject, error: RpcError) -> bool:
    return message["method"] == "prompts/get" and error.code == INVALID_PARAMS


def _announcing_prompts(wiring: Wiring) -> Wiring:
    changed = notification("notifications/prompts/list_changed")
    announced = before_legacy_response("tools/list", lambda _session: (changed,))
    capabilities = {**wiring.legacy.capabilities, "prompts": {}}
    return announced(legacy(wiring, capabilities=capabilities))


DEFECTS = (
    legacy_defect(
        "tools-undeclared",
        "The server has tools and does not declare them.",
        undeclared("tools"),
        "TOOL-001",
    ),
    legacy_defect(
        "tool-schema-null",
        "A tool has null where its input schema belongs.",
        on_tool("echo", lambda tool: {**tool, "inputSchema": None}),
        "TOOL-003",
    ),
    legacy_defect(
        "tool-name-long",
        "A tool has a name of 129 characters.",
        _renamed("fail", "f" * 129),
        "TOOL-005",
    ),
    legacy_defect(
        "legacy-tool-name-with-space",
        "The name of a tool contains a space.",
        _renamed("fail", "fail always"),
        "TOOL-006",
        "TOOL-007",
    ),
    legacy_defect(
        "tool-name-twice",
        "A tool is listed twice.",
        on_legacy_result("tools/list", _twice),
        "TOOL-008",
    ),
    legacy_defect(
        "embedded-resource-without-resources",
        "A tool gives an embedded resource, and the server has no resources.",
        _without_resources,
        "TOOL-009",
    ),
    legacy_defect(
        "structured-content-without-text",
        "A tool gives structured content whose JSON is in no text block.",
        _on_call("structuredContent", lambda r: {**r, "content": []}),
        "TOOL-010",
    ),
    legacy_defect(
        "legacy-structured-content-misfits",
        "A tool gives structured content that does not fit its output schema.",
        _on_call(
            "structuredContent",
            lambda r: {
                **r,
                "structuredContent": {"sum": "none"},
                "content": [{"type": "text", "text": '{"sum": "none"}'}],
            },
        ),
        "TOOL-011",
    ),
    legacy_defect(
        "tool-name-case-ignored",
        "Tools are called by their name in any case.",
        _ignoring_case,
        "TOOL-013",
    ),
    legacy_defect(
        "resources-undeclared",
        "The server has resources and does not declare them.",
        undeclared("resources"),
        "RES-001",
        "TOOL-009",
    ),
    legacy_defect(
        "resource-scheme-malformed",
        "The URI of a resource has a scheme that begins with a digit.",
        on_legacy_result(
            "resources/list", _on_first("resources", lambda r: {**r, "uri": "1st://a"})
        ),
        "RES-004",
    ),
    legacy_defect(
        "resource-blob-not-base64",
        "A resource is read as a blob that is not base64.",
        on_legacy_result(
            "resources/read",
            _on_first(
                "contents",
                lambda one: {
                    **{key: value for key, value in one.items() if key != "text"},
                    "blob": _NOT_BASE64,
                },
            ),
        ),
        "RES-006",
    ),
    legacy_defect(
        "unknown-resource-invalid-params",
        "A resource that does not exist is refused with -32602, the code of 2026-07-28.",
        on_legacy_error(
            lambda message, _error: message["method"] == "resources/read", recoded(INVALID_PARAMS)
        ),
        "RES-008",
    ),
    legacy_defect(
        "prompts-undeclared",
        "The server has prompts and does not declare them.",
        undeclared("prompts"),
        "PROM-001",
    ),
    legacy_defect(
        "prompt-image-not-base64",
        "A prompt holds an image that is not base64.",
        on_legacy_result(
            "prompts/get", _saying({"type": "image", "data": _NOT_BASE64, "mimeType": "image/png"})
        ),
        "PROM-003",
    ),
    legacy_defect(
        "prompt-audio-without-type",
        "A prompt holds audio without a MIME type.",
        on_legacy_result("prompts/get", _saying({"type": "audio", "data": "AAAA"})),
        "PROM-004",
    ),
    legacy_defect(
        "prompt-resource-without-type",
        "A prompt embeds a resource without its MIME type.",
        on_legacy_result(
            "prompts/get", _saying({"type": "resource", "resource": {"uri": "a://b", "text": "x"}})
        ),
        "PROM-005",
    ),
    legacy_defect(
        "unknown-prompt-not-found",
        "An unknown prompt is refused with -32002.",
        on_legacy_error(_is_missing_argument, recoded(-32002)),
        "PROM-007",
    ),
    legacy_defect(
        "prompt-arguments-unchecked",
        "A prompt is given though a required argument is missing.",
        forgiving_legacy(
            "prompts/get",
            lambda error: "argument" in error.message,
            {"messages": [{"role": "user", "content": {"type": "text", "text": "Review: "}}]},
        ),
        "PROM-008",
    ),
    legacy_defect(
        "prompts-changed-undeclared",
        "The server announces a change of its prompts without the listChanged capability.",
        _announcing_prompts,
        "LIFE-009",
        "PROM-010",
    ),
)
