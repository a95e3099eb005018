"""Our rules about when a server may ask for input (CW-MRT-001 to 003, CW-ELI-001, CW-SMP-001)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_observed,
)
from clausewise.probe.offered import completable_argument
from clausewise.probe.probes.client_capabilities import KINDS
from clausewise.probe.registration import passive, probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.tour import (
    ALL_CAPABILITIES,
    INPUT_REQUIRED,
    Visit,
    input_requests,
    tour,
)
from clausewise.probe.wording import named

ELICIT, SAMPLE = "elicitation/create", "sampling/createMessage"
FORM, URL = "form", "url"
_LISTS = (
    ("tools", "tools/list"),
    ("prompts", "prompts/list"),
    ("resources", "resources/list"),
    ("resources", "resources/templates/list"),
)
_MAX_ASKING = 3
_NOBODY_ASKS = "no tool, prompt or resource that may be asked for asks the client for input"
_ALWAYS = "the server asks clients without any capability, too: MCP-ERR-007's finding"


@passive("CW-MRT-002")
def input_is_asked_for_with_something(traffic: Traffic) -> Observation:
    """A result asks for input and holds neither `inputRequests` nor `requestState`.

    Why: the client has nothing to answer and nothing to send back; it can only ask the same
    again and again.

    Fix: put the questions into `inputRequests`, or what is to come back into `requestState`.
    """
    asking = [r for r in traffic.results if r.fields.get("resultType") == INPUT_REQUIRED]
    if not asking:
        return not_observed("no result asked for input")
    return once_each((reply.request.method, _asks_something(reply)) for reply in asking)


def _asks_something(reply: Reply) -> Observation:
    if "inputRequests" in reply.fields or "requestState" in reply.fields:
        return held()
    return broke(
        f"the result of {reply.request.method} asks for input without saying for which",
        seen="neither inputRequests nor requestState",
        expected="at least one of them",
        evidence=reply,
    )


@probe("CW-MRT-001")
async def other_requests_do_not_ask(peer: Peer) -> Observation:
    """A request other than `tools/call`, `prompts/get` and `resources/read` asks for input.

    Why: clients expect a question in answer to these three only; of a list that asks for
    input they read nothing.

    Fix: answer lists, `server/discover` and `completion/complete` without the client's help.
    """
    parts = []
    async for method, params in _requests_that_may_not_ask(peer):
        reply = await peer.request(method, params, capabilities=ALL_CAPABILITIES)
        parts.append(await _does_not_ask(peer, reply, params))
    return merged(parts)


async def _requests_that_may_not_ask(
    peer: Peer,
) -> AsyncIterator[tuple[str, Mapping[str, Any] | None]]:
    yield "server/discover", None
    for capability, method in _LISTS:
        if peer.offers(capability):
            yield method, None
    if peer.offers("completions") and peer.offers("prompts"):
        found = completable_argument((await peer.pages("prompts/list")).items)
        if found is not None:
            prompt, argument = found
            reference = {"type": "ref/prompt", "name": prompt}
            yield (
                "completion/complete",
                {
                    "ref": reference,
                    "argument": {"name": argument, "value": ""},
                },
            )


async def _does_not_ask(peer: Peer, reply: Reply, params: Mapping[str, Any] | None) -> Observation:
    method = str(reply.request.method)
    if reply.message is None:
        return inconclusive(reply.blocked or f"{method} got {reply.shown}")
    if reply.fields.get("resultType") != INPUT_REQUIRED:
        return held() if reply.succeeded else not_observed(f"{method} got {reply.shown}")
    bare = await peer.request(method, params)
    if bare.fields.get("resultType") == INPUT_REQUIRED:
        return not_observed(f"{method} always asks for input: MCP-RES-002's finding")
    return broke(
        f"{method} asks for input from a client that can give it",
        seen=f"resultType {named(INPUT_REQUIRED)}",
        expected="the result: only tools/call, prompts/get and resources/read may ask",
        evidence=reply,
    )


@probe("CW-MRT-003", impact="calls")
async def undeclared_input_is_not_asked_for(peer: Peer) -> Observation:
    """The server asks for a kind of input that the client did not declare, having declared others.

    Why: the client cannot answer; a user would be shown a question that leads nowhere.

    Fix: look at the capability that each input request needs, not at whether there is any.
    """

    async def judge(visit: Visit) -> Observation:
        kinds = frozenset(KINDS[method] for method in asked(visit.reply) if method in KINDS)
        return merged([await _without(peer, visit, kind) for kind in sorted(kinds)])

    return await _each_asking(peer, lambda reply: bool(asked(reply)), judge)


async def _without(peer: Peer, visit: Visit, kind: str) -> Observation:
    others = _all_but(kind)
    reply = await _ask(peer, visit, others)
    methods = [method for method in asked(reply) if KINDS.get(method) == kind]
    if not methods:
        return _unasked(reply)
    return broke(
        f"the server asks for {kind}, which the client did not declare",
        seen=f"an input request {methods[0]} to a client with {', '.join(others)}",
        expected=f"no input request that needs {kind}",
        evidence=reply,
    )


@probe("CW-ELI-001", impact="calls")
async def undeclared_mode_is_not_used(peer: Peer) -> Observation:
    """The server elicits in a mode that the client did not declare.

    Why: a client without URL mode cannot open the page, one without form mode cannot show
    the form.

    Fix: look for `elicitation.form` and `elicitation.url`; an empty `elicitation` means forms.
    """

    async def judge(visit: Visit) -> Observation:
        if ELICIT in asked(await _ask(peer, visit, _all_but("elicitation"))):
            return not_observed("it elicits without any elicitation: CW-MRT-003's finding")
        return merged([await _mode(peer, visit, mode) for mode in sorted(modes(visit.reply))])

    return await _each_asking(peer, lambda reply: bool(modes(reply)), judge)


async def _mode(peer: Peer, visit: Visit, mode: str) -> Observation:
    declared: dict[str, Any] = {"url": {}} if mode == FORM else {"form": {}}
    reply = await _ask(peer, visit, {**_all_but("elicitation"), "elicitation": declared})
    if mode not in modes(reply):
        return _unasked(reply)
    return broke(
        f"the server elicits in {mode} mode, which the client did not declare",
        seen=f"an elicitation in {mode} mode to a client with elicitation {named_keys(declared)}",
        expected=f"elicitation in {named_keys(declared)} mode, or error -32021",
        evidence=reply,
    )


@probe("CW-SMP-001", impact="calls")
async def undeclared_tools_are_not_sampled_with(peer: Peer) -> Observation:
    """The server wants sampling with tools of a client that did not declare `sampling.tools`.

    Why: the client cannot let its model call tools, and refuses or ignores them.

    Fix: send `tools` and `toolChoice` only where the request declares `sampling.tools`.
    """

    async def judge(visit: Visit) -> Observation:
        if SAMPLE in asked(await _ask(peer, visit, _all_but("sampling"))):
            return not_observed("it samples without any sampling: CW-MRT-003's finding")
        reply = await _ask(peer, visit, {**ALL_CAPABILITIES, "sampling": {}})
        if not _samples_with_tools(reply):
            return _unasked(reply)
        return broke(
            "the server wants sampling with tools, which the client did not declare",
            seen="an input request with tools or toolChoice to a client with sampling {}",
            expected="sampling without tools, or error -32021",
            evidence=reply,
        )

    return await _each_asking(peer, _samples_with_tools, judge)


async def _each_asking(
    peer: Peer, asks: Callable[[Reply], bool], judge: Callable[[Visit], Awaitable[Observation]]
) -> Observation:
    """Judge one of the harmless requests whose answers ask as `asks` says, if there is one."""
    visits = [visit for visit in await tour(peer) if asks(visit.reply)]
    if not visits:
        return not_observed(_NOBODY_ASKS)
    parts: list[Observation] = []
    for visit in visits[:_MAX_ASKING]:
        if asks(await _ask(peer, visit, {})):
            parts.append(not_observed(_ALWAYS))
        else:
            parts.append(await judge(visit))
    return once_each((tuple(f.message for f in part.faults), part) for part in parts)


async def _ask(peer: Peer, visit: Visit, capabilities: Mapping[str, Any]) -> Reply:
    request = visit.request
    return await peer.request(
        request.method,
        request.params,
        capabilities=capabilities,
        timeout_s=peer.tool_s,
    )


def _unasked(reply: Reply) -> Observation:
    if reply.message is None:
        return inconclusive(reply.blocked or f"{reply.request.method} got {reply.shown}")
    return held()


def _all_but(kind: str) -> dict[str, Any]:
    return {name: value for name, value in ALL_CAPABILITIES.items() if name != kind}


def asked(reply: Reply) -> list[str]:
    """The methods of the input requests in an answer."""
    methods = (request.get("method") for request in input_requests(reply).values())
    return [method for method in methods if isinstance(method, str)]


def modes(reply: Reply) -> frozenset[str]:
    """The modes of the elicitations in an answer that the revision defines."""
    found: list[Any] = []
    for request in input_requests(reply).values():
        params = request.get("params")
        if request.get("method") != ELICIT or not isinstance(params, dict):
            continue
        if not is_url_without_mode(params):
            found.append(params.get("mode", FORM))
    return frozenset(mode for mode in (FORM, URL) if mode in found)


def _samples_with_tools(reply: Reply) -> bool:
    for request in input_requests(reply).values():
        params = request.get("params")
        if request.get("method") == SAMPLE and isinstance(params, dict):
            return "tools" in params or "toolChoice" in params
    return False


def is_url_without_mode(params: Mapping[str, Any]) -> bool:
    """Whether an elicitation is meant for a URL and only fails to say so."""
    is_form = "mode" in params or "requestedSchema" in params
    return "url" in params and not is_form


def named_keys(members: Mapping[str, Any]) -> str:
    """The keys, for findings."""
    return " and ".join(members)
