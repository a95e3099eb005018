"""Every message that the server sent in a run, with the answer that it came in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.subjects.grouping import Sighting
from clausewise.probe.wording import named
from clausewise.trace.events import Event


@dataclass(frozen=True, slots=True)
class Received:
    """A JSON object that is, or should be, a JSON-RPC message from the server."""

    event: Event
    reply: Reply

    @property
    def payload(self) -> Mapping[str, Any]:
        payload: Mapping[str, Any] = self.event.payload
        return payload

    @property
    def method(self) -> str | None:
        """The method of a notification or request; None for a response."""
        if "method" not in self.payload:
            return None
        method = self.payload["method"]
        return method if isinstance(method, str) else named(method)

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters when they are an object, else an empty mapping."""
        params = self.payload.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def what(self) -> str:
        """The message in words, for findings."""
        if self.method is not None:
            return f"the message {self.method}"
        kind = "error" if "error" in self.payload else "response"
        return f"the {kind} for {self.reply.request.method}"

    @property
    def sighting(self) -> Sighting:
        """Where it stands, and the request that brings it forth."""
        return Sighting(self.event.seq, self.reply.reproduce)


def received(traffic: Traffic) -> Iterator[Received]:
    """The messages of all answers, in their order."""
    for reply in traffic.replies:
        yield from received_in(reply)


def received_in(reply: Reply) -> Iterator[Received]:
    """The messages of one answer, in their order."""
    for event in reply.answer.messages:
        payload = event.payload
        if isinstance(payload, dict) and _is_attempt(payload):
            yield Received(event, reply)


def notifications(traffic: Traffic, method: str) -> Iterator[Received]:
    """The messages of all answers that have this method."""
    return (one for one in received(traffic) if one.method == method)


def _is_attempt(payload: Mapping[str, Any]) -> bool:
    """Whether an object is meant as JSON-RPC; the page of a gateway, for one, is not."""
    if "jsonrpc" in payload or "method" in payload:
        return True
    return "id" in payload and ("result" in payload or "error" in payload)
