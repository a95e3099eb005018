"""Tools: names are told apart by case."""

from __future__ import annotations

from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.observation import Observation, broke, held, inconclusive, not_observed
from clausewise.probe.offered import ToolCall


@clause_probe("tools.name-case-sensitive", needs=("tools",), impact="calls")
async def name_case_sensitive(peer: LegacyPeer) -> Observation:
    """A tool is called by its name in another case.

    Why: two tools whose names differ in case are taken for one, and a policy that allows or
    denies tools by name is passed by.

    Fix: compare tool names as they are, byte by byte; an unknown one is an error.
    """
    call = _renamed_call(peer)
    if call is None:
        return not_observed("no tool with letters in its name may be called")
    async with peer.session() as session:
        reply = await session.attempt("tools/call", call.params, timeout_s=peer.tool_s)
    if reply.message is None:
        return inconclusive(reply.blocked or f"tools/call got {reply.shown}")
    if reply.error is not None or reply.fields.get("isError") is True:
        return held()
    return broke(
        "a tool is called by its name in another case",
        seen=f"a result for the name {call.name!r}, which is not listed",
        expected="an error: there is no such tool",
        evidence=reply,
    )


def _renamed_call(peer: LegacyPeer) -> ToolCall | None:
    """A harmless call whose name in the other case is no tool's."""
    listed = {tool.get("name") for tool in peer.listed("tools/list")}
    for call in peer.harmless_calls:
        flipped = call.name.swapcase()
        if flipped not in listed:
            return ToolCall(flipped, call.arguments)
    return None
