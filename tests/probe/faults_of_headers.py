"""Faults in what is made of request headers, and servers that are odd but right."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from clausewise.wire.sentinel import SentinelError, decode
from tests.probe.fake_server import VERSION, Reply, Request
from tests.probe.fault_making import (
    CALL,
    DISCOVER,
    FAULTS,
    TOOL_LIST,
    Change,
    capabilities,
    error,
    on,
    silence,
    status,
    when,
)

Condition = Callable[[Request], bool]


def lacks(name: str, *methods: str) -> Condition:
    return lambda r: name not in r.headers and r.method in methods


def served(reply: Reply) -> Reply:
    """Any result in place of the refusal."""
    result = {"resultType": "complete", "content": [], "contents": [], "messages": []}
    response = {"jsonrpc": "2.0", "id": reply.response.get("id"), "result": result}
    return Reply((response,))


def tool_error(reply: Reply) -> Reply:
    return served(reply).with_result(isError=True)


def bare(code: int, *headers: tuple[str, str]) -> Change:
    return lambda _: Reply(
        raw=b"<p>no", headers=(("content-type", "text/html"), *headers), status=code
    )


no_method = lacks("mcp-method", TOOL_LIST)
when("no-method-served", no_method, served)
when("no-method-200", no_method, status(200))
when("no-method-rc-code", no_method, error(-32001))
when("no-method-32600", no_method, error(-32600))
when("no-method-bare", no_method, bare(400))
when("no-method-bare-by-nginx", no_method, bare(400, ("server", "nginx/1.27")))
when("no-method-401", no_method, lambda _: Reply(status=401, headers=()))
when("no-method-silence", no_method, silence)
when("tools-refused", lambda r: r.method == TOOL_LIST, error(-32020))


def nameless(*names: str) -> Condition:
    return lambda r: "mcp-name" not in r.headers and r.params.get("name") in names


def unknown(request: Request) -> bool:
    return request.method == CALL and str(request.params.get("name")).startswith("clausewise_no")


REAL = ("steps", "ask", "echo")
when("no-name-runs", nameless(*REAL, "clausewise_no_such_tool"), served)
when("no-name-tool-error", nameless(*REAL, "clausewise_no_such_tool"), tool_error)


def _unknown_first(request: Request, reply: Reply) -> Reply:
    return reply.with_error(-32602, status=400) if unknown(request) else reply


FAULTS["unknown-tool-first"] = _unknown_first


def _read_only_no_more(request: Request, reply: Reply) -> Reply:
    if request.method != TOOL_LIST:
        return _unknown_first(request, reply)
    if "result" not in reply.response:
        return reply
    tools = [{**tool, "annotations": {}} for tool in reply.response["result"]["tools"]]
    return reply.with_result(tools=tools)


FAULTS["unknown-tool-first-none-callable"] = _read_only_no_more
on("no-tools", DISCOVER, capabilities(tools=...))
on("only-tools", DISCOVER, capabilities(prompts=..., resources=...))


# Values of Mcp-Name
def header(request: Request) -> str:
    return request.headers.get("mcp-name", "")


def named(request: Request) -> str:
    return str(request.params.get("uri") or request.params.get("name"))


def _decoded(request: Request) -> str:
    try:
        return decode(header(request))
    except SentinelError:
        return ""


def _has_name(request: Request) -> bool:
    return "mcp-name" in request.headers


def _else_sound(request: Request) -> bool:
    """Whether the other standard headers are as they must be."""
    version = request.headers.get("mcp-protocol-version")
    method = request.headers.get("mcp-method")
    return method == request.method and version == request.meta("protocolVersion") == VERSION


when("any-name", lambda r: _has_name(r) and _else_sound(r) and not unknown(r), served)
when(
    "any-case",
    lambda r: _has_name(r) and _else_sound(r) and _decoded(r).lower() == named(r).lower(),
    served,
)
when("other-name-200", lambda r: _has_name(r) and _decoded(r) != named(r), status(200))
when("literal-name", lambda r: _has_name(r) and header(r) != named(r), error(-32020))
when(
    "upper-case-markers",
    lambda r: (
        header(r).startswith("=?BASE64?")
        and decode(header(r).replace("BASE64", "base64")) == named(r)
    ),
    served,
)

# Versions
no_version = lacks("mcp-protocol-version", DISCOVER)
when("no-version-served", no_version, served)
when("no-version-32602", no_version, error(-32602))


def _versions(request: Request) -> set[Any]:
    return {request.headers.get("mcp-protocol-version"), request.meta("protocolVersion")}


def _differ(request: Request) -> bool:
    return (
        request.method == DISCOVER
        and None not in _versions(request)
        and len(_versions(request)) == 2
    )


when("versions-differ-served", _differ, served)
when(
    "versions-differ-bare-400",
    lambda request: _differ(request) and request.headers["mcp-protocol-version"] == "1900-01-01",
    bare(400),
)
when("versions-differ-unsupported", _differ, error(-32022, {"supported": [], "requested": "x"}))


def _negotiating(version: str, **listed: Any) -> Callable[[Request, Reply], Reply]:
    """A server with a legacy half, which does not mind a missing version header."""

    def fault(request: Request, reply: Reply) -> Reply:
        if request.method == "initialize":
            asked = request.params.get("protocolVersion")
            known = asked if asked == "2025-11-25" else version
            info = {"name": "fake", "version": "1"}
            result = {"protocolVersion": known, "capabilities": {}, "serverInfo": info}
            return Reply(({"jsonrpc": "2.0", "id": request.id, "result": result},))
        return served(reply) if no_version(request) else reply

    return fault


FAULTS["no-version-served-to-old-clients"] = _negotiating("2025-03-26")
FAULTS["no-version-served-to-2025-06-18"] = _negotiating("2025-06-18")

# Order
when(
    "unknown-method-first", lambda r: r.method.startswith("clausewise/"), error(-32601, status=404)
)


# A tool whose parameters travel in headers
SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "limit": {"type": "integer", "x-mcp-header": "Limit"},
        "where": {
            "type": "object",
            "properties": {"dry": {"type": "boolean", "x-mcp-header": "Dry"}},
        },
    },
    "required": ["region"],
}
TOOL = {"name": "query", "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}}
Judge = Callable[[str, str | None, Any], bool]


def matches(_: str, value: str | None, argument: Any) -> bool:
    """Whether a raw header value is right for an argument."""
    if value is None or argument is None:
        return value is None and argument is None
    try:
        text = decode(value)
    except SentinelError:
        return False
    if isinstance(argument, bool):
        return text == str(argument).lower()
    if isinstance(argument, int):
        return text.removesuffix(".0") == str(argument)
    return value.isprintable() and value.isascii() and text == str(argument)


def querying(judge: Judge = matches, tool: Any = TOOL, refused: Change | None = None) -> Any:
    """The fake server with the tool `query`, whose headers `judge` accepts or not."""
    refuse = refused or error(-32020)

    def fault(request: Request, reply: Reply) -> Reply | None:
        if request.method == TOOL_LIST and "result" in reply.response:
            return reply.with_result(tools=[tool], nextCursor=...)
        if request.method != CALL or request.params.get("name") != "query":
            return reply
        if _decoded(request) != "query":
            return reply
        arguments = request.params["arguments"]
        values = {**arguments, **arguments.get("where", {})}
        for name in ("region", "limit", "dry"):
            if not judge(name, request.headers.get(f"mcp-param-{name}"), values.get(name)):
                return refuse(reply)
        return served(reply)

    return fault


def _as_raw_text(_: str, value: str | None, argument: Any) -> bool:
    if value is not None and isinstance(argument, str):
        return value.encode("latin-1") == argument.encode() or matches(_, value, argument)
    return matches(_, value, argument)


def _bare_for_bytes(request: Request, reply: Reply) -> Reply | None:
    region = request.headers.get("mcp-param-region", "")
    if not (region.isascii() and region.isprintable()):
        return Reply(raw=b"", headers=(), status=400)
    return FAULTS["query"](request, reply)


FAULTS["query"] = querying()
FAULTS["query-unread"] = querying(lambda *_: True)
FAULTS["query-32602"] = querying(refused=error(-32602))
FAULTS["query-missing-header"] = querying(lambda n, v, a: v is None or matches(n, v, a))
FAULTS["query-null"] = querying(lambda n, v, a: v is not None and matches(n, v, a))
FAULTS["query-undecoded"] = querying(
    lambda n, v, a: matches(n, v, a) and not (v or "").startswith("=?")
)
FAULTS["query-integer-text"] = querying(
    lambda n, v, a: matches(n, v, a) and not (v or "").endswith(".0")
)
FAULTS["query-any-boolean"] = querying(
    lambda n, v, a: matches(n, (v or "").lower() if n == "dry" and v else v, a)
)
FAULTS["query-raw-text"] = querying(_as_raw_text)
FAULTS["query-loose-base64"] = querying(
    lambda n, v, a: matches(n, v.replace("!", "") if v else v, a)
)
FAULTS["query-bare"] = _bare_for_bytes
FAULTS["query-not-callable"] = querying(tool={**TOOL, "annotations": {}})
FAULTS["query-broken-tool"] = lambda request, reply: (
    tool_error(reply) if request.method == CALL else FAULTS["query-unread"](request, reply)
)


def _with_environment(_request: Request, reply: Reply) -> Reply:
    response = reply.response
    if "error" not in response:
        return reply
    response["error"]["data"] = dict(os.environ)
    return reply.with_response(response)


FAULTS["environment-in-errors"] = _with_environment
