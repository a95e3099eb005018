"""The rule about requests that need a capability the client did not declare (ERR-007)."""

from __future__ import annotations

from collections.abc import Mapping

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import probe
from clausewise.probe.subjects.tour import ALL_CAPABILITIES, tour
from clausewise.probe.wording import named
from clausewise.wire.codes import ErrorCode

KINDS: Mapping[str, str] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
"""The client capability that each input request needs."""


@probe("MCP-ERR-007", impact="calls")
async def missing_capability_is_named(peer: Peer) -> Observation:
    """A request that needs an undeclared client capability is not refused with -32021.

    Why: a server that relies on a capability the client lacks asks a question nobody can
    answer; with the error the client can say what it would take.

    Fix: answer 400 with error -32021 and `data.requiredCapabilities`, an object like the
    client's own capabilities: `{"elicitation": {}}`.
    """
    tried = 0
    for visit in await tour(peer):
        tried += 1
        call, reply = visit.request, visit.reply
        if reply.code == ErrorCode.MISSING_CLIENT_CAPABILITY:
            return _refusal(reply, frozenset(), declared=frozenset(ALL_CAPABILITIES))
        kinds = _asked_kinds(reply)
        if kinds:
            bare = await peer.request(call.method, call.params, capabilities={})
            return _without_capability(bare, kinds)
    if tried == 0:
        return not_observed("no tool may be called, and there is no prompt or resource to get")
    return not_observed(f"none of {tried} tools, prompts and resources asks the client for input")


def _asked_kinds(reply: Reply) -> frozenset[str]:
    """The client capabilities that the input requests of a result need."""
    asked = reply.fields.get("inputRequests")
    if reply.fields.get("resultType") != "input_required" or not isinstance(asked, dict):
        return frozenset()
    methods = {str(item.get("method")) for item in asked.values() if isinstance(item, dict)}
    return frozenset(capability for method, capability in KINDS.items() if method in methods)


def _without_capability(reply: Reply, kinds: frozenset[str]) -> Observation:
    needed = " and ".join(sorted(kinds))
    if reply.message is None or reply.status in (401, 403, 429):
        return inconclusive(reply.blocked or f"{reply.request.method} got {reply.shown}")
    if reply.code == ErrorCode.MISSING_CLIENT_CAPABILITY:
        return _refusal(reply, kinds, declared=frozenset())
    if reply.error is not None:
        return _wrong(
            reply, f"a request that needs {needed} is refused with another error", reply.shown
        )
    asked = _asked_kinds(reply)
    if asked:
        seen = f"a question that needs {' and '.join(sorted(asked))}"
        return _wrong(reply, "the server asks for input that the client did not declare", seen)
    if reply.fields.get("isError") is True:
        text = str(reply.fields.get("content")).lower()
        if any(kind in text for kind in (*kinds, "capabilit")):
            return _wrong(
                reply, f"a call that needs {needed} fails as a tool error", "isError true"
            )
        return inconclusive("without the capability the tool reports an error of its own")
    if reply.fields.get("resultType") == "input_required":
        return inconclusive("without the capability the result asks for input of no known kind")
    return not_applicable(f"{reply.request.method} does without {needed} when it is not declared")


def _refusal(reply: Reply, kinds: frozenset[str], *, declared: frozenset[str]) -> Observation:
    """Judge the form of an error -32021.

    Args:
        kinds: the capabilities of which at least one has to be named; empty for any.
        declared: the capabilities that the request had, and so cannot be all that is named.
    """
    if reply.transport is TransportKind.HTTP and reply.status != 400:
        return _wrong(reply, "error -32021 has the wrong HTTP status", f"HTTP {reply.status}")
    data = reply.error.get("data") if reply.error is not None else None
    required = data.get("requiredCapabilities") if isinstance(data, dict) else None
    if not isinstance(required, dict):
        seen = f"requiredCapabilities is {named(required)}"
        return _wrong(reply, "error -32021 does not list what is missing as an object", seen)
    odd = next((name for name, value in required.items() if not isinstance(value, dict)), None)
    if odd is not None:
        seen = f"{odd} is {named(required[odd])}"
        return _wrong(reply, "a capability in error -32021 is no object", seen)
    missing = frozenset(required) - declared
    if not missing or (kinds and not missing & kinds):
        seen = f"requiredCapabilities {', '.join(sorted(required)) or 'empty'}"
        return _wrong(reply, "error -32021 does not name the capability that is missing", seen)
    return held()


def _wrong(reply: Reply, message: str, seen: str) -> Observation:
    head = "HTTP 400, " if reply.transport is TransportKind.HTTP else ""
    return broke(
        message,
        seen=seen,
        expected=f"{head}error -32021 with an object of the missing capabilities "
        "in data.requiredCapabilities",
        evidence=reply,
    )
