"""Exchanges made by hand, for rules that are judged on the traffic of a run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from clausewise.core.vocabulary import Direction, Era, TransportKind
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.request import Edits, compose
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import Observation
from clausewise.probe.registration import Passive, probes
from clausewise.trace.events import Event, EventKind
from clausewise.transport.answers import Answer, Ending

HTTP, STDIO = TransportKind.HTTP, TransportKind.STDIO
TOKEN = "token-1"

Sent = Mapping[str, Any] | bytes
"""A message from the server, or its text."""


def reply(
    method: str,
    *messages: Sent,
    params: Mapping[str, Any] | None = None,
    transport: TransportKind = HTTP,
    status: int = 200,
    **edits: Any,
) -> Reply:
    """The answer to a conforming request with id 1: these messages, as a stream over HTTP."""
    made: Edits = {"id": 1, **edits}  # type: ignore[typeddict-item]
    request = compose(method, params, 1, made)
    events = tuple(_event(seq, sent, transport) for seq, sent in enumerate(messages))
    is_http = transport is HTTP
    body = b"".join(b"data: " + (event.text or b"") + b"\n\n" for event in events)
    answer = Answer(
        exchange=1 if is_http else None,
        status=status if is_http else None,
        headers=((b"content-type", b"text/event-stream"),) if is_http else (),
        body=body if is_http else b"",
        messages=tuple(event for event in events if event.kind is EventKind.MESSAGE),
        events=events,
        ending=Ending.COMPLETE,
    )
    return Reply(transport, request, answer, "again")


def _event(seq: int, sent: Sent, transport: TransportKind) -> Event:
    text = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
    return Event(
        seq=seq,
        direction=Direction.SERVER_TO_CLIENT,
        transport=transport,
        kind=EventKind.MESSAGE,
        payload=json.loads(text),
        text=text,
    )


def result(id_: Any = 1, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "result": {"resultType": "complete", **members}}


def error(code: Any = -32602, message: Any = "no") -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message}}


def notification(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


def progress(value: Any, token: Any = TOKEN) -> dict[str, Any]:
    return notification("progress", progressToken=token, progress=value)


def asking(requests: Mapping[str, Any] | None, **members: Any) -> dict[str, Any]:
    """A result that asks for input."""
    asked = {} if requests is None else {"inputRequests": requests}
    return result(**asked, **members) | {
        "result": {"resultType": "input_required", **asked, **members}
    }


def judged(rule: str, *replies: Reply, era: Era = Era.MODERN) -> Observation:
    """What a passive rule makes of these exchanges."""
    entry = probes()[rule]
    assert isinstance(entry, Passive)
    transport = replies[0].transport if replies else HTTP
    return entry.judge(Traffic(transport, era, tuple(replies)))


def call(*messages: Sent, meta: Mapping[str, Any] | None = None, **more: Any) -> Reply:
    """The answer to a tool call with a progress token."""
    given = {"progressToken": TOKEN} if meta is None else dict(meta)
    params = {"name": "tool", "arguments": {}, "_meta": given}
    return reply("tools/call", *messages, params=params, **more)


def seen(observation: Observation) -> Sequence[str]:
    """What the faults saw."""
    return [fault.seen for fault in observation.faults]
