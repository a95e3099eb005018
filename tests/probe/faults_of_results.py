"""Faults in results, notifications and streams; some are odd but right."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.probe.fake_server import (
    JSON_TYPE,
    PAGE_SIZE,
    PREFIX,
    SSE_TYPE,
    TOOLS,
    Fault,
    Reply,
    Request,
)
from tests.probe.fault_making import (
    CALL,
    CANCELLED,
    DISCOVER,
    FAULTS,
    LISTEN,
    PROMPT_LIST,
    TOOL_LIST,
    after,
    before,
    body,
    capabilities,
    member,
    notice,
    on,
    result,
    silence,
    status,
    typed,
)

on("no-result-type", PROMPT_LIST, result(resultType=...))
on("result-type-number", PROMPT_LIST, result(resultType=1))
on("result-is-text", CALL, member(result="hello"), name="steps")
on("no-result-type-on-stream", CALL, result(resultType=...), name="steps")
on("no-result-type-when-closing", LISTEN, lambda r: replace(_closed(r, {}), headers=SSE_TYPE))
on("result-type-case", PROMPT_LIST, result(resultType="Complete"))
on("result-type-synonym", CALL, result(resultType="inputRequired"), name="steps")
on("task-not-advertised", CALL, result(resultType="task"), name="steps")
on("input-required-on-list", PROMPT_LIST, result(resultType="input_required"))


def _closed(reply: Reply, extra: dict[str, Any]) -> Reply:
    id_ = reply.messages[0]["params"]["_meta"][PREFIX + "subscriptionId"]
    closing = {"jsonrpc": "2.0", "id": id_, "result": extra}
    return replace(reply, messages=(*reply.messages, closing), stays_open=False)


def _with_extension(name: str, kind: str) -> Fault:
    def fault(request: Request, reply: Reply) -> Reply:
        if request.method == DISCOVER and "result" in reply.response:
            return capabilities(extensions={name: {}})(reply) or reply
        if request.method == CALL and request.params.get("name") == "steps":
            return reply.with_result(resultType=kind)
        return reply

    return fault


FAULTS["task-not-declared"] = _with_extension(PREFIX + "tasks", "task")
FAULTS["unknown-type-other-official"] = _with_extension(PREFIX + "ui", "later")
FAULTS["unknown-type-third-party"] = _with_extension("com.example/later", "later")

# Requests of the server's own
on("request-on-call", CALL, before(notice("sampling/createMessage", "s1")), name="steps")
on("request-with-id-null", CALL, before(notice("ping", None)), name="steps")
on("request-on-listen", LISTEN, after(notice("roots/list", 0)))


def _no_streams(request: Request, reply: Reply) -> Reply:
    if request.method == LISTEN:
        return reply.with_error(-32601, status=404)
    return replace(reply, headers=JSON_TYPE, messages=reply.messages[-1:])


FAULTS["no-streams"] = _no_streams


def _no_tools(request: Request, reply: Reply) -> Reply:
    if request.method == DISCOVER and "result" in reply.response:
        return capabilities(tools=...)(reply) or reply
    return reply


FAULTS["no-tools"] = _no_tools

# Notifications
REFUSAL = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no"}}
on("notification-200", CANCELLED, status(200))
on("notification-204", CANCELLED, status(204))
on("notification-null", CANCELLED, body(b"null", code=202))
on("notification-blank", CANCELLED, body(b" \n", code=202))
on("notification-answered", CANCELLED, lambda _: Reply((REFUSAL,)))
on("notification-answered-202", CANCELLED, lambda _: Reply((REFUSAL,), status=202))
on("notification-silence", CANCELLED, silence)
on("notification-refused", CANCELLED, lambda _: Reply((REFUSAL,), status=400))
on("notification-forbidden", CANCELLED, lambda _: Reply(status=403, headers=()))
on(
    "notification-202-chunked",
    CANCELLED,
    lambda _: Reply(raw=b"0\r\n\r\n", status=202, headers=(("transfer-encoding", "chunked"),)),
)
on("notification-202-typed", CANCELLED, lambda _: Reply(status=202))
on("notification-log", CANCELLED, lambda _: Reply((notice("notifications/message"),)))

# Content types and streams
on("type-html", PROMPT_LIST, typed("text/html"))
on("type-none", PROMPT_LIST, typed(None))
on("type-charset", PROMPT_LIST, typed("Application/JSON; charset=utf-8"))
on("body-array", PROMPT_LIST, lambda r: replace(r, raw=json.dumps([r.response]).encode()))
on("body-twice", PROMPT_LIST, lambda r: replace(r, messages=r.messages * 2))
on("body-empty", PROMPT_LIST, lambda _: Reply(headers=()))
on("error-as-text", "clausewise/content-type", typed("text/plain"))
on(
    "gateway-404",
    "clausewise/content-type",
    body(b"<html>no</html>", "text/html", 404),
)
on("stream-two-responses", CALL, lambda r: replace(r, messages=(r.response,) * 2), name="steps")
on("stream-open", CALL, lambda r: replace(r, stays_open=True), name="steps")
on("stream-more", CALL, after(notice("notifications/message")), name="steps")
on("buffering-absent", CALL, typed("text/event-stream"), name="steps")
on("stream-charset", CALL, lambda r: replace(r, headers=_sse("no", kind="; charset=utf-8")))
on("buffering-yes", CALL, lambda r: replace(r, headers=_sse("yes")), name="steps")
on("buffering-upper", CALL, lambda r: replace(r, headers=_sse("NO")), name="steps")


def _sse(value: str | None, *more: tuple[str, str], kind: str = "") -> tuple[tuple[str, str], ...]:
    buffering = () if value is None else (("X-Accel-Buffering", value),)
    return (("content-type", f"text/event-stream{kind}"), *buffering, *more)


def _behind(header: tuple[str, str], value: str | None) -> Fault:
    def fault(_: Request, reply: Reply) -> Reply:
        return replace(reply, headers=_sse(value, header)) if reply.streams else reply

    return fault


FAULTS["nginx-strips"] = _behind(("server", "nginx/1.25"), None)
FAULTS["via-strips"] = _behind(("via", "1.1 front"), None)
FAULTS["nginx-yes"] = _behind(("server", "nginx/1.25"), "yes")


def _on_listings(change: Callable[[int, list[Any]], list[Any]]) -> Fault:
    """Change the whole list of tools by the number of the listing, then cut it into pages."""
    pages = -(-len(TOOLS) // PAGE_SIZE)

    def fault(request: Request, reply: Reply) -> Reply:
        if request.method != TOOL_LIST or "result" not in reply.response:
            return reply
        start = int(request.params.get("cursor", "0"))
        tools = change(request.nth // pages, list(TOOLS))
        return reply.with_result(tools=tools[start : start + PAGE_SIZE])

    return fault


def _other_pages(request: Request, reply: Reply) -> Reply:
    """Every second listing comes on one page."""
    if request.method != TOOL_LIST or request.nth % 3 or "cursor" in request.params:
        return reply
    return reply.with_result(tools=list(TOOLS), nextCursor=...)


FAULTS["order-other-pages"] = _other_pages
FAULTS["order-reversed"] = _on_listings(lambda nth, tools: tools[:: -1 if nth % 2 else 1])
FAULTS["order-last-only"] = _on_listings(lambda nth, tools: tools[:: -1 if nth == 4 else 1])
FAULTS["order-over-pages"] = _on_listings(
    lambda nth, tools: [tools[0], tools[2], tools[1], tools[3]] if nth % 2 else tools
)
FAULTS["tools-change"] = _on_listings(lambda nth, tools: tools[: 4 if nth < 2 else 3])
FAULTS["one-tool"] = _on_listings(lambda nth, tools: tools[:1])
FAULTS["tools-twice"] = _on_listings(lambda nth, tools: [tools[0], tools[1], tools[0], tools[1]])
