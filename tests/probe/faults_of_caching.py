"""Faults in caching hints; some are odd but right."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.probe.fake_server import Fault, Reply, Request
from tests.probe.fault_making import (
    CACHEABLE,
    CANCELLED,
    FAULTS,
    PROMPT_LIST,
    READ,
    RESOURCE_LIST,
    TEMPLATE_LIST,
    TODAY,
    TOOL_LIST,
    error,
    on,
    result,
    when,
)

for _method in CACHEABLE:
    on(f"no-ttl {_method}", _method, result(ttlMs=...))
    on(f"no-scope {_method}", _method, result(cacheScope=...))


def _later_page(request: Request) -> bool:
    return request.method == TOOL_LIST and "cursor" in request.params


when("no-ttl on page 2", _later_page, result(ttlMs=...))
when("no-scope on page 2", _later_page, result(cacheScope=...))
when("bad-scope on page 2", _later_page, result(cacheScope="shared"))
on("hints-in-meta", PROMPT_LIST, result(ttlMs=..., _meta={"ttlMs": 1}))
on("templates-not-offered", TEMPLATE_LIST, error(-32601, status=404))
on("templates-broken", TEMPLATE_LIST, error(-32603, status=500))
_ASKING: dict[str, Any] = {"ttlMs": ..., "cacheScope": ..., "resultType": "input_required"}
on("read-asks", READ, result(**_ASKING), **TODAY)
on("no-resource-listed", RESOURCE_LIST, result(resources=[]))
for _scope in ("Public", "shared", None, True):
    on(f"scope {_scope!r}", PROMPT_LIST, result(cacheScope=_scope))
for _ttl in (-1, "300000", 1.5, True, None):
    on(f"ttl {_ttl!r}", PROMPT_LIST, result(ttlMs=_ttl))
for _ttl in (0, 300000.0, 10**30):
    on(f"ttl {_ttl!r}", PROMPT_LIST, result(ttlMs=_ttl))
on("ttl 1e3", PROMPT_LIST, lambda r: _spelt(r, b"1e3"))


def _spelt(reply: Reply, number: bytes) -> Reply:
    text = json.dumps(reply.with_result(ttlMs=123456789).response).encode()
    return replace(reply, raw=text.replace(b"123456789", number))


def _by_caller(scope: str, *, changing: bool = False) -> Fault:
    """A tool less on the last page for a caller without credentials, or every other time."""

    def fault(request: Request, reply: Reply) -> Reply:
        if request.method != TOOL_LIST or "result" not in reply.response:
            return reply
        less = request.nth % 4 == 1 if changing else "authorization" not in request.headers
        tools = reply.response["result"]["tools"]
        shown = tools[:-1] if less and "cursor" in request.params else tools
        return reply.with_result(tools=shown, cacheScope=scope)

    return fault


FAULTS["by-caller public"] = _by_caller("public")
FAULTS["by-caller private"] = _by_caller("private")
FAULTS["by-time public"] = _by_caller("public", changing=True)
when(
    "token-wanted",
    lambda r: r.method != CANCELLED and "authorization" not in r.headers,
    lambda _: Reply(status=401, headers=()),
)


def _no_hints(request: Request, reply: Reply) -> Reply:
    return reply.with_result(ttlMs=..., cacheScope=...)


FAULTS["no-hints"] = _no_hints
