"""What faults of the fake server are made of: changes of a reply, and where they apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.probe.fake_server import (
    VERSION,
    Fault,
    Reply,
    Request,
)

FAULTS: dict[str, Fault] = {}

Change = Callable[[Reply], Reply | None]


def on(name: str, method: str, change: Change, /, **params: Any) -> None:
    """A fault in the answers to one method, or to those of its sound requests with these params."""

    def fault(request: Request, reply: Reply) -> Reply | None:
        fits = request.method == method and params.items() <= request.params.items()
        if params:
            fits = fits and request.meta("protocolVersion") == VERSION
            fits = fits and request.meta("clientCapabilities") is not None
        return change(reply) if fits else reply

    FAULTS[name] = fault


def when(name: str, condition: Callable[[Request], bool], change: Change) -> None:
    """A fault in the answers to the requests that fit the condition."""

    def fault(request: Request, reply: Reply) -> Reply | None:
        return change(reply) if condition(request) else reply

    FAULTS[name] = fault


def result(**members: Any) -> Change:
    """Result members set, or dropped with `...`."""
    return lambda reply: reply.with_result(**members)


def error(code: int, data: Any = None, *, status: int = 400) -> Change:
    """An error instead of the response."""
    return lambda reply: reply.with_error(code, data, status=status)


def status(value: int) -> Change:
    """The same answer with another HTTP status."""
    return lambda reply: replace(reply, status=value)


def typed(value: str | None) -> Change:
    """The same answer with another Content-Type, or none."""
    headers = () if value is None else (("content-type", value),)
    return lambda reply: replace(reply, headers=headers)


def body(data: bytes, kind: str = "application/json", code: int = 200) -> Change:
    """These bytes as the whole answer."""
    return lambda reply: Reply(raw=data, headers=(("content-type", kind),), status=code)


def before(message: Any) -> Change:
    """Another message before the response."""
    return lambda reply: replace(reply, messages=(*reply.messages[:-1], message, reply.response))


def after(message: Any) -> Change:
    """Another message at the end of the stream."""
    return lambda reply: replace(reply, messages=(*reply.messages, message))


def data(**members: Any) -> Change:
    """Members of `error.data` set, or dropped with `...`."""

    def change(reply: Reply) -> Reply:
        response = reply.response
        kept = {**response["error"]["data"], **members}
        response["error"]["data"] = {k: v for k, v in kept.items() if v is not ...}
        return reply.with_response(response)

    return change


def member(**members: Any) -> Change:
    """Members of the response itself set, or dropped with `...`."""

    def change(reply: Reply) -> Reply:
        kept = {**reply.response, **members}
        return reply.with_response({k: v for k, v in kept.items() if v is not ...})

    return change


def capabilities(**members: Any) -> Change:
    """Server capabilities set, or dropped with `...`."""

    def change(reply: Reply) -> Reply:
        if "result" not in reply.response:
            return reply
        kept = {**reply.response["result"]["capabilities"], **members}
        return reply.with_result(capabilities={k: v for k, v in kept.items() if v is not ...})

    return change


def silence(_: Reply) -> None:
    """No answer at all."""


def notice(method: str, id_: Any = ...) -> dict[str, Any]:
    """A message with a method: a notification, or a request if there is an id."""
    message = {"jsonrpc": "2.0", "method": method, "params": {}}
    return message if id_ is ... else {**message, "id": id_}


DISCOVER, TOOL_LIST, PROMPT_LIST = "server/discover", "tools/list", "prompts/list"
RESOURCE_LIST, TEMPLATE_LIST = "resources/list", "resources/templates/list"
READ, CALL, LISTEN = "resources/read", "tools/call", "subscriptions/listen"
CACHEABLE = (DISCOVER, TOOL_LIST, PROMPT_LIST, RESOURCE_LIST, TEMPLATE_LIST, READ)
CANCELLED = "notifications/cancelled"
TODAY = {"uri": "file:///notes/today.txt"}
