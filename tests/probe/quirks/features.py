"""Quirks of what a server offers: few features or many, odd names, odd schemas, odd lists."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from clausewise.reference.call import Call, Outlet
from clausewise.reference.defects.legacy_rewiring import legacy
from clausewise.reference.defects.rewiring import Rewire, modern
from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.features.content import Content
from clausewise.reference.features.prompts import Argument, Prompt, user_message
from clausewise.reference.features.resources import Resource
from clausewise.reference.features.tools import Tool, find_tool, object_schema, text_result
from clausewise.reference.messages import JsonObject, RpcError
from clausewise.reference.modern.parts import Incoming, ModernParts
from clausewise.reference.wiring import Wiring
from tests.probe.quirks.serving import Quirk


def in_turn(*rewires: Rewire) -> Rewire:
    """All of them, the first one first."""

    def rewire(wiring: Wiring) -> Wiring:
        for one in rewires:
            wiring = one(wiring)
        return wiring

    return rewire


def on_content(change: Callable[[Content], Content]) -> Rewire:
    """Offer something else in both eras."""

    def rewire(wiring: Wiring) -> Wiring:
        content = change(wiring.modern.content)
        return legacy(modern(wiring, content=content), content=content)

    return rewire


def with_tools(*tools: Tool) -> Rewire:
    return on_content(lambda content: replace(content, tools=tools))


def modern_tools(*tools: Tool) -> Rewire:
    """Offer these tools in the modern era alone, whose calls are not validated."""

    async def call(incoming: Incoming, _outlet: Outlet, parts: ModernParts) -> JsonObject:
        find_tool(str(incoming.params.get("name")), parts.content.tools)
        return text_result("done")

    def rewire(wiring: Wiring) -> Wiring:
        content = replace(wiring.modern.content, tools=tools)
        methods = {**wiring.modern.methods, "tools/call": call}
        return modern(wiring, content=content, methods=methods)

    return rewire


def without(*features: str) -> Rewire:
    """Neither declare the features nor have their methods."""
    prefixes = tuple(f"{feature.removesuffix('s')}" for feature in features)

    def has(method: str) -> bool:
        return not method.startswith(prefixes)

    def rewire(wiring: Wiring) -> Wiring:
        def kept(capabilities: JsonObject) -> JsonObject:
            return {name: one for name, one in capabilities.items() if name not in features}

        def methods(table: Any) -> Any:
            return {name: one for name, one in table.items() if has(name)}

        now, then = wiring.modern, wiring.legacy
        changed = modern(wiring, capabilities=kept(now.capabilities), methods=methods(now.methods))
        return legacy(changed, capabilities=kept(then.capabilities), methods=methods(then.methods))

    return rewire


def with_capabilities(change: Callable[[str, Any], Any]) -> Rewire:
    """Declare each capability as `change(name, settings)` says."""

    def changed(capabilities: JsonObject) -> JsonObject:
        return {name: change(name, value) for name, value in capabilities.items()}

    def rewire(wiring: Wiring) -> Wiring:
        wiring = modern(wiring, capabilities=changed(wiring.modern.capabilities))
        return legacy(wiring, capabilities=changed(wiring.legacy.capabilities))

    return rewire


def every_result(change: Callable[[str, JsonObject], JsonObject]) -> Rewire:
    """Change the results of all methods in both eras."""

    def rewire(wiring: Wiring) -> Wiring:
        dressed, final = wiring.modern.result, wiring.legacy.result

        def now(incoming: Incoming, bare: JsonObject) -> JsonObject:
            return change(incoming.method, dressed(incoming, bare))

        def then(message: JsonObject, bare: JsonObject) -> JsonObject:
            return change(message["method"], final(message, bare))

        return legacy(modern(wiring, result=now), result=then)

    return rewire


def every_modern_result(change: Callable[[str, JsonObject], JsonObject]) -> Rewire:
    def rewire(wiring: Wiring) -> Wiring:
        dressed = wiring.modern.result

        def now(incoming: Incoming, bare: JsonObject) -> JsonObject:
            return change(incoming.method, dressed(incoming, bare))

        return modern(wiring, result=now)

    return rewire


async def _say(_call: Call, arguments: JsonObject, _feed: ChangeFeed) -> JsonObject:
    return text_result(f"{sorted(arguments)} at {time.monotonic_ns()}")


def tool(name: str, schema: Any, **more: Any) -> Tool:
    """A read-only tool that answers differently each time."""
    hints = {"annotations": {"readOnlyHint": True}}
    return Tool(name, {"name": name, "inputSchema": schema, **hints, **more}, _say)


def bare_tool(name: str, schema: Any, **more: Any) -> Tool:
    """A tool that says nothing of itself."""
    return Tool(name, {"name": name, "inputSchema": schema, **more}, _say)


def all_tools(change: Callable[[JsonObject], JsonObject]) -> Rewire:
    def changed(content: Content) -> Content:
        tools = tuple(replace(one, definition=change(one.definition)) for one in content.tools)
        return replace(content, tools=tools)

    return on_content(changed)


def _unannotated(definition: JsonObject) -> JsonObject:
    return {k: v for k, v in definition.items() if k != "annotations"}


def _extended(definition: JsonObject) -> JsonObject:
    return {
        **definition,
        "x-vendor": {"deep": [1, None, {"a": True}]},
        "category": "blue",
        "_meta": {"com.example/rank": 1, "plain": None},
        "icons": [{"src": "data:image/svg+xml;base64,PHN2Zy8+", "sizes": ["any"], "theme": "dark"}],
    }


_NESTED: JsonObject = {"type": "string"}
for _level in range(12):
    _NESTED = {"type": "object", "properties": {f"level{_level}": _NESTED}}

_DEFS: JsonObject = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://example.com/schemas/tree",
    "type": "object",
    "$defs": {
        "node": {
            "$anchor": "node",
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        },
        "a/b~c": {"type": "string"},
    },
    "properties": {
        "root": {"$ref": "#/$defs/node"},
        "odd": {"$ref": "#/$defs/a~1b~0c"},
        "$ref": {"type": "string"},
        "x-mcp-header": {"type": "string"},
        "pair": {"type": "array", "prefixItems": [{"type": "number"}, True], "items": False},
        "free": True,
        "none": False,
        "either": {"oneOf": [{"type": "null"}, {"const": "https://example.com/$ref"}]},
        "when": {"type": "string", "format": "date-time", "examples": [{"$ref": "x"}]},
    },
    "patternProperties": {"^x-": {"type": ["string", "null"]}},
    "propertyNames": {"maxLength": 40},
    "dependentRequired": {"odd": ["root"]},
    "if": {"required": ["pair"]},
    "then": {"required": ["root"]},
    "unevaluatedProperties": False,
}

_DRAFT_7: JsonObject = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "definitions": {"positive": {"type": "number", "exclusiveMinimum": 0}},
    "properties": {
        "size": {"$ref": "#/definitions/positive"},
        "pair": {"type": "array", "items": [{"type": "string"}, {"type": "number"}]},
    },
    "dependencies": {"pair": ["size"]},
}

_LONG = "a" * 128

ODD_TOOLS = (
    tool("tree", _DEFS),
    tool("empty", {"type": "object"}),
    tool("closed", {"type": "object", "additionalProperties": False}),
    tool("nested", _NESTED),
    tool("needs.all", object_schema({"a": {"enum": [1, "x"]}, "b": {"pattern": "^z$"}}, "a", "b")),
    tool("A1_b-C.d", {"type": "object", "required": []}),
    tool(_LONG, {"type": "object", "properties": {}}),
    tool("titled", {"type": "object", "title": "Ünïcode 🎉", "description": ""}, description="🎉"),
)


async def _say_structured(_call: Call, _a: JsonObject, _feed: ChangeFeed) -> JsonObject:
    structured = {"any": [1, None], "some": "\u2028é"}
    return {
        "content": [{"type": "text", "text": json.dumps(structured, indent=2)}],
        "structuredContent": structured,
        "isError": False,
    }


async def _tell(_call: Call, arguments: Any) -> list[JsonObject]:
    return [user_message({"type": "text", "text": f"{dict(arguments)}"})]


def _with_prompts(*prompts: Prompt) -> Rewire:
    return on_content(lambda content: replace(content, prompts=prompts))


def _growing(wiring: Wiring) -> Wiring:
    """The tools are others from one moment to the next."""

    def rewired(table: Any) -> Any:
        right = table["tools/list"]

        async def handle(first: Any, second: Any, *rest: Any) -> JsonObject:
            *middle, parts = rest
            extra = tool(f"extra_{time.monotonic_ns() // 1_000_000}", {"type": "object"})
            content = replace(parts.content, tools=(extra, *parts.content.tools), page_size=100)
            changed: JsonObject = await right(
                first, second, *middle, replace(parts, content=content)
            )
            return changed

        return {**table, "tools/list": handle}

    wiring = modern(wiring, methods=rewired(wiring.modern.methods))
    return legacy(wiring, methods=rewired(wiring.legacy.methods))


def _empty_pages(wiring: Wiring) -> Wiring:
    """The first page of each list is empty and leads on to the whole list."""

    def rewired(table: Any) -> Any:
        changed = dict(table)
        for method, member in (
            ("tools/list", "tools"),
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        ):
            changed[method] = _after_an_empty_page(table[method], member)
        return changed

    wiring = modern(wiring, methods=rewired(wiring.modern.methods))
    return legacy(wiring, methods=rewired(wiring.legacy.methods))


def _after_an_empty_page(right: Any, member: str) -> Any:
    async def handle(first: Any, second: Any, *rest: Any) -> JsonObject:
        *middle, parts = rest
        message = first.message if isinstance(first, Incoming) else first
        params = dict(message.get("params") or {})
        parts = replace(parts, content=replace(parts.content, page_size=1000))
        if params.get("cursor") is None:
            return {member: [], "nextCursor": ""}
        if params["cursor"] == "":
            del params["cursor"]
        message = {**message, "params": params}
        first = replace(first, message=message) if isinstance(first, Incoming) else message
        whole: JsonObject = await right(first, second, *middle, parts)
        return whole

    return handle


async def _ends_at_once(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
    """Acknowledges nothing of what was asked for, and ends the subscription."""
    from clausewise.reference.messages import INVALID_PARAMS, notification
    from clausewise.wire.meta import META_SUBSCRIPTION

    if not isinstance(incoming.params.get("notifications"), dict):
        raise RpcError(INVALID_PARAMS, "params.notifications must be an object")
    tag = {META_SUBSCRIPTION: incoming.id}
    about = {"_meta": tag, "notifications": {}}
    await outlet.send(notification("notifications/subscriptions/acknowledged", about))
    return {"_meta": tag}


def _subscriptions_end_at_once(wiring: Wiring) -> Wiring:
    methods = {**wiring.modern.methods, "subscriptions/listen": _ends_at_once}
    return modern(wiring, methods=methods)


def _quiet(_name: str, settings: Any) -> Any:
    """A capability without listChanged and subscribe."""
    return {k: v for k, v in settings.items() if k not in ("listChanged", "subscribe")}


def _cached(hints: JsonObject) -> Rewire:
    def change(_method: str, result: JsonObject) -> JsonObject:
        return result | (hints if "ttlMs" in result else {})

    return every_modern_result(change)


def _renamed_resources(content: Content) -> Content:
    """The resources with odd URIs beside them."""

    def odd(uri: str, name: str) -> Resource:
        first = content.resources[0]
        return replace(first, uri=uri, name=name)

    more = (
        odd("urn:isbn:0451450523", "a book"),
        odd("file:///Users/%C3%A9t%C3%A9/notes%20of%20today.txt", "Été ☀"),
        odd("custom+x-scheme.1://host:99999/;p?q=%7B%7D#f", ""),
        odd("mailto:somebody@example.com", "x" * 3000),
    )
    return replace(content, resources=(*content.resources, *more), page_size=3)


QUIRKS = (
    Quirk("has no tools", without("tools")),
    Quirk(
        "has tools alone",
        in_turn(
            without("prompts", "resources", "completions", "logging", "tasks", "extensions"),
            with_tools(*ODD_TOOLS),
        ),
    ),
    Quirk("has tools with schemas of draft-07", modern_tools(tool("draft-07", _DRAFT_7))),
    Quirk(
        "has prompts alone",
        without("tools", "resources", "completions", "logging", "tasks", "extensions"),
    ),
    Quirk(
        "has resources alone",
        without("tools", "prompts", "completions", "logging", "tasks", "extensions"),
        inconclusive=frozenset({"CW-MRT-006"}),  # whose consent we do not give in anybody's name
    ),
    Quirk(
        "has nothing at all",
        without("tools", "prompts", "resources", "completions", "logging", "tasks", "extensions"),
    ),
    Quirk("has no subscriptions", in_turn(without("subscriptions"), with_capabilities(_quiet))),
    Quirk(
        "ends subscriptions at once", in_turn(_subscriptions_end_at_once, with_capabilities(_quiet))
    ),
    Quirk(
        "has empty lists",
        on_content(lambda c: replace(c, tools=(), prompts=(), resources=(), templates=())),
    ),
    Quirk("has one item a page", on_content(lambda c: replace(c, page_size=1))),
    Quirk("has one page", on_content(lambda c: replace(c, page_size=1000))),
    Quirk("begins each list with an empty page and an empty cursor", _empty_pages),
    Quirk(
        "has other tools all the time",
        _growing,
        inconclusive=frozenset({"MCP-RES-007", "MCP-STL-008"}),
    ),
    Quirk("says nothing of what its tools do", all_tools(_unannotated)),
    Quirk(
        "adds members of its own to everything",
        in_turn(
            all_tools(_extended),
            every_result(
                lambda m, result: (
                    result
                    if m == "ping"
                    else {
                        **result,
                        "x-extra": {"a": None},
                        "took_ms": 3,
                        "_meta": {
                            **result.get("_meta", {}),
                            "com.example/trace": "00-1",
                            "short": [],
                            "a.b/c": 1,
                        },
                    }
                )
            ),
            with_capabilities(
                lambda n, settings: settings if n == "extensions" else {**settings, "x-beta": True}
            ),
        ),
    ),
    Quirk("has tools with odd schemas", with_tools(*ODD_TOOLS)),
    Quirk(
        "has tools that need arguments alone",
        with_tools(
            tool(
                "needs_a",
                object_schema({"a": {"type": "string", "pattern": "^[A-Z]{3}-\\d+$"}}, "a"),
            ),
            tool(
                "needs_b",
                object_schema(
                    {"b": {"type": "array", "minItems": 2, "items": {"type": "integer"}}}, "b"
                ),
            ),
        ),
    ),
    Quirk(
        "has one tool, which may not be called", with_tools(bare_tool("launch", {"type": "object"}))
    ),
    Quirk(
        "has structured results of any shape",
        with_tools(
            Tool(
                "structured",
                {
                    "name": "structured",
                    "inputSchema": {"type": "object"},
                    "annotations": {"readOnlyHint": True},
                    "outputSchema": {"type": "object"},
                },
                _say_structured,
            )
        ),
    ),
    Quirk(
        "has prompts with odd names",
        _with_prompts(
            Prompt("plain", "", _tell),
            Prompt("with/slash:and.dots", "d" * 5000, _tell, (Argument("été", "", required=True),)),
            Prompt("x" * 300, "long", _tell, (Argument("a", ""),)),
        ),
    ),
    Quirk("has resources with odd URIs", on_content(_renamed_resources)),
    Quirk("declares no changes", with_capabilities(_quiet)),
    Quirk(
        "declares that nothing changes",
        with_capabilities(
            lambda _n, s: {
                k: False if k in ("listChanged", "subscribe") else v for k, v in s.items()
            }
        ),
    ),
    Quirk("lets nothing be cached", _cached({"ttlMs": 0, "cacheScope": "private"})),
    Quirk("lets everything be cached for ever", _cached({"ttlMs": 2**53 - 1})),
    Quirk("gives time-outs as a float", _cached({"ttlMs": 300000.0})),
)
