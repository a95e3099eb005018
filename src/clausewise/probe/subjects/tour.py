"""What a server offers that may be asked for without harm, and its answers, once per run."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.offered import prompt_arguments
from clausewise.probe.subjects.named_requests import NamedRequest

MAX_EACH = 8
"""How many tools, prompts and resources each are asked for."""

TOUR_S = 8.0
"""After how many seconds no further request is made; a single probe may take longer."""

ALL_CAPABILITIES: Mapping[str, Any] = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {},
}
"""Every client capability that lets a server ask for input."""

INPUT_REQUIRED = "input_required"


@dataclass(frozen=True, slots=True)
class Visit:
    """A request of the tour and its answer."""

    request: NamedRequest
    reply: Reply


async def harmless_requests(peer: Peer) -> AsyncIterator[NamedRequest]:
    """What may be asked for without harm: read-only or named tools, prompts, resources."""
    if peer.offers("tools"):
        for tool in (await peer.callable_tools())[:MAX_EACH]:
            yield NamedRequest("tools/call", tool.params)
    if peer.offers("prompts"):
        for prompt in (await peer.pages("prompts/list")).items[:MAX_EACH]:
            if isinstance(prompt.get("name"), str):
                yield NamedRequest("prompts/get", _prompt_params(prompt))
    if peer.offers("resources"):
        for resource in (await peer.pages("resources/list")).items[:MAX_EACH]:
            if isinstance(resource.get("uri"), str):
                yield NamedRequest("resources/read", {"uri": resource["uri"]})


async def tour(peer: Peer) -> tuple[Visit, ...]:
    """All harmless requests, with every client capability and a progress token of their own.

    Where the server takes its time, those that can be made within `TOUR_S`.
    """

    async def travel() -> tuple[Visit, ...]:
        visits: list[Visit] = []
        end = anyio.current_time() + TOUR_S
        async for request in harmless_requests(peer):
            if anyio.current_time() > end:
                break
            visits.append(Visit(request, await _visit(peer, request, len(visits))))
        return tuple(visits)

    return await peer.once("tour", travel)


def results(visits: tuple[Visit, ...], *methods: str) -> Iterator[Visit]:
    """The visits that gave a final result that is no tool error; of these methods alone."""
    for visit in visits:
        fields = visit.reply.fields
        final = fields and fields.get("resultType") != INPUT_REQUIRED
        if final and fields.get("isError") is not True and visit.request.method in methods:
            yield visit


def served_calls(visits: tuple[Visit, ...]) -> list[NamedRequest]:
    """The calls that gave a final result, those that sent notifications on the way first."""
    served = [visit for visit in results(visits, "tools/call") if visit.reply.succeeded]
    served.sort(key=lambda visit: len(visit.reply.answer.messages), reverse=True)
    return [visit.request for visit in served]


def input_requests(reply: Reply) -> Mapping[str, Mapping[str, Any]]:
    """The input requests of a result that are objects, by key."""
    asked = reply.fields.get("inputRequests")
    if reply.fields.get("resultType") != INPUT_REQUIRED or not isinstance(asked, dict):
        return {}
    return {key: value for key, value in asked.items() if isinstance(value, dict)}


async def _visit(peer: Peer, request: NamedRequest, number: int) -> Reply:
    # Half of the tokens are integers: a server must give a token back with its type.
    token: str | int = 70_000 + number if number % 2 else f"clausewise-tour-{number}"
    return await peer.request(
        request.method,
        {**request.params, "_meta": {"progressToken": token}},
        capabilities=ALL_CAPABILITIES,
        timeout_s=peer.tool_s,
    )


def _prompt_params(prompt: Mapping[str, Any]) -> Mapping[str, Any]:
    names = (a.get("name") for a in prompt_arguments(prompt) if a.get("required"))
    return {"name": prompt["name"], "arguments": {str(name): "a" for name in names}}
