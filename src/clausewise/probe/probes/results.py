"""Rules about results and messages (RES-001 to RES-004 and RES-007)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.acquaintance import Pages, ask_pages
from clausewise.probe.conversation.link import Link
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import Turn, passive, probe
from clausewise.probe.subjects.control import failed_control
from clausewise.probe.subjects.grouping import Sighting, once_each
from clausewise.probe.subjects.tour import ALL_CAPABILITIES
from clausewise.probe.wording import named
from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import MessageClass, classify
from clausewise.wire.meta import META_CAPABILITIES
from clausewise.wire.methods import requests

CORE_METHODS = requests(Revision.MODERN)
ASKS_FOR_INPUT = frozenset(name for name, row in CORE_METHODS.items() if row.may_ask_input)
"""The requests that may be answered with `input_required`."""

OFFICIAL_PREFIX = "io.modelcontextprotocol/"
TASKS = f"{OFFICIAL_PREFIX}tasks"

LISTINGS = 2
"""Listings over each connection; with the run's own that makes five."""


@passive("MCP-RES-001")
def result_has_a_type(traffic: Traffic) -> Observation:
    """A result has no `resultType`, or one that is no string.

    Why: clients read `resultType` to learn whether a result is final or asks for input;
    a result without it looks like one of an earlier revision.

    Fix: put `"resultType": "complete"` (or the type that fits) into every result,
    the closing result of `subscriptions/listen` included.
    """
    answered = tuple(_with_result(traffic))
    if not answered:
        return not_observed("no result was seen")
    return once_each((reply.request.method, _typed(reply)) for reply in answered)


def _with_result(traffic: Traffic) -> Iterator[Reply]:
    for reply in traffic.replies:
        if reply.message is not None and "result" in reply.message:
            yield reply


def _typed(reply: Reply) -> Observation:
    if isinstance(reply.fields.get("resultType"), str):
        return held()
    if not isinstance(reply.result, dict):
        seen = f"result is {named(reply.result)}"
    elif "resultType" in reply.fields:
        seen = f"resultType is {named(reply.fields['resultType'])}"
    else:
        seen = "no resultType"
    return broke(
        f"the result of {reply.request.method} does not say its type",
        seen=seen,
        expected='a string in result.resultType, such as "complete"',
        evidence=reply,
    )


@passive("MCP-RES-002")
def result_type_is_defined(traffic: Traffic) -> Observation:
    """A result's `resultType` is no value that the core or an advertised extension defines.

    Why: a client must treat a result of a type it does not know as invalid, so the answer
    is lost.

    Fix: use `complete` or, for `tools/call`, `prompts/get` and `resources/read`,
    `input_required`, spelt exactly so; advertise the extension that defines any other value.
    """
    typed = [r for r in _with_result(traffic) if isinstance(r.fields.get("resultType"), str)]
    if not typed:
        return not_observed("no result with a resultType was seen")
    extensions = traffic.extensions
    return once_each((_type_kind(reply), _defined(reply, extensions)) for reply in typed)


def _type_kind(reply: Reply) -> tuple[str | None, str]:
    return reply.request.method, str(reply.fields["resultType"])


def _defined(reply: Reply, extensions: frozenset[str] | None) -> Observation:
    kind, method = str(reply.fields["resultType"]), reply.request.method
    if kind == "complete":
        return held()
    if kind == "input_required":
        if method in ASKS_FOR_INPUT or method not in CORE_METHODS:
            return held()
        if _declares_input(reply):
            return not_observed("with a capability declared it is CW-MRT-001's question")
        return _undefined(reply, f"only {', '.join(sorted(ASKS_FOR_INPUT))} may ask for input")
    if extensions is None:
        return inconclusive(
            f"resultType {named(kind)}, and no result says which extensions there are"
        )
    if kind == "task":
        return _task(reply, extensions)
    foreign = sorted(name for name in extensions if not name.startswith(OFFICIAL_PREFIX))
    if foreign:
        return inconclusive(
            f"{named(foreign[0])} is advertised and may define resultType {named(kind)}"
        )
    return _undefined(reply, '"complete", or a value of an advertised extension')


def _declares_input(reply: Reply) -> bool:
    """Whether the request declares a capability that lets a server ask for input."""
    meta = (reply.request.params or {}).get("_meta")
    return bool(ALL_CAPABILITIES.keys() & _member(meta, META_CAPABILITIES).keys())


def _task(reply: Reply, extensions: frozenset[str]) -> Observation:
    if TASKS not in extensions:
        return _undefined(reply, f'"task" only where {TASKS} is advertised')
    meta = (reply.request.params or {}).get("_meta")
    declared = _member(_member(meta, META_CAPABILITIES), "extensions")
    if TASKS not in declared:
        return _undefined(reply, f'"task" only where the request declares {TASKS}')
    return held()


