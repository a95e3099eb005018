"""Transports, several streams at once: each message on one of them, replays in place."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Any

import anyio

from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy import GET_STREAM, LegacySession
from clausewise.probe.conversation.legacy_peer import LegacyPeer
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
from clausewise.probe.subjects.grouping import Sighting
from clausewise.trace.events import EventKind

_OPENED_S = 0.15
_WATCH_S = 0.3
_LONGEST_S = 10.0
_MOST_TOOLS = 5

_Streams = dict[int | str, list[tuple[int, Any]]]
"""Messages with the numbers of their events, by the exchange that carries them."""


@clause_probe("transport.one-stream-for-each-message", transports=HTTP_ONLY, impact="calls")
async def one_stream_for_each_message(peer: LegacyPeer) -> Observation:
    """A message of the server comes on two streams of one session.

    Why: the client acts on it twice.

    Fix: choose one of the session's open streams for each message.
    """
    rule = "transport.one-stream-for-each-message"
    async with peer.session() as session:
        # Tagged, for a server may refuse the second one and break nothing that is asked here.
        listen = partial(session.listen, _LONGEST_S, rule=rule)
        begun = peer.next_seq
        with anyio.move_on_after(_LONGEST_S):
            async with anyio.create_task_group() as group:
                for _ in range(2):
                    group.start_soon(listen)
                    await anyio.sleep(_OPENED_S)
                await _provoke(peer, session)
                await anyio.sleep(_WATCH_S)
                group.cancel_scope.cancel()
        return _compared(peer, _by_stream(peer, rule, begun))


async def _provoke(peer: LegacyPeer, session: LegacySession) -> None:
    """Do what may make the server speak: the user's consent covers these calls."""
    for call in peer.harmless_calls[:_MOST_TOOLS]:
        patience = peer.tool_s
        await session.request("tools/call", call.params, timeout_s=patience)


def _by_stream(peer: LegacyPeer, rule: str, begun: int) -> _Streams:
    """The messages, with their numbers, on each stream that was opened under `rule`."""
    events = peer.events_since(begun)
    opened = [event.exchange for event in events if event.injected == rule]
    found: _Streams = {}
    for event in events:
        if event.exchange in opened and event.exchange is not None and event.stream is not None:
            messages = found.setdefault(event.exchange, [])
            if event.kind is EventKind.MESSAGE:
                messages.append((event.seq, event.payload))
    return found


def _compared(peer: LegacyPeer, streams: _Streams) -> Observation:
    if len(streams) < 2:
        return not_observed("the server has one stream at a time for a session, or none")
    first, second = (Counter(_text(one) for _, one in stream) for stream in streams.values())
    if not first and not second:
        return not_observed(
            "the server sent nothing that concerns no request; name a tool that makes it do so "
            "with --call-tool"
        )
    if not first or first != second:
        return held(first.total() + second.total())
    seq, message = list(streams.values())[1][0]
    return broke(
        "a message is sent on two streams of the session",
        seen=f"{_text(message)[:80]} on both",
        expected="on one of them",
        evidence=Sighting(seq, peer.command_at(seq)),
    )


def _text(message: Any) -> str:
    return json.dumps(message, sort_keys=True)


@clause_probe(
    "transport.resumed-stream", transports=HTTP_ONLY, needs=("tools",), impact="calls", walked=True
)
async def resumed_stream(peer: LegacyPeer) -> Observation:
    """A stream that is resumed brings messages of another stream.

    Why: the client gets messages twice, or takes those of one request for another's.

    Fix: keep events by stream, and replay after `Last-Event-ID` only those of its own stream.
    """
    call = _streamed_call(peer)
    if call is None:
        return not_observed("no tool that may be called is answered by events with ids")
    async with peer.session() as session:
        patience = peer.tool_s
        calls = [
            await session.request("tools/call", call.params, timeout_s=patience) for _ in range(2)
        ]
        ids = _event_ids(calls[0])
        if not ids:
            return inconclusive("the call was not answered by events with ids this time")
        last = {**GET_STREAM, "Last-Event-ID": ids[0]}
        await session.fetch("GET", headers=last, timeout_s=_WATCH_S)
    return left_to_the_recording()


def _streamed_call(peer: LegacyPeer) -> ToolCall | None:
    return next((one.call for one in peer.calls if _event_ids(one.reply)), None)


def _event_ids(reply: Reply) -> list[str]:
    """The event ids of an answer that is a stream, in order."""
    events = (event for event in reply.answer.events if event.kind is EventKind.SSE)
    return [str(event.fields["id"]) for event in events if event.fields.get("id")]
