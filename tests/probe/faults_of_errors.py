"""Faults in errors that are owed, and in their codes; some are odd but right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.probe.fake_server import JSON_TYPE, PREFIX, SSE_TYPE, Reply, Request
from tests.probe.fault_making import (
    CALL,
    DISCOVER,
    FAULTS,
    LISTEN,
    READ,
    TEMPLATE_LIST,
    TODAY,
    Change,
    body,
    capabilities,
    data,
    error,
    member,
    on,
    silence,
    status,
    when,
)


def _old(request: Request) -> bool:
    return bool(request.meta("protocolVersion") == "1900-01-01")


def _success(reply: Reply) -> Reply:
    served = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    members = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
    response = {"jsonrpc": "2.0", "id": reply.response.get("id"), "result": served | members}
    return Reply((response,))


when("old-version-served", _old, _success)
when("old-version-32602", _old, error(-32602))
when("old-version-rc-code", _old, error(-32004, {"supported": ["2026-07-28"]}))
when("old-version-status", _old, status(200))
when("old-version-no-data", _old, error(-32022))
when("old-version-empty", _old, data(supported=[]))
when("old-version-mixed", _old, data(supported=["2026-07-28", 1]))
when("old-version-misnamed", _old, data(supported=..., supportedVersions=["2026-07-28"]))
when("old-version-unrequested", _old, data(requested=...))
when("old-version-wrong-requested", _old, data(requested="2026-07-28"))
when("old-version-lists-legacy", _old, data(supported=["2026-07-28", "2025-11-25"]))
when("old-version-disagrees", _old, data(supported=["2026-07-28", "2027-01-01"]))
when("old-version-401", _old, lambda _: Reply(status=401, headers=()))
when("old-version-silence", _old, silence)

UNKNOWN = "clausewise/does-not-exist"
on("unknown-method-200", UNKNOWN, status(200))
on("unknown-method-400", UNKNOWN, status(400))
on("unknown-method-stream", UNKNOWN, lambda r: replace(r, headers=SSE_TYPE, status=200))
on("unknown-method-code", UNKNOWN, error(-32600, status=404))
on("unknown-method-served", UNKNOWN, _success)
on("unknown-method-501", UNKNOWN, body(b"", code=501))
on("unknown-method-500", UNKNOWN, body(b"", code=500))
on("unknown-method-bare-404", UNKNOWN, body(b"<html>", "text/html", 404))
on("unknown-method-text-id", UNKNOWN, lambda r: member(id=str(r.response["id"]))(r))
on("unknown-method-null-id", UNKNOWN, member(id=None))


def _missing(request: Request) -> bool:
    return request.method == READ and request.params.get("uri") != TODAY["uri"]


def _contents(reply: Reply, contents: list[Any]) -> Reply:
    return _success(reply).with_result(contents=contents)


when("missing-32002", _missing, error(-32002, status=200))
when("missing-32603", _missing, error(-32603, status=200))
when("missing-404", _missing, status(404))
when("missing-empty", _missing, lambda r: _contents(r, []))
when("missing-matches", _missing, lambda r: _contents(r, [{"uri": "x:", "text": "y"}]))
when("missing-asks", _missing, lambda r: _success(r).with_result(resultType="input_required"))
when("missing-401", _missing, lambda _: Reply(status=401, headers=()))
when(
    "missing-template",
    lambda r: _missing(r) and str(r.params.get("uri")).startswith("file:"),
    lambda r: _contents(r, [{"uri": "x:", "text": "y"}]),
)
on("no-resources", DISCOVER, capabilities(resources=...))


# Required fields of _meta
def _lacks(*names: str) -> Callable[[Request], bool]:
    fields = {"protocolVersion", "clientCapabilities", "clientInfo"}
    absent = set(names)
    return lambda r: r.method == DISCOVER and {f for f in fields if r.meta(f) is None} == absent


_ALL = ("protocolVersion", "clientCapabilities", "clientInfo")
when("capabilities-optional", _lacks("clientCapabilities"), _success)
when("capabilities-32600", _lacks("clientCapabilities"), error(-32600))
when("capabilities-200", _lacks("clientCapabilities"), status(200))
when("version-optional", _lacks("protocolVersion"), _success)
when("version-mismatch", _lacks("protocolVersion"), error(-32020))
when("meta-optional", _lacks(*_ALL), _success)
when("meta-mismatch", _lacks(*_ALL), error(-32020))
when("meta-silence", _lacks(*_ALL), silence)
when("client-info-required", _lacks("clientInfo"), error(-32602))
when("client-info-401", _lacks("clientInfo"), lambda _: Reply(status=401, headers=()))


# Client capabilities
def _asked_bare(request: Request) -> bool:
    bare = request.meta("clientCapabilities") == {}
    return bool(request.method == CALL and request.params.get("name") == "ask" and bare)


def _question(reply: Reply) -> Reply:
    asked = {"q": {"method": "elicitation/create", "params": {}}}
    return _success(reply).with_result(resultType="input_required", inputRequests=asked)


def _tool_error(text: str) -> Change:
    content = [{"type": "text", "text": text}]
    return lambda reply: _success(reply).with_result(isError=True, content=content)


when("undeclared-array", _asked_bare, data(requiredCapabilities=["elicitation"]))
when("undeclared-missing", _asked_bare, data(requiredCapabilities=...))
when("undeclared-null", _asked_bare, data(requiredCapabilities={"elicitation": None}))
when("undeclared-other", _asked_bare, data(requiredCapabilities={"sampling": {}}))
when("undeclared-empty", _asked_bare, data(requiredCapabilities={}))
when("undeclared-200", _asked_bare, status(200))
when("undeclared-rc-code", _asked_bare, error(-32003))
when("undeclared-32602", _asked_bare, error(-32602))
when("undeclared-asked", _asked_bare, _question)
when("undeclared-is-error", _asked_bare, _tool_error("Client lacks elicitation"))
when("undeclared-own-error", _asked_bare, _tool_error("The moon is full"))
when("undeclared-graceful", _asked_bare, _success)
when("undeclared-429", _asked_bare, lambda _: Reply(status=429, headers=()))
when(
    "undeclared-state-only",
    _asked_bare,
    lambda r: _success(r).with_result(resultType="input_required", requestState="s"),
)
on("nothing-asks", CALL, _success, name="ask")
_EXTENSION: dict[str, Any] = {"requiredCapabilities": {"extensions": {PREFIX + "tasks": {}}}}
on("needs-extension", CALL, error(-32021, _EXTENSION), name="steps")
_DECLARED: dict[str, Any] = {"requiredCapabilities": {"elicitation": {}}}
on("needs-the-declared", CALL, error(-32021, _DECLARED), name="steps")

# Codes that no error may have
on("code-32042", LISTEN, error(-32042))
on("code-32050", LISTEN, error(-32050))
on("code-32099", LISTEN, error(-32099))
on("code-32019", LISTEN, error(-32019))
on("code-32000", LISTEN, error(-32000))
on("code-32100", LISTEN, error(-32100))
on("code-32020", LISTEN, error(-32020))
on("code-32022", LISTEN, error(-32022))
on("unknown-method-code-32020", UNKNOWN, error(-32020))
on("unknown-method-code-32050", UNKNOWN, error(-32050))
on("unknown-method-code-32042", UNKNOWN, error(-32042))
on("unknown-method-code-32000", UNKNOWN, error(-32000))


def _error_on_get(request: Request, reply: Reply) -> Reply:
    text = {"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "not allowed"}}
    return replace(reply, messages=(text,), headers=JSON_TYPE) if reply.status == 405 else reply


FAULTS["error-on-get"] = _error_on_get


def _no_errors(request: Request, reply: Reply) -> Reply:
    return _success(reply) if "error" in reply.response else reply


FAULTS["no-errors"] = _no_errors
on("discover-broken", DISCOVER, error(-32603, status=500))
on("discover-401", DISCOVER, lambda _: Reply(status=401, headers=()))
on("templates-as-rc", TEMPLATE_LIST, error(-32001))
