"""Defects of our rules about tools, prompts, resources and completion."""

from __future__ import annotations

import re
from dataclasses import replace

from clausewise.reference.call import Outlet
from clausewise.reference.defects.defect import HTTP_ONLY, Defect
from clausewise.reference.defects.rewiring import (
    ChangeObject,
    Rewire,
    modern,
    on_listed,
    on_request,
    on_result,
    with_method,
    without_method,
)
from clausewise.reference.features.tools import text_result
from clausewise.reference.messages import JsonObject, ResourceNotFoundError
from clausewise.reference.modern.methods import METHODS
from clausewise.reference.modern.parts import Incoming, ModernParts
from clausewise.reference.wiring import Wiring

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^ \[]*")


def _undeclared(capability: str) -> Rewire:
    def rewire(wiring: Wiring) -> Wiring:
        others = {k: v for k, v in wiring.modern.capabilities.items() if k != capability}
        return modern(wiring, capabilities=others)

    return rewire


def _misfit(result: JsonObject) -> JsonObject:
    if "structuredContent" not in result:
        return result
    return {**result, "structuredContent": {"sum": "none"}}


async def _adds_anything(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    """tools/call whose tool add takes whatever it is given."""
    arguments = incoming.params.get("arguments")
    if incoming.params.get("name") == "add" and isinstance(arguments, dict):
        numbers = [v for v in arguments.values() if isinstance(v, (int, float))]
        if len(numbers) < len(arguments):
            total = sum(numbers)
            return text_result(f'{{"sum": {total}}}') | {"structuredContent": {"sum": total}}
    return await METHODS["tools/call"](incoming, outlet, parts)


def _varying(method: str, member: str) -> Rewire:
    """Leave the second entry of a list out on every other connection."""

    async def handle(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
        content = parts.content
        if incoming.connection % 2 == 0:
            entries = getattr(content, member)
            content = replace(content, **{member: entries[:1] + entries[2:]})
        return await METHODS[method](incoming, outlet, replace(parts, content=content))

    return with_method(method, handle)


def _on_blocks(kind: str, change: ChangeObject) -> Rewire:
    """Change the content blocks of one type in prompts."""

    def changed(result: JsonObject) -> JsonObject:
        messages = [
            {**one, "content": change(one["content"])} if one["content"]["type"] == kind else one
            for one in result.get("messages", ())
        ]
        return {**result, "messages": messages}

    return on_result("prompts/get", changed)


def _as_data_uri(block: JsonObject) -> JsonObject:
    return {**block, "data": f"data:{block['mimeType']};base64,{block['data']}"}


def _untyped(block: JsonObject) -> JsonObject:
    return {k: v for k, v in block.items() if k != "mimeType"}


def _untyped_resource(block: JsonObject) -> JsonObject:
    return {**block, "resource": _untyped(block["resource"])}


async def _reads_anything(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    uri = str(incoming.params.get("uri"))
    if not _SCHEME.fullmatch(uri):
        return {"contents": [{"uri": uri, "text": "Whatever this may be."}]}
    return await METHODS["resources/read"](incoming, outlet, parts)


async def _reads_nothing(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    try:
        return await METHODS["resources/read"](incoming, outlet, parts)
    except ResourceNotFoundError as missing:
        if missing.uri.startswith("reference://notes/"):
            return {"contents": []}
        raise


def _blob_as_data_uri(result: JsonObject) -> JsonObject:
    contents = [
        {**one, "blob": f"data:{one['mimeType']};base64,{one['blob']}"} if "blob" in one else one
        for one in result.get("contents", ())
    ]
    return {**result, "contents": contents}


def _private_later(incoming: Incoming, result: JsonObject) -> JsonObject:
    is_later = "cursor" in incoming.params
    return {**result, "cacheScope": "private"} if is_later else result


DEFECTS = (
    Defect(
        "tools-not-discoverable",
        "Tools are listed and not declared.",
        _undeclared("tools"),
        rules=("CW-TOL-001",),
    ),
    Defect(
        "tools-list-refused",
        "Tools are declared and tools/list is not implemented.",
        without_method("tools/list"),
        rules=("CW-TOL-002",),
    ),
    Defect(
        "structured-content-misfit",
        "The structured result of the tool add does not fit its output schema.",
        on_result("tools/call", _misfit),
        rules=("CW-TOL-003",),
    ),
    Defect(
        "arguments-unvalidated",
        "The tool add runs with arguments that are no numbers.",
        with_method("tools/call", _adds_anything),
        rules=("CW-TOL-004",),
    ),
    Defect(
        "prompts-not-discoverable",
        "Prompts are listed and not declared.",
        _undeclared("prompts"),
        rules=("CW-PRM-001",),
    ),
    Defect(
        "prompts-vary-per-connection",
        "Every other connection is shown one prompt less.",
        _varying("prompts/list", "prompts"),
        rules=("CW-PRM-002",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "image-as-data-uri",
        "The image of a prompt is a data: URI.",
        _on_blocks("image", _as_data_uri),
        rules=("CW-PRM-003",),
    ),
    Defect(
        "audio-without-type",
        "The audio of a prompt has no media type.",
        _on_blocks("audio", _untyped),
        rules=("CW-PRM-004",),
    ),
    Defect(
        "embedded-resource-without-type",
        "The embedded resource of a prompt has no media type.",
        _on_blocks("resource", _untyped_resource),
        rules=("CW-PRM-005",),
    ),
    Defect(
        "resources-not-discoverable",
        "Resources are listed and not declared.",
        _undeclared("resources"),
        rules=("CW-RSC-001",),
    ),
    Defect(
        "resources-vary-per-connection",
        "Every other connection is shown one resource less.",
        _varying("resources/list", "resources"),
        rules=("CW-RSC-002",),
        transports=HTTP_ONLY,
    ),
    Defect(
        "resource-uri-with-space",
        "A resource is listed under a URI with a space.",
        on_listed(
            "resources/list",
            "resources",
            "numbers",
            lambda entry: {**entry, "uri": "reference://texts/some numbers"},
        ),
        rules=("CW-RSC-003",),
    ),
    Defect(
        "anything-read",
        "resources/read gives content for strings that are no URIs.",
        with_method("resources/read", _reads_anything),
        rules=("CW-RSC-004",),
    ),
    Defect(
        "missing-note-empty",
        "A note that does not exist is read as an empty contents array.",
        with_method("resources/read", _reads_nothing),
        rules=("CW-RSC-005",),
    ),
    Defect(
        "blob-as-data-uri",
        "The blob of a resource is a data: URI.",
        on_result("resources/read", _blob_as_data_uri),
        rules=("CW-RSC-006",),
    ),
    Defect(
        "completions-not-discoverable",
        "Arguments are completed and completions are not declared.",
        _undeclared("completions"),
        rules=("CW-CMP-001",),
    ),
    Defect(
        "later-page-private",
        "The second page of resources/list is private, the first is public.",
        on_request("resources/list", _private_later),
        rules=("CW-CAC-001",),
    ),
    Defect(
        "extension-type-undeclared",
        "The result of prompts/get is of a type of an extension that no client declared.",
        on_result("prompts/get", lambda result: {**result, "resultType": "com.example/greeting"}),
        rules=("CW-DSC-001",),
    ),
)
