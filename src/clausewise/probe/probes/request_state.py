"""Our rule about `requestState` that comes back changed (CW-MRT-006)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import Edits
from clausewise.probe.observation import Observation, broke, held, inconclusive, not_observed
from clausewise.probe.registration import probe
from clausewise.probe.subjects.tour import ALL_CAPABILITIES, Visit, input_requests, tour
from clausewise.wire.samples import sample_arguments

_SAMPLED: Mapping[str, Any] = {
    "role": "assistant",
    "content": {"type": "text", "text": "clausewise"},
    "model": "clausewise",
    "stopReason": "endTurn",
}


@probe("CW-MRT-006", impact="calls")
async def changed_state_is_refused(peer: Peer) -> Observation:
    """A retry whose `requestState` was changed is served as if nothing had happened.

    Why: the state passes through the client; where it decides what may be done, whoever
    changes it decides that.

    Fix: sign the state (HMAC) or encrypt it with authentication (AEAD), and refuse a retry
    whose state does not verify.
    """
    for visit in await tour(peer):
        if _state(visit.reply) is not None and _answers(visit.reply) is not None:
            return await _judged(peer, visit)
    return not_observed("no result that asks for input has a requestState and can be answered")


async def _judged(peer: Peer, visit: Visit) -> Observation:
    # Asked anew: a process need not honour the state that another one gave.
    asked = await _send(peer, visit, {})
    state, answers = _state(asked), _answers(asked)
    if state is None or answers is None:
        return inconclusive(f"the request that asked for input now got {asked.shown}")
    control = await _retry(peer, visit, state, answers)
    if not control.succeeded:
        return inconclusive(f"the retry with the state as it came got {control.shown}")
    changed = await _retry(peer, visit, _changed(state), answers, "CW-MRT-006")
    if changed.error is not None or changed.fields.get("isError") is True:
        return held()
    if changed.message is None:
        return inconclusive(changed.blocked or f"the changed retry got {changed.shown}")
    if changed.fields.get("resultType") != control.fields.get("resultType"):
        return held()
    return broke(
        f"{visit.request.method} honours a requestState that was changed",
        seen="the same kind of result as with the state as it came",
        expected="an error, or the question again",
        evidence=changed,
    )


async def _retry(
    peer: Peer,
    visit: Visit,
    state: str,
    answers: Mapping[str, Any],
    rule: str | None = None,
) -> Reply:
    return await _send(peer, visit, {"requestState": state, "inputResponses": dict(answers)}, rule)


async def _send(
    peer: Peer, visit: Visit, more: Mapping[str, Any], rule: str | None = None
) -> Reply:
    params = {**visit.request.params, **more}
    edits: Edits = {"capabilities": ALL_CAPABILITIES, "timeout_s": peer.tool_s}
    if rule is not None:
        edits["rule"] = rule
    return await peer.request(visit.request.method, params, **edits)


def _state(reply: Reply) -> str | None:
    """The state of a result that can be changed: of two characters or more."""
    state = reply.fields.get("requestState")
    return state if isinstance(state, str) and len(state) > 1 else None


def _changed(state: str) -> str:
    """The state with one character in the middle replaced by another of its kind."""
    at = len(state) // 2
    other = "B" if state[at] != "B" else "C"
    return state[:at] + other + state[at + 1 :]


def _answers(reply: Reply) -> dict[str, Any] | None:
    """An answer to each input request of a result; None where one cannot be made up."""
    answers = {key: _answer(request) for key, request in input_requests(reply).items()}
    return None if None in answers.values() else answers


def _answer(request: Mapping[str, Any]) -> Mapping[str, Any] | None:
    params = request.get("params")
    members = params if isinstance(params, dict) else {}
    match request.get("method"):
        case "roots/list":
            return {"roots": []}
        case "sampling/createMessage":
            return _SAMPLED
        case "elicitation/create" if members.get("mode") == "url":
            return {"action": "accept"}
        case "elicitation/create":
            content = sample_arguments(members.get("requestedSchema"))
            return None if content is None else {"action": "accept", "content": dict(content)}
    return None