def _member(value: Any, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _undefined(reply: Reply, expected: str) -> Observation:
    return broke(
        f"the result of {reply.request.method} has a type that this server may not use here",
        seen=f"resultType {named(reply.fields['resultType'])}",
        expected=expected,
        evidence=reply,
    )


@passive("MCP-RES-003")
def no_request_from_the_server(traffic: Traffic) -> Observation:
    """The server sends a JSON-RPC request of its own to the client.

    Why: a client of this revision has no way to answer it, so the server waits for ever;
    questions to the client travel inside a result.

    Fix: answer the client's request with a result of type `input_required` that holds
    the question in `inputRequests`.
    """
    judged: list[tuple[str, Observation]] = []
    for reply in traffic.replies:
        asked = [event for event in reply.answer.messages if _is_request(event)]
        judged += [(named(event.payload["method"]), _asked(reply, event)) for event in asked]
        if not asked and _could_ask(reply):
            judged.append(("", held()))
    if not judged:
        streams = traffic.transport is TransportKind.HTTP
        return not_observed(f"no {'SSE stream was opened' if streams else 'tool was called'}")
    return once_each(judged)


def _could_ask(reply: Reply) -> bool:
    if reply.transport is TransportKind.HTTP:
        return reply.streamed
    return reply.request.method == "tools/call" and reply.message is not None


def _is_request(event: Event) -> bool:
    # A notification with an id is one all the same: CW-RES-005 judges that.
    return classify(event.payload) is MessageClass.REQUEST


def _asked(reply: Reply, event: Event) -> Observation:
    return broke(
        f"the server sends the request {named(event.payload['method'])} to the client",
        seen=f"a message with a method and id {named(event.payload['id'])} "
        f"in the answer to {reply.request.method}",
        expected="notifications and the response only; questions inside an InputRequiredResult",
        evidence=Sighting(event.seq, reply.reproduce),
    )


@probe("MCP-RES-004")
async def accepted_notification_gets_202(peer: Peer) -> Observation:
    """A notification gets an answer other than an empty 202 (HTTP) or nothing (stdio).

    Why: a notification has no id to answer to; a client that gets a message for it cannot
    tell what the message belongs to, and some close the connection.

    Fix: over HTTP return 202 with no body, or an error status when the notification is not
    accepted; on stdio write nothing.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    params = {"requestId": "clausewise-unknown", "reason": "a probe"}
    reply = await peer.notify("notifications/cancelled", params, rule="MCP-RES-004")
    if peer.transport is TransportKind.HTTP:
        return _accepted(reply)
    return silent(reply, await peer.request("server/discover"))


def _accepted(reply: Reply) -> Observation:
    status = reply.status
    if status is None or 300 <= status < 400:
        return inconclusive(reply.blocked or f"the notification got {reply.shown}")
    if status >= 400:
        return not_observed(f"the server does not accept the notification (HTTP {status})")
    if status == 202 and not reply.answer.body and not reply.answer.messages:
        return held()
    return broke(
        "an accepted notification is not answered with an empty 202",
        seen=f"HTTP {status}, {len(reply.answer.body)} bytes of body",
        expected="HTTP 202 without a body",
        evidence=reply,
    )


def silent(reply: Reply, fence: Reply) -> Observation:
    """Whether nothing answers a notification up to the response of a request sent after it."""
    if fence.message is None:
        return inconclusive(fence.blocked or "no answer to server/discover after the notification")
    for event in (*reply.answer.messages, *fence.answer.messages):
        payload = event.payload
        if isinstance(payload, dict) and "method" not in payload and event != fence.response_event:
            return broke(
                "the server answers a notification",
                seen=f"a response with id {named(payload.get('id'))}",
                expected="nothing: a notification gets no response",
                evidence=Sighting(event.seq, reply.reproduce),
            )
    return held()


@probe("MCP-RES-007", needs=("tools",), turn=Turn.ALONE, beside=True)
async def tools_keep_their_order(peer: Peer) -> Observation:
    """`tools/list` gives the same tools in another order each time.

    Why: clients put the list into the model's prompt; another order makes every prompt
    cache miss and answers harder to reproduce.

    Fix: sort the tools by name or keep them in an ordered collection.
    """
    first = await peer.pages("tools/list")
    if first.blocked is not None:
        return inconclusive(first.blocked)
    if len(_names(first)) < 2:
        return not_applicable(f"the server lists {len(_names(first))} tools; an order needs two")
    listings = [await _listing(peer, None) for _ in range(LISTINGS)]
    async with peer.another() as link:
        listings += [await _listing(peer, link) for _ in range(LISTINGS)]
    return _same_order(first, listings)


async def _listing(peer: Peer, link: Link | None) -> Pages:
    async def ask(method: str, params: Mapping[str, Any] | None) -> Reply:
        if link is None or not link.alive:
            return await peer.request(method, params)
        return await peer.request(method, params, link=link)

    return await ask_pages("tools/list", ask)


def _names(pages: Pages) -> list[str]:
    return [str(item.get("name")) for item in pages.items]


def _same_order(first: Pages, listings: list[Pages]) -> Observation:
    order = _names(first)
    for pages in listings:
        if pages.blocked is not None:
            return inconclusive(pages.blocked)
        if Counter(_names(pages)) != Counter(order):
            return inconclusive("the tools themselves changed between two listings")
    changed = next((pages for pages in listings if _names(pages) != order), None)
    if changed is None:
        return held(len(listings))
    names = _names(changed)
    at = next(i for i, name in enumerate(names) if name != order[i])
    return broke(
        "tools/list gives the same tools in another order",
        seen=f"tool {at + 1} is {named(names[at])} and was {named(order[at])}",
        expected="the same order while the set of tools is the same",
        evidence=changed.replies[0],
    )
