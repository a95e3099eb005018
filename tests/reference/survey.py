"""One fixed list of requests, and what a server answers to each: to compare two servers."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

import anyio

from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import (
    ABLE_META,
    MEDIA,
    META,
    PREFIX,
    VERSION,
    Answer,
    Client,
    Json,
    connect,
    events,
    initialize_message,
    legacy_message,
    modern_headers,
    modern_message,
    open_session,
)

_QUIET_S = 0.1
_VOLATILE = re.compile(r'"requestState":"[^"]*"')


@dataclass(frozen=True, slots=True)
class Ask:
    """A POST: its JSON-RPC message and headers."""

    message: Json
    headers: Mapping[str, str]


def _modern(method: str, params: Json | None = None, **headers: str) -> Ask:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Ask(modern_message(method, params), {**modern_headers(method, params or {}), **named})


def _without(key: str) -> Json:
    return {"_meta": {name: value for name, value in META.items() if name != PREFIX + key}}


_OLD_VERSION = META | {PREFIX + "protocolVersion": "1900-01-01"}

MODERN: Mapping[str, Ask] = {
    "discover": _modern("server/discover"),
    "tools": _modern("tools/list"),
    "tools again": _modern("tools/list"),
    "tools with credentials": _modern("tools/list", Authorization="Bearer a"),
    "prompts": _modern("prompts/list"),
    "resources": _modern("resources/list"),
    "templates": _modern("resources/templates/list"),
    "read": _modern("resources/read", {"uri": "reference://texts/welcome"}),
    "read missing": _modern("resources/read", {"uri": "reference://nowhere"}),
    "call": _modern("tools/call", {"name": "echo", "arguments": {"text": "x"}}),
    "call unknown": _modern("tools/call", {"name": "nope"}),
    "call asking, incapable": _modern("tools/call", {"name": "greet_user"}),
    "call asking": _modern("tools/call", {"name": "greet_user", "_meta": ABLE_META}),
    "call streaming": _modern(
        "tools/call",
        {
            "name": "count_slowly",
            "arguments": {"delayMs": 0},
            "_meta": META | {"progressToken": 1},
        },
    ),
    "prompt": _modern("prompts/get", {"name": "summarize_welcome"}),
    "prompt unknown": _modern("prompts/get", {"name": "nope"}),
    "bad cursor": _modern("prompts/list", {"cursor": "nope"}),
    "bad log level": _modern("prompts/list", {"_meta": META | {PREFIX + "logLevel": "loud"}}),
    "completion": _modern(
        "completion/complete",
        {
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "language", "value": "g"},
        },
    ),
    "unknown method": _modern("nope"),
    "ping": _modern("ping"),
    "set level": _modern("logging/setLevel", {"level": "info"}),
    "subscribe": _modern("resources/subscribe", {"uri": "reference://counter"}),
    "modern initialize": _modern("initialize"),
    "old version": _modern(
        "prompts/list", {"_meta": _OLD_VERSION}, MCP_Protocol_Version="1900-01-01"
    ),
    "no version": _modern("prompts/list", _without("protocolVersion")),
    "no capabilities": _modern("prompts/list", _without("clientCapabilities")),
    "no client info": _modern("prompts/list", _without("clientInfo")),
    "header mismatch": _modern("prompts/list", Mcp_Method="tools/list"),
    "session id": _modern("prompts/list", Mcp_Session_Id="abc"),
    "last event id": _modern("prompts/list", Last_Event_ID="1"),
    "notification": Ask(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
        {**MEDIA, "MCP-Protocol-Version": VERSION},
    ),
}
"""Each is sent on a connection of its own, as the first request there."""

_ECHO: Json = {"name": "echo", "arguments": {"text": "x"}}


def _call_region(region: str, limit: int | None = None, **headers: str) -> Ask:
    arguments = {"region": region, "query": "q"} | ({} if limit is None else {"limit": limit})
    return _modern("tools/call", {"name": "query_region", "arguments": arguments}, **headers)


def _dropping(ask: Ask, *names: str) -> Ask:
    return Ask(ask.message, {k: v for k, v in ask.headers.items() if k not in names})


def _respelled(ask: Ask) -> Ask:
    return Ask(ask.message, {name.lower(): value for name, value in ask.headers.items()})


_SECOND_PAGE = base64.urlsafe_b64encode(b"tools/list@5").decode("ascii")

HEADED: Mapping[str, Ask] = {
    "more tools": _modern("tools/list", {"cursor": _SECOND_PAGE}),
    "no method header": _dropping(_modern("resources/templates/list"), "Mcp-Method"),
    "no version header": _dropping(_modern("resources/templates/list"), "MCP-Protocol-Version"),
    "no name header": _dropping(_modern("tools/call", _ECHO), "Mcp-Name"),
    "name of another": _modern("tools/call", _ECHO, Mcp_Name="add"),
    "name in upper case": _modern("tools/call", _ECHO, Mcp_Name="ECHO"),
    "name encoded": _modern("tools/call", _ECHO, Mcp_Name="=?base64?ZWNobw==?="),
    "name that looks encoded": _modern(
        "tools/call", {"name": "=?base64?x?="}, Mcp_Name="=?base64?PT9iYXNlNjQ/eD89?="
    ),
    "headers in lower case": _respelled(_modern("tools/call", _ECHO)),
    "version of another": _modern("resources/templates/list", MCP_Protocol_Version="1900-01-01"),
    "unknown without method header": _dropping(_modern("nope"), "Mcp-Method"),
    "region": _call_region("eu", 10, Mcp_Param_Region="eu", Mcp_Param_Limit="10"),
    "region mismatch": _call_region("eu", Mcp_Param_Region="us"),
    "region missing": _call_region("eu"),
    "limit as a fraction": _call_region("eu", 1, Mcp_Param_Region="eu", Mcp_Param_Limit="1.0"),
    "limit null": _modern(
        "tools/call",
        {
            "name": "query_region",
            "arguments": {"region": "eu", "query": "q", "limit": None},
        },
        Mcp_Param_Region="eu",
    ),
    "region with control": _call_region("e\x01u", Mcp_Param_Region="e\x01u"),
    "region in loose base64": _call_region("eu", Mcp_Param_Region="=?base64?Z!XU=?="),
    "foreign origin": _modern("resources/templates/list", Origin="https://evil.example"),
    "own origin": _modern("resources/templates/list", Origin="http://localhost"),
    "cookie, unknown method": _modern("nope", Cookie="s=1"),
    "discover with credentials": _modern("server/discover", Authorization="Bearer a"),
}
"""As `MODERN`, for what is in the headers, and the second page of tools."""

WARM: Mapping[str, Ask] = {
    "warm tools": _modern("tools/list"),
    "warm without params": Ask(
        {"jsonrpc": "2.0", "id": 1, "method": "prompts/list"}, modern_headers("prompts/list", {})
    ),
}
"""Sent after a server/discover on the same connection."""

LEGACY: Mapping[str, Json] = {
    "legacy ping": legacy_message("ping"),
    "legacy tools": legacy_message("tools/list"),
    "legacy notification": {"jsonrpc": "2.0", "method": "notifications/progress"},
    "legacy prompts": legacy_message("prompts/list"),
    "legacy call": legacy_message("tools/call", {"name": "echo", "arguments": {"text": "x"}}),
    "legacy unknown method": legacy_message("nope"),
    "legacy read missing": legacy_message("resources/read", {"uri": "reference://nowhere"}),
}
"""Sent in one session; answers of the client to what the server asks are not given."""

PLAIN: Mapping[str, tuple[str, str]] = {
    "get": ("GET", "/mcp"),
    "delete": ("DELETE", "/mcp"),
    "get sse": ("GET", "/sse"),
}
"""HTTP methods and paths without a message."""


async def survey(options: ServerOptions) -> Mapping[str, str]:
    """What the server answers to each request of this module, as comparable text."""
    found: dict[str, str] = {}
    async with serve_http(options) as url:
        if options.era.has_modern:
            for label, ask in {**MODERN, **HEADED}.items():
                async with connect(url) as client:
                    found[label] = await _ask(client, ask)
            for label, ask in WARM.items():
                async with connect(url) as client:
                    await _ask(client, MODERN["discover"])
                    found[label] = await _ask(client, ask)
            for label, (method, path) in PLAIN.items():
                async with connect(url) as client:
                    found[label] = _shown(
                        await client.exchange(method, MEDIA, path=path), ended=True
                    )
        async with connect(url) as client:
            opening = Ask(initialize_message(), MEDIA)
            found["legacy initialize"] = await _ask(client, opening)
        if options.era.has_legacy:
            async with connect(url) as client:
                found["legacy initialize again"] = await _ask(client, opening)
                headers = await open_session(client)
                for label, message in LEGACY.items():
                    found[label] = await _ask(client, Ask(message, {**MEDIA, **headers}))
    return found


async def _ask(client: Client, ask: Ask) -> str:
    """Send, and read to the end; a stream that has answered gets a moment to end."""
    await client.send("POST", ask.headers, json.dumps(ask.message).encode())
    status, headers = await client.head()
    body, ended, answered = b"", False, False
    while not ended:
        with anyio.move_on_after(_QUIET_S if answered else 30) as waiting:
            piece = await client.chunk()
        if waiting.cancelled_caught:
            break
        ended = piece is None
        body += piece or b""
        answered = any(b'"result"' in data or b'"error"' in data for data in events(body))
    return _shown(Answer(status, headers, body), ended=ended)


def _shown(answer: Answer, *, ended: bool) -> str:
    """The answer without what differs from run to run."""
    headers = {
        name: value if name != "mcp-session-id" or len(value) < 10 else "(an id)"
        for name, value in answer.headers.items()
        if name != "content-length"
    }
    body = _VOLATILE.sub('"requestState":"(a state)"', answer.body.decode())
    body = re.sub(r"id: \d+-\d+", "id: (an id)", body)
    return f"{answer.status} {sorted(headers.items())} {'ended' if ended else 'open'}\n{body}"
