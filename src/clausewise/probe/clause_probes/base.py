"""Base protocol: which answer belongs to which request, and what gets none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.conversation.link import is_response
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    left_to_the_recording,
    not_observed,
)
from clausewise.probe.offered import ToolCall
from clausewise.probe.registration import HTTP_ONLY
from clausewise.probe.subjects.grouping import Sighting, shown_at_once
from clausewise.probe.subjects.misfits import misfitting_arguments
from clausewise.probe.subjects.running_requests import running
from clausewise.probe.subjects.slow_tools import HEAD_START_S, slow_call
from clausewise.wire.codes import ErrorCode

UNKNOWN_NOTIFICATION = "notifications/clausewise/unknown"

_TEXT_ID = "clausewise-7f"
_PATIENCE_S = 1.0
_SHARED_ID = "clausewise-shared"
_ROUNDS = 5
_MOST_TOOLS = 5
_LISTS = {"tools": "tools/list", "prompts": "prompts/list", "resources": "resources/list"}


@dataclass(frozen=True, slots=True)
class _Telling:
    """A request whose result has a member that no ping result has.

    `control` is its answer in the walk, which came after `seconds`, if it is a slow tool.
    """

    method: str
    member: str
    params: Mapping[str, Any] | None = None
    seconds: float = 0.0
    control: Reply | None = None


@clause_probe(
    "base.answers-of-own-session",
    transports=HTTP_ONLY,
    impact="calls",
    walked=True,
    again_alone=True,
)
async def answers_of_own_session(peer: LegacyPeer) -> Observation:
    """Of two sessions that use the same request id at once, one gets the other's answer.

    Why: ids are unique within a session only, so one client is given another client's data.
    The result that comes is not that of the request it claims to correspond to.

    Fix: keep requests in progress by session and id, or answer each on its own connection.
    """
    telling = _telling_request(peer)
    if telling is None:
        return not_observed("the server offers nothing whose result differs from that of ping")
    async with peer.session() as one, peer.session() as other:
        control = telling.control or await one.request(telling.method)
        if telling.member not in control.fields:
            return inconclusive(control.blocked or f"{telling.method} got {control.shown}")
        for number in range(_ROUNDS):
            seen = await _at_once(one, other, telling, f"{_SHARED_ID}-{number}")
            if seen is not None:
                return seen
    return not_observed(
        "two requests were never in progress at once; name a slow tool with --call-tool"
    )


def _telling_request(peer: LegacyPeer) -> _Telling | None:
    slow = slow_call(peer)
    if slow is not None:
        return _Telling("tools/call", "content", slow.call.params, slow.seconds, slow.reply)
    found = (_Telling(method, name) for name, method in _LISTS.items() if peer.offers(name))
    return next(found, None)


async def _at_once(
    one: LegacySession, other: LegacySession, telling: _Telling, shared_id: str
) -> Observation | None:
    """What came of the same id in both sessions, or None if one answer came too early."""
    method, params, patience = telling.method, telling.params, telling.seconds + 2.0
    async with running(one, method, params, id=shared_id, timeout_s=patience) as request:
        await anyio.sleep(HEAD_START_S if telling.seconds else 0)
        pong = await other.attempt("ping", id=shared_id, timeout_s=patience)
    return _judged(request.reply, pong, telling)


def _judged(told: Reply, pong: Reply, telling: _Telling) -> Observation | None:
    if telling.member in pong.fields:
        return _swapped(shown_at_once(told, pong), f"the result of {telling.method} for a ping")
    if told.succeeded and telling.member not in told.fields:
        swapped = Sighting(told.seq, shown_at_once(told, pong).reproduce)
        return _swapped(swapped, f"the result of a ping for {telling.method}")
    missing = next((r for r in (told, pong) if r.response_event is None), None)
    if missing is not None:
        swapped = Sighting(missing.seq, shown_at_once(told, pong).reproduce)
        return _swapped(swapped, missing.shown)
    first_asked = max(told.answer.events[0].seq, pong.answer.events[0].seq)
    answers = [r.response_event.seq for r in (told, pong) if r.response_event is not None]
    return held(2) if first_asked < min(answers) else None


def _swapped(evidence: Sighting, seen: str) -> Observation:
    return broke(
        "a request gets the answer of another session's request with the same id, or none",
        seen=seen,
        expected="the answer to the request of its own session",
        evidence=evidence,
    )


@clause_probe("base.text-id")
async def text_id(peer: LegacyPeer) -> Observation:
    """A request whose id is a text is answered with another id.

    Why: the client cannot tell which request the answer belongs to, and waits on; a server
    that reads ids as numbers makes 0 of every text.

    Fix: keep the id as the JSON value that came, a string or an integer, and answer with it.
    """
    async with peer.session() as session:
        control = await session.request("ping")
        if not control.succeeded:
            return inconclusive(control.blocked or f"ping got {control.shown}")
        seconds = min(_PATIENCE_S, peer.limits.answer_s)
        reply = await session.attempt("ping", id=_TEXT_ID, timeout_s=seconds)
    if not reply.answer.messages:
        return inconclusive(reply.blocked or f"ping with a text as id got {reply.shown}")
    return left_to_the_recording()


@clause_probe("base.notification-unanswered")
async def notification_unanswered(peer: LegacyPeer) -> Observation:
    """A notification is answered.

    Why: its sender waits for no answer and has no id to match one with.

    Fix: ignore a notification that you do not know; over HTTP answer 202 without a body.
    """
    async with peer.session() as session:
        await session.notify(UNKNOWN_NOTIFICATION)
        pongs = [await session.request("ping") for _ in range(2)]
    if peer.over_http:
        return left_to_the_recording()
    ids = [pong.id for pong in pongs]
    for pong in pongs:
        for event in pong.answer.messages:
            if is_response(event) and event.payload.get("id") not in ids:
                return broke(
                    "a notification is answered",
                    seen=f"a response with id {event.payload.get('id')!r}",
                    expected="nothing",
                    evidence=Sighting(event.seq, pong.reproduce),
                )
    return held() if pongs[-1].succeeded else inconclusive(f"ping got {pongs[-1].shown}")


@clause_probe("base.failures-keep-the-id", needs=("tools",), impact="calls", walked=True)
async def failures_keep_the_id(peer: LegacyPeer) -> Observation:
    """A tool that fails over its arguments is answered with another id than the request's.

    Why: the client cannot tell which of its requests has failed, and waits on.

    Fix: take the id from the request before anything can go wrong, and answer with it
    whatever becomes of the tool, a crash included.
    """
    calls = peer.harmless_calls[:_MOST_TOOLS]
    if not calls:
        return not_observed("no tool may be called; name one with --call-tool")
    async with peer.session() as session:
        replies = [await _call_with_misfits(session, peer, call) for call in calls]
    blocked = [reply for reply in replies if not reply.answer.messages]
    if len(blocked) == len(replies):
        return inconclusive(blocked[0].blocked or f"tools/call got {blocked[0].shown}")
    told = [(one.call.name, one.reply) for one in peer.calls]
    told += [(call.name, reply) for call, reply in zip(calls, replies, strict=True)]
    return left_to_the_recording(_protocol_errors(told))


def _protocol_errors(calls: Iterable[tuple[str, Reply]]) -> Iterator[str]:
    """Remarks on tools whose failures no model sees; the registry has no clause for them."""
    names = (name for name, reply in calls if reply.code == ErrorCode.INTERNAL_ERROR)
    for name in dict.fromkeys(names):
        yield (
            f"the tool {name} fails with error {ErrorCode.INTERNAL_ERROR.value}; errors that "
            "originate from the tool SHOULD be results with isError (schema#calltoolresult)"
        )


async def _call_with_misfits(session: LegacySession, peer: LegacyPeer, call: ToolCall) -> Reply:
    params = {"name": call.name, "arguments": misfitting_arguments(peer.schema_of(call.name))}
    patience = peer.tool_s
    return await session.attempt(
        "tools/call", params, rule="base.failures-keep-the-id", timeout_s=patience
    )
