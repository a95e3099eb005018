"""Requests that carry `Mcp-Name` and are known to be served: the controls of header probes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.offered import ToolCall
from clausewise.wire.headers import NAMED_BY

UNKNOWN_TOOL = "clausewise_no_such_tool"
OTHER_NAME = "clausewise-other"
"""A value for `Mcp-Name` that names nothing of any server."""

NAME_IT = "name a tool that may be called with --call-tool"
"""The hint where a rule needs a call."""

_MAX_TRIES = 4


@dataclass(frozen=True, slots=True)
class NamedRequest:
    """A request of one of the three methods that `Mcp-Name` goes with."""

    method: str
    params: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The value that `Mcp-Name` mirrors."""
        return str(self.params[NAMED_BY[self.method]])

    async def send(self, peer: Peer, name: str | bytes | None, rule: str | None = None) -> Reply:
        """Send it with this `Mcp-Name` (None for none); `rule` is the rule that it breaks."""
        if rule is None:
            return await peer.request(self.method, self.params, headers={"Mcp-Name": name})
        return await peer.request(self.method, self.params, headers={"Mcp-Name": name}, rule=rule)


UNKNOWN_CALL = NamedRequest("tools/call", {"name": UNKNOWN_TOOL, "arguments": {}})
"""A call without side effects: no server has this tool."""


async def served_reads(peer: Peer) -> tuple[NamedRequest, ...]:
    """A prompt and a resource that can be had, found once per run."""

    async def find() -> tuple[NamedRequest, ...]:
        return tuple(
            [one async for one in _reads(peer) if await _is_served(peer, one, peer.answer_s)]
        )

    return await peer.once("served reads", find)


async def served_call(peer: Peer) -> NamedRequest | None:
    """A tool call that may be made and gives no error, found once per run; or None."""

    async def find() -> NamedRequest | None:
        for call in (await peer.callable_tools())[:_MAX_TRIES]:
            request = _request(call)
            if await _is_served(peer, request, peer.tool_s):
                return request
        return None

    return await peer.once("served call", find)


async def _reads(peer: Peer) -> AsyncIterator[NamedRequest]:
    prompt = await peer.gettable_prompt()
    if prompt is not None:
        yield NamedRequest("prompts/get", {"name": prompt})
    uri = await peer.readable_uri()
    if uri is not None:
        yield NamedRequest("resources/read", {"uri": uri})


def _request(call: ToolCall) -> NamedRequest:
    return NamedRequest("tools/call", call.params)


async def _is_served(peer: Peer, request: NamedRequest, seconds: float) -> bool:
    """Whether the conforming request is answered with a result that is no tool error."""
    reply = await peer.request(request.method, request.params, timeout_s=seconds)
    return reply.succeeded and reply.fields.get("isError") is not True
