"""The features that a conversation goes through, each a function that gives turns."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from bench.conversation import (
    Message,
    Sent,
    Turn,
    Voice,
    answered,
    by_client,
    by_server,
    failed,
    notice,
)
from clausewise.wire.codes import ErrorCode

Feature = Callable[[Voice], Iterator[Turn]]

_UNKNOWN = int(ErrorCode.INVALID_PARAMS)
_TOOLS = 6
_STRUCTURED = 0
"""The number of the tool with structured results."""
_BYTES = base64.b64encode(bytes(range(256))).decode()
_ROWS = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
                "required": ["id", "name"],
            },
        }
    },
    "required": ["rows"],
}
_FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "minLength": 1},
        "size": {"type": "string", "enum": ["small", "large"]},
        "count": {"type": "integer", "minimum": 0},
    },
    "required": ["name"],
}


def _text_block(voice: Voice, mean: int) -> Message:
    return {"type": "text", "text": voice.text(mean)}


def _tool(number: int) -> Message:
    tool: Message = {
        "name": f"read_file_{number}",
        "title": f"Read file {number}",
        "description": Voice(Random(number)).text(80),  # noqa: S311 - the same each time
        "inputSchema": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "where the file is"},
                "limit": {"type": "integer", "minimum": 1},
            },
            "required": ["path"],
        },
        "annotations": {"readOnlyHint": True},
    }
    if number == _STRUCTURED:
        tool["outputSchema"] = _ROWS
    return tool


def list_tools(voice: Voice) -> Iterator[Turn]:
    """The tools, on two pages."""
    half = _TOOLS // 2
    first = [_tool(number) for number in range(half)]
    second = [_tool(number) for number in range(half, _TOOLS)]
    cursor = base64.b64encode(voice.random.randbytes(9)).decode()
    yield voice.call("tools/list", {"tools": first, "nextCursor": cursor})
    yield voice.call("tools/list", {"tools": second}, cursor=cursor)


def call_tool(voice: Voice) -> Iterator[Turn]:
    """A call, with text or structured content as its result."""
    if voice.chance(0.35):
        rows = {"rows": voice.records(voice.random.randrange(1, 7))}
        # As Python's json module writes it, and as JavaScript does.
        separators = (", ", ": ") if voice.chance(0.5) else (",", ":")
        blocks = [{"type": "text", "text": json.dumps(rows, separators=separators)}]
        yield _called(voice, _STRUCTURED, {"content": blocks, "structuredContent": rows})
        return
    blocks = [_text_block(voice, 950)]
    result: Message = {"content": blocks}
    if voice.chance(0.1):
        result["isError"] = True
    elif voice.chance(0.1):
        blocks.append(_embedded(voice))
    elif voice.chance(0.1):
        blocks.append({"type": "resource_link", "uri": "file:///a/b.txt", "name": "b"})
    yield _called(voice, voice.random.randrange(_STRUCTURED + 1, _TOOLS), result)


def _called(voice: Voice, number: int, result: Message) -> Turn:
    arguments = {
        "path": "/srv/data/report.md",
        "range": {"from": 1, "to": voice.random.randrange(2, 900)},
        "options": {"encoding": "utf-8", "follow": True, "limit": 500},
        "content": voice.text(450),
    }
    meta = {"com.example/trace-id": f"{voice.random.getrandbits(64):016x}"}
    return voice.call(
        "tools/call", result, name=f"read_file_{number}", arguments=arguments, _meta=meta
    )


def _embedded(voice: Voice) -> Message:
    return {
        "type": "resource",
        "resource": {"uri": "note://daily/7", "mimeType": "text/plain", "text": voice.text(300)},
    }


def call_slow_tool(voice: Voice) -> Iterator[Turn]:
    """A call with progress and log messages on the way."""
    token = voice.random.getrandbits(40)
    asked = voice.request(
        "tools/call",
        name="read_file_1",
        arguments={"path": "/srv/big"},
        _meta={"progressToken": token, "com.example/trace-id": "8f3a"},
    )
    between: list[Sent] = []
    for step in range(1, voice.random.randrange(2, 6)):
        done = {"progressToken": token, "progress": step, "total": 5, "message": voice.text(120)}
        between.append(by_server(notice("notifications/progress", **done)))
        if voice.chance(0.4):
            said = {
                "level": "info",
                "logger": "files",
                "data": {"note": voice.text(200), "rows": voice.records(2)},
            }
            between.append(by_server(notice("notifications/message", **said)))
    yield Turn(asked, tuple(between), answered(asked, {"content": [_text_block(voice, 900)]}))


def call_unknown_tool(voice: Voice) -> Iterator[Turn]:
    """A call that the server refuses."""
    yield voice.refused("tools/call", _UNKNOWN, name="no_such_tool", arguments={})


def call_tool_as_task(voice: Voice) -> Iterator[Turn]:
    """A task: made, asked for, fetched; another one cancelled; the list of them."""
    task = f"task-{voice.random.getrandbits(60):x}"
    arguments = {"path": "/srv/slow"}
    yield voice.call(
        "tools/call",
        {"task": _task(task, "working")},
        name="read_file_2",
        arguments=arguments,
        task={"ttl": 60000},
    )
    yield voice.call("tasks/get", _task(task, "working"), taskId=task)
    yield Turn(None, (by_server(notice("notifications/tasks/status", **_task(task, "completed"))),))
    related = {"io.modelcontextprotocol/related-task": {"taskId": task}}
    result = {"content": [_text_block(voice, 500)], "_meta": related}
    yield voice.call("tasks/result", result, taskId=task)
    yield voice.call("tasks/list", {"tasks": [_task(task, "completed")]})
    other = f"task-{voice.random.getrandbits(60):x}"
    yield voice.call(
        "tools/call",
        {"task": _task(other, "working")},
        name="read_file_3",
        arguments=arguments,
        task={"ttl": 60000},
    )
    yield voice.call("tasks/cancel", _task(other, "cancelled"), taskId=other)


def _task(task_id: str, status: str) -> Message:
    moment = "2026-01-05T10:30:00Z"
    times = {"createdAt": moment, "lastUpdatedAt": moment}
    return {"taskId": task_id, "status": status, **times, "ttl": 60000, "pollInterval": 500}


def cancel_tool(voice: Voice) -> Iterator[Turn]:
    """A call that is cancelled and never answered."""
    asked = voice.request("tools/call", name="read_file_4", arguments={"path": "/srv/huge"})
    yield Turn(asked)
    yield Turn(notice("notifications/cancelled", requestId=asked["id"], reason=voice.text(40)))


def read_resources(voice: Voice) -> Iterator[Turn]:
    """Resources and templates are listed, one is read, an unknown one refused."""
    entries = [
        {"uri": f"note://daily/{n}", "name": f"day {n}", "mimeType": "text/plain"} for n in range(5)
    ]
    yield voice.call("resources/list", {"resources": entries})
    template = {"uriTemplate": "note://daily/{day}", "name": "a day"}
    yield voice.call("resources/templates/list", {"resourceTemplates": [template]})
    text = {"uri": "note://daily/1", "mimeType": "text/plain", "text": voice.text(900)}
    blob = {"uri": "note://daily/2", "mimeType": "image/png", "blob": _BYTES}
    yield voice.call("resources/read", {"contents": [text, blob]}, uri="note://daily/1")
    yield voice.refused("resources/read", -32002, uri="note://daily/999")


def follow_resource(voice: Voice) -> Iterator[Turn]:
    """A subscription, an update, and its end."""
    yield voice.call("resources/subscribe", {}, uri="note://daily/3")
    updated = notice("notifications/resources/updated", uri="note://daily/3")
    listed = notice("notifications/resources/list_changed")
    yield Turn(None, (by_server(updated), by_server(listed)))
    yield voice.call("resources/unsubscribe", {}, uri="note://daily/3")


def use_prompts(voice: Voice) -> Iterator[Turn]:
    """Prompts are listed, an argument completed, a prompt fetched with every kind of content."""
    arguments = [{"name": "topic", "required": True}, {"name": "tone"}]
    prompts = [{"name": "summary", "description": voice.text(80), "arguments": arguments}]
    yield voice.call("prompts/list", {"prompts": prompts})
    argument = {"name": "topic", "value": "w"}
    values = {"values": ["weather", "work"], "total": 2, "hasMore": False}
    reference = {"type": "ref/prompt", "name": "summary"}
    yield voice.call(
        "completion/complete", {"completion": values}, ref=reference, argument=argument
    )
    blocks = [
        _text_block(voice, 400),
        {"type": "image", "data": _BYTES, "mimeType": "image/png"},
        {"type": "audio", "data": _BYTES, "mimeType": "audio/wav"},
        _embedded(voice),
    ]
    messages = [{"role": "user", "content": block} for block in blocks]
    got = {"description": voice.text(60), "messages": messages}
    yield voice.call("prompts/get", got, name="summary", arguments={"topic": "weather"})
    yield voice.refused("prompts/get", _UNKNOWN, name="summary", arguments={})
    yield Turn(None, (by_server(notice("notifications/prompts/list_changed")),))


def set_logging(voice: Voice) -> Iterator[Turn]:
    """A log level is set, and a log message comes."""
    yield voice.call("logging/setLevel", {}, level="info")
    said = {"level": "warning", "data": voice.text(200)}
    yield Turn(None, (by_server(notice("notifications/message", **said)),))


def ping(voice: Voice) -> Iterator[Turn]:
    """Each side pings the other."""
    yield voice.call("ping", {})
    yield Turn(None, voice.exchange("ping", {}))


def use_client_features(voice: Voice) -> Iterator[Turn]:
    """A tool call in which the server samples, elicits and asks for the roots."""
    asked = voice.request("tools/call", name="read_file_5", arguments={"path": "/srv/ask"})
    root = {"uri": "file:///srv/project", "name": "project"}
    between = (
        *voice.exchange("roots/list", {"roots": [root]}),
        *_sample(voice),
        *_sample_with_tools(voice),
        *_elicit(voice),
    )
    yield Turn(asked, between, answered(asked, {"content": [_text_block(voice, 300)]}))
    yield Turn(notice("notifications/roots/list_changed"))


def _sample(voice: Voice) -> tuple[Sent, ...]:
    said = {"role": "user", "content": _text_block(voice, 300)}
    result = {"role": "assistant", "content": _text_block(voice, 300), "model": "m-1"}
    return voice.exchange(
        "sampling/createMessage",
        {**result, "stopReason": "endTurn"},
        messages=[said],
        maxTokens=200,
    )


def _sample_with_tools(voice: Voice) -> tuple[Sent, ...]:
    tool = {"name": "look_up", "inputSchema": {"type": "object"}}
    question = {"role": "user", "content": _text_block(voice, 200)}
    use = {"type": "tool_use", "id": "use-1", "name": "look_up", "input": {"word": "x"}}
    result = {"type": "tool_result", "toolUseId": "use-1", "content": [_text_block(voice, 200)]}
    turns: list[Message] = [
        question,
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [result]},
    ]
    sent: list[Sent] = []
    for mode, messages in (("required", turns[:1]), ("none", turns)):
        reply: Any = [use] if mode == "required" else _text_block(voice, 200)
        stop = "toolUse" if mode == "required" else "endTurn"
        sent += voice.exchange(
            "sampling/createMessage",
            {"role": "assistant", "content": reply, "model": "m-1", "stopReason": stop},
            messages=messages,
            maxTokens=200,
            tools=[tool],
            toolChoice={"mode": mode},
        )
    return tuple(sent)


def _elicit(voice: Voice) -> tuple[Sent, ...]:
    form = voice.exchange(
        "elicitation/create",
        {"action": "accept", "content": {"name": "x", "size": "large", "count": 3}},
        message=voice.text(80),
        requestedSchema=_FORM,
    )
    number = f"e-{voice.random.getrandbits(60):x}"
    url = voice.exchange(
        "elicitation/create",
        {"action": "accept"},
        mode="url",
        message=voice.text(80),
        url="https://example.com/connect?state=1",
        elicitationId=number,
    )
    complete = notice("notifications/elicitation/complete", elicitationId=number)
    return (*form, *url, by_server(complete))


def require_url(voice: Voice) -> Iterator[Turn]:
    """A call that is refused until the user has opened a URL."""
    asked = voice.request("tools/call", name="read_file_1", arguments={"path": "/srv/private"})
    error = failed(asked, -32042, "open the page first")
    elicitation = {
        "mode": "url",
        "message": voice.text(60),
        "url": "https://example.com/login",
        "elicitationId": f"e-{voice.random.getrandbits(60):x}",
    }
    error["error"]["data"] = {"elicitations": [elicitation]}
    yield Turn(asked, (), error)


def refuse_sampling(voice: Voice) -> Iterator[Turn]:
    """A server's request that the client's user refuses."""
    said = {"role": "user", "content": _text_block(voice, 100)}
    asked = voice.server_request("sampling/createMessage", messages=[said], maxTokens=100)
    refusal = failed(asked, -1, "User rejected sampling request")
    yield Turn(None, (by_server(asked), by_client(refusal)))


def announce_tools(voice: Voice) -> Iterator[Turn]:
    """The tools change and are listed anew."""
    yield Turn(None, (by_server(notice("notifications/tools/list_changed")),))
    yield from list_tools(voice)


FEATURES: tuple[tuple[Feature, int], ...] = (
    (call_tool, 60),
    (call_slow_tool, 14),
    (read_resources, 5),
    (use_prompts, 4),
    (use_client_features, 3),
    (list_tools, 3),
    (ping, 2),
    (set_logging, 2),
    (follow_resource, 2),
    (call_tool_as_task, 1),
    (cancel_tool, 1),
    (call_unknown_tool, 1),
    (require_url, 1),
    (refuse_sampling, 1),
    (announce_tools, 1),
)
"""Each feature with how often it comes up in a conversation, in parts of about 100."""
