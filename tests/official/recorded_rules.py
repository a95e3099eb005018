"""The rules of 2026-07-28 that need no experiment, judged on a recording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from clausewise.core.results import UNSAVED, Verdict
from clausewise.core.vocabulary import Direction, Era, TransportKind
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import Request
from clausewise.probe.conversation.traffic import Traffic, is_modern
from clausewise.probe.registration import Passive, probes
from clausewise.probe.verdicts import Judging
from clausewise.registry import rules
from clausewise.trace.events import Event, EventKind
from clausewise.trace.recordings import ReadingOptions, open_recording
from clausewise.transport.answers import Answer, Ending
from tests.official.message_shapes import fault_of_request

_ILL_FORMED = "a request that breaks the rules"


def recorded_traffic(trace: Path) -> Traffic:
    """The exchanges of a recording over HTTP with a modern server.

    A request that has not its shape, and whatever its sender may have meant by that, counts
    as a deliberate fault.
    """
    with open_recording(str(trace), ReadingOptions()) as recording:
        exchanges: dict[object, list[Event]] = {}
        for event in recording.events():
            if event.exchange is not None:
                exchanges.setdefault(event.exchange, []).append(event)
    replies = (_reply(events) for events in exchanges.values())
    kept = [
        reply
        for reply in replies
        if reply is not None and is_modern(reply.request, TransportKind.HTTP, Era.MODERN)
    ]
    return Traffic(TransportKind.HTTP, Era.MODERN, tuple(kept))


def _reply(events: list[Event]) -> Reply | None:
    """The exchange of these events; None without a request."""
    up = [event for event in events if event.direction is Direction.CLIENT_TO_SERVER]
    down = [event for event in events if event.direction is Direction.SERVER_TO_CLIENT]
    heads = [event for event in up if event.kind is EventKind.HTTP]
    asked = [event for event in up if event.kind is EventKind.MESSAGE]
    if not heads or len(asked) != 1 or not isinstance(asked[0].payload, dict):
        return None
    answered = next((event for event in down if event.kind is EventKind.HTTP), None)
    messages = tuple(event for event in down if event.kind is EventKind.MESSAGE)
    answer = Answer(
        exchange=None,
        status=answered.status if answered is not None else None,
        headers=_headers(answered),
        body=b"",
        messages=messages,
        events=tuple(events),
        ending=Ending.COMPLETE if answered is not None else Ending.TIMEOUT,
    )
    return Reply(TransportKind.HTTP, _request(heads[0], asked[0]), answer, "")


def _request(head: Event, asked: Event) -> Request:
    message = asked.payload
    method, params = message.get("method"), message.get("params")
    return Request(
        method=method if isinstance(method, str) else None,
        params=params if isinstance(params, dict) else None,
        id=message.get("id"),
        headers=_headers(head),
        body=json.dumps(message).encode(),
        rule=_ILL_FORMED if fault_of_request(asked) is not None else None,
    )


def _headers(head: Event | None) -> tuple[tuple[bytes, bytes], ...]:
    if head is None:
        return ()
    return tuple(
        (name.encode("latin-1"), value.encode("latin-1"))
        for name in head.fields.get("headers", {})
        for value in head.header_values(name)
    )


def judged(traffic: Traffic) -> Iterator[Verdict]:
    """The verdicts of the rules that are judged on the exchanges of a run."""
    judging = Judging(UNSAVED)
    for entry in probes().values():
        if isinstance(entry, Passive) and TransportKind.HTTP in entry.transports:
            yield judging.verdict(rules()[entry.rule], entry.judge(traffic), entry)
