"""Servers that break a rule in one corner alone, where a lazy probe does not look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from clausewise.reference.defects.rewiring import (
    Rewire,
    forgiving,
    on_delivered,
    on_error,
    on_head,
    on_request,
    on_result,
    recoded,
    with_data,
    with_status,
)
from clausewise.reference.http_layer import HttpHead
from clausewise.reference.messages import JsonObject, RpcError
from clausewise.reference.modern.parts import Incoming
from clausewise.reference.options import ServerOptions
from clausewise.reference.wiring import Wiring
from clausewise.wire.meta import META_CAPABILITIES, META_VERSION
from tests.probe.quirks.features import on_content, tool
from tests.probe.quirks.framing import retyped


@dataclass(frozen=True)
class Liar:
    """A violation in one corner, and the rules that must tell it.

    Attributes:
        name: what the server does, as the end of a sentence that begins with "a server".
        rewire: changes the right server.
        rules: what a check must find broken, and nothing else.
    """

    name: str
    rewire: Rewire
    rules: frozenset[str]


def _later_page(incoming: Incoming) -> bool:
    return incoming.params.get("cursor") is not None


def _on_later_page(method: str, change: Callable[[JsonObject], JsonObject]) -> Rewire:
    return on_request(method, lambda i, r: change(r) if _later_page(i) else r)


def _without(member: str) -> Callable[[JsonObject], JsonObject]:
    return lambda result: {k: v for k, v in result.items() if k != member}


def _header(incoming: Incoming, name: str) -> str:
    return (incoming.http.value(name) if incoming.http else None) or ""


def _one_more_tool(name: str, schema: JsonObject, **more: Any) -> Rewire:
    """A tool at the end of the list, on its last page."""
    last = tool(name, schema, **more)
    return on_content(lambda content: replace(content, tools=(*content.tools, last)))


def _calls(name: str) -> Callable[[Incoming], bool]:
    return lambda i: i.method == "tools/call" and i.params.get("name") == name


def _on_call(name: str, change: Callable[[JsonObject], JsonObject]) -> Rewire:
    return on_request("tools/call", lambda i, r: change(r) if i.params.get("name") == name else r)


def _nested(annotation: JsonObject) -> JsonObject:
    inner = {"type": "object", "properties": {"b": annotation}}
    return {"type": "object", "properties": {"a": inner}}


def _origin_prefix(wiring: Wiring) -> Wiring:
    """Take every origin that begins like one of ours."""
    right = wiring.http.guard

    def guard(request: Any, options: ServerOptions) -> None:
        origin = request.value("origin") or ""
        kept = tuple(h for h in request.headers if h[0] != b"origin")
        lenient = origin.startswith(("http://127.0.0.1", "http://localhost"))
        right(replace(request, headers=kept) if lenient else request, options)

    return replace(wiring, http=replace(wiring.http, guard=guard))


def _session_on(applies: Callable[[Any, HttpHead], bool]) -> Rewire:
    return on_head(
        lambda answered, head: (
            answered.request.value("mcp-method") is not None and applies(answered, head)
        ),
        lambda head: replace(head, headers=(*head.headers, ("mcp-session-id", "s1"))),
    )


def _is_stream(_answered: Any, head: HttpHead) -> bool:
    return ("Content-Type", "text/event-stream") in head.headers


def _encoded(name: str) -> Callable[[Incoming], bool]:
    return lambda i: _header(i, name).startswith("=?base64?")


def _is(*methods: str) -> Callable[[Incoming], bool]:
    return lambda i: i.method in methods


def _code(applies: Callable[[Incoming, RpcError], bool], code: int) -> Rewire:
    return on_error(applies, recoded(code))


def _template_uri(uri: Any) -> bool:
    return isinstance(uri, str) and "note" in uri


def _liar(name: str, rewire: Rewire, *rules: str) -> Liar:
    return Liar(name, rewire, frozenset(rules))


LIARS = (
    _liar(
        "leaves ttlMs out on later pages",
        _on_later_page("tools/list", _without("ttlMs")),
        "MCP-CAC-001",
    ),
    _liar(
        "leaves cacheScope out on later pages",
        _on_later_page("resources/list", _without("cacheScope")),
        "MCP-CAC-002",
    ),
    _liar(
        "has a negative ttlMs on later pages",
        _on_later_page("tools/list", lambda r: {**r, "ttlMs": -1}),
        "MCP-CAC-004",
    ),
    _liar(
        "has an odd cacheScope for templates",
        on_result("resources/templates/list", lambda r: {**r, "cacheScope": "Public"}),
        "MCP-CAC-003",
    ),
    _liar(
        "has a broken ttlMs for reading",
        on_result("resources/read", lambda r: {**r, "ttlMs": 1.5} if "ttlMs" in r else r),
        "MCP-CAC-004",
    ),
    _liar(
        "leaves resultType out on later pages",
        _on_later_page("tools/list", _without("resultType")),
        "MCP-RES-001",
    ),
    _liar(
        "leaves resultType out of tool errors",
        _on_call("fail", _without("resultType")),
        "MCP-RES-001",
    ),
    _liar(
        "leaves resultType out in streams",
        _on_call("count_slowly", _without("resultType")),
        "MCP-RES-001",
    ),
    _liar(
        "leaves resultType out of completions",
        on_result("completion/complete", _without("resultType")),
        "MCP-RES-001",
    ),
    _liar(
        "has an odd resultType in streams",
        _on_call("count_slowly", lambda r: {**r, "resultType": "completed"}),
        "CW-DSC-001",
    ),
    _liar(
        "does not compare an encoded Mcp-Name",
        forgiving(_encoded("mcp-name"), "name-header"),
        "MCP-HDR-007",
    ),
    _liar(
        "does not compare Mcp-Name of prompts",
        forgiving(_is("prompts/get"), "name-header"),
        "MCP-HDR-003",
        "CW-HDR-002",
    ),
    _liar(
        "does not compare Mcp-Name of resources",
        forgiving(_is("resources/read"), "name-header"),
        "MCP-HDR-003",
        "CW-HDR-002",
    ),
    _liar(
        "does not compare Mcp-Method of calls",
        forgiving(_is("tools/call"), "method-header-matches"),
        "CW-HDR-001",
    ),
    _liar(
        "does not compare Mcp-Method of lists",
        forgiving(_is("tools/list", "prompts/list", "resources/list"), "method-header-matches"),
        "CW-HDR-001",
    ),
    _liar(
        "does not compare the version of reads",
        forgiving(_is("resources/read", "prompts/get"), "version-header-matches"),
        "MCP-HDR-005",
    ),
    _liar(
        "does not compare the version of calls",
        forgiving(_is("tools/call"), "version-header-matches"),
        "MCP-HDR-005",
    ),
    _liar(
        "wants no Mcp-Method for discovery",
        forgiving(
            lambda i: i.method == "server/discover" and not _header(i, "mcp-method"),
            "method-header-present",
            "method-header-matches",
        ),
        "MCP-HDR-001",
    ),
    _liar(
        "wants no Mcp-Method for calls",
        forgiving(
            lambda i: i.method == "tools/call" and not _header(i, "mcp-method"),
            "method-header-present",
            "method-header-matches",
        ),
        "MCP-HDR-001",
    ),
    _liar(
        "wants no version header for lists",
        forgiving(
            lambda i: i.method == "tools/list" and not _header(i, "mcp-protocol-version"),
            "version-header-present",
            "version-header-matches",
        ),
        "MCP-HDR-004",
    ),
    _liar(
        "takes lists without capabilities",
        forgiving(
            lambda i: i.method == "prompts/list" and META_CAPABILITIES not in i.meta,
            "client-capabilities-named",
        ),
        "MCP-ERR-006",
    ),
    _liar(
        "takes calls without capabilities",
        forgiving(
            lambda i: i.method == "tools/call" and META_CAPABILITIES not in i.meta,
            "client-capabilities-named",
        ),
        "MCP-ERR-006",
    ),
    _liar(
        "takes lists without a version",
        forgiving(
            lambda i: i.method == "tools/list" and META_VERSION not in i.meta,
            "version-named",
            "version-header-matches",
            "version-supported",
        ),
        "MCP-ERR-006",
    ),
    _liar(
        "lists no versions in the error of calls",
        on_error(
            lambda i, e: i.method == "tools/call" and e.code == -32022, with_data(lambda _d: None)
        ),
        "MCP-ERR-001",
    ),
    _liar(
        "serves unsupported versions for lists",
        forgiving(_is("tools/list"), "version-supported"),
        "MCP-ERR-001",
    ),
    _liar(
        "answers unknown tool methods with 200",
        on_error(lambda i, e: e.code == -32601 and i.method.startswith("tools/"), with_status(200)),
        "MCP-ERR-002",
    ),
    _liar(
        "answers missing notes with -32002",
        _code(
            lambda i, e: (
                i.method == "resources/read"
                and _template_uri(i.params.get("uri"))
                and e.code == -32602
            ),
            -32002,
        ),
        "MCP-ERR-003",
    ),
    _liar(
        "answers bad cursors of prompts with -32042",
        _code(
            lambda i, e: i.method == "prompts/list" and e.code == -32602 and "cursor" in str(e),
            -32042,
        ),
        "MCP-ERR-004",
    ),
    _liar(
        "answers bad cursors of templates with -32050",
        _code(lambda i, e: i.method == "resources/templates/list" and "cursor" in str(e), -32050),
        "MCP-ERR-005",
    ),
    _liar(
        "answers bad completions with -32099",
        _code(
            lambda i, e: (
                i.method == "completion/complete" and e.code == -32602 and "_meta" not in str(e)
            ),
            -32099,
        ),
        "MCP-ERR-005",
    ),
    _liar("mints a session on streams alone", _session_on(_is_stream), "MCP-STL-001"),
    _liar(
        "mints a session on errors alone", _session_on(lambda _a, h: h.status >= 400), "MCP-STL-001"
    ),
    _liar(
        "mints a session for calls alone",
        _session_on(lambda a, _h: a.method == "tools/call"),
        "MCP-STL-001",
    ),
    _liar(
        "answers reads with text/plain",
        on_head(
            lambda a, h: a.method == "resources/read" and h.status == 200,
            lambda h: retyped(h, "text/plain"),
        ),
        "MCP-RES-005",
    ),
    _liar(
        "gives the id of a call as text",
        on_delivered(
            lambda i, m: i.method == "tools/call" and "result" in m and isinstance(m["id"], int),
            lambda m: {**m, "id": str(m["id"])},
        ),
        "CW-RES-001",
    ),
    _liar(
        "annotates a nested number on the last page",
        _one_more_tool("last", _nested({"type": "number", "x-mcp-header": "Deep"})),
        "MCP-SCH-004",
    ),
    _liar(
        "annotates a nested parameter by an empty name",
        _one_more_tool("last", _nested({"type": "string", "x-mcp-header": ""})),
        "MCP-SCH-001",
    ),
    _liar(
        "annotates the items of a list",
        _one_more_tool(
            "last",
            {
                "type": "object",
                "properties": {
                    "a": {"type": "array", "items": {"type": "string", "x-mcp-header": "Deep"}}
                },
            },
        ),
        "MCP-SCH-005",
    ),
    _liar(
        "annotates in unused definitions",
        _one_more_tool(
            "last", {"type": "object", "$defs": {"u": {"type": "string", "x-mcp-header": "Deep"}}}
        ),
        "MCP-SCH-005",
    ),
    _liar(
        "annotates twice but for case, nested",
        _one_more_tool(
            "last",
            {
                "type": "object",
                "properties": {
                    "c": {"type": "string", "x-mcp-header": "DEEP"},
                    **_nested({"type": "string", "x-mcp-header": "deep"})["properties"],
                },
            },
        ),
        "MCP-SCH-003",
    ),
    _liar(
        "has a broken schema in a pattern",
        _one_more_tool("last", {"type": "object", "patternProperties": {"a": {"type": "strnig"}}}),
        "MCP-SCH-006",
    ),
    _liar(
        "refers to the network below a pattern",
        _one_more_tool(
            "last",
            {
                "type": "object",
                "patternProperties": {"a": {"allOf": [{"$ref": "https://example.com/x.json"}]}},
            },
        ),
        "MCP-SEC-005",
    ),
    _liar(
        "refers to the network by a relative reference",
        _one_more_tool(
            "last",
            {
                "$id": "https://example.com/a/",
                "type": "object",
                "properties": {"x": {"$ref": "b.json"}},
            },
        ),
        "MCP-SEC-005",
    ),
    _liar(
        "names a tool with a blank on the last page",
        _one_more_tool("last one", {"type": "object"}),
        "MCP-SCH-007",
    ),
    _liar(
        "has an unsafe icon on the last tool",
        _one_more_tool(
            "last",
            {"type": "object"},
            icons=[{"src": "https://example.com/a.png"}, {"src": " JaVaScript:alert(1)"}],
        ),
        "MCP-SEC-004",
    ),
    _liar("takes origins that begin like its own", _origin_prefix, "MCP-SEC-001"),
    _liar(
        "does not say who it is on later pages",
        _on_later_page("tools/list", _without("_meta")),
        "MCP-DSC-005",
    ),
)
