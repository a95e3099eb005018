"""Our rules about the id of a response: the request's, type included (CW-RES-001, CW-ERR-001)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from clausewise.core.vocabulary import Outcome, TransportKind
from clausewise.probe.acquaintance import LIST_MEMBERS
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_observed,
)
from clausewise.probe.probes.errors import NO_SUCH_METHOD, NO_SUCH_VERSION
from clausewise.probe.registration import probe
from clausewise.probe.subjects.control import failed_control
from clausewise.probe.subjects.grouping import Sighting, once_each
from clausewise.probe.subjects.named_requests import UNKNOWN_CALL
from clausewise.probe.subjects.tour import tour
from clausewise.probe.wording import named
from clausewise.trace.events import Event

_UNUSUAL_IDS = ("clausewise-1", "1", "", 0, -1, 2**53 - 1)
"""Strings, one of which looks like a number; integers that are false, negative and large."""

_PATIENCE_S = 3.0
"""How long an answer may take that the server may never send, for want of the id."""

_NO_RESOURCE = "clausewise-nonexistent://8f3a"


@probe("CW-RES-001", impact="calls")
async def result_carries_the_id_of_its_request(peer: Peer) -> Observation:
    """A result carries another id than its request, or the id with another type.

    Why: the client finds the request that a result belongs to by its id alone; `1` and
    `"1"` are different ids.

    Fix: keep the id as it came and send it back unchanged: string or number, zero included.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    judged: list[tuple[Hashable, Observation]] = []
    for value in _UNUSUAL_IDS:
        seconds = min(_PATIENCE_S, peer.answer_s)
        reply = await peer.request("server/discover", id=value, timeout_s=seconds)
        judged.append((type(value).__name__, _echoed(reply, "result")))
    others = [visit.reply for visit in await tour(peer)]
    others += [(await peer.pages(method)).replies[0] for method in _lists(peer)]
    judged += [
        (type(reply.id).__name__, seen)
        for reply in others
        if _is_told(seen := _echoed(reply, "result"))
    ]
    return once_each(judged)


def _lists(peer: Peer) -> list[str]:
    return [method for method in LIST_MEMBERS if peer.offers(method.partition("/")[0])]


def _is_told(seen: Observation) -> bool:
    """Whether the answer was the kind that has an id to compare."""
    return bool(seen.faults) or seen.outcome is Outcome.PASS


@probe("CW-ERR-001")
async def error_carries_the_id_of_its_request(peer: Peer) -> Observation:
    """An error carries no id, or another one than its request.

    Why: without the id the client cannot tell which of its requests failed, and waits for
    ever.

    Fix: copy the id of every readable request into the error that answers it, with its type.
    """
    failure = await failed_control(peer)
    if failure is not None:
        return inconclusive(failure)
    control = await peer.request(NO_SUCH_METHOD, rule="CW-ERR-001")
    if _echoed(control, "error").faults:
        return not_observed("the error for an unknown method lacks the id: MCP-ERR-002's finding")
    judged = [("error", _echoed(reply, "error")) for reply in await _refused(peer)]
    # An HTTP layer or a gateway may have refused some of them without JSON-RPC.
    decided = [pair for pair in judged if pair[1].outcome is not Outcome.INCONCLUSIVE]
    return once_each(decided or judged)


async def _refused(peer: Peer) -> list[Reply]:
    """Answers to requests that can be read and must be refused, each for another reason."""
    asked: list[tuple[str, Mapping[str, Any] | None]] = [(NO_SUCH_METHOD, None)]
    if peer.offers("tools"):
        asked += [(UNKNOWN_CALL.method, UNKNOWN_CALL.params)]
    if peer.offers("prompts"):
        asked += [("prompts/get", {"name": "clausewise_no_such_prompt"})]
    if peer.offers("resources"):
        asked += [("resources/read", {"uri": _NO_RESOURCE})]
    if peer.offers("completions"):
        reference = {"type": "ref/prompt", "name": "clausewise_no_such_prompt"}
        asked += [
            ("completion/complete", {"ref": reference, "argument": {"name": "a", "value": ""}})
        ]
    asked += [(method, {"cursor": "clausewise-no-cursor"}) for method in _lists(peer)]
    replies = [
        await peer.request(method, params, id=f"clausewise-e{number}", rule="CW-ERR-001")
        for number, (method, params) in enumerate(asked)
    ]
    replies.append(await peer.request(NO_SUCH_METHOD, id=0, rule="CW-ERR-001"))
    replies.append(
        await peer.request(
            "server/discover", version=NO_SUCH_VERSION, id="clausewise-ev", rule="CW-ERR-001"
        )
    )
    if peer.transport is TransportKind.HTTP:
        headers = {"Mcp-Method": None}
        replies.append(
            await peer.request(
                "server/discover", headers=headers, id="clausewise-eh", rule="CW-ERR-001"
            )
        )
    return replies


def _echoed(reply: Reply, member: str) -> Observation:
    """Judge the id of the response that has `member`: `result` or `error`."""
    event = reply.response_event
    if event is not None and member in event.payload:
        return held()
    if event is not None:
        return not_observed(f"id {named(reply.id)} got {reply.shown}")
    stray = next((e for e in reply.answer.messages if _is_response_with(e, member)), None)
    if stray is None:
        return inconclusive(reply.blocked or f"id {named(reply.id)} got {reply.shown}")
    seen = (
        f"id {named(stray.payload['id'])}" if "id" in stray.payload else f"an {member} without id"
    )
    return broke(
        f"the {member} for {reply.request.method} does not carry the id of its request",
        seen=seen,
        expected=f"id {named(reply.id)}",
        evidence=Sighting(stray.seq, reply.reproduce),
    )


def _is_response_with(event: Event, member: str) -> bool:
    payload = event.payload
    return isinstance(payload, dict) and "method" not in payload and member in payload
