"""The positive control of probes whose requests should be refused."""

from __future__ import annotations

from clausewise.probe.conversation.peer import Peer


async def failed_control(peer: Peer) -> str | None:
    """Why a refusal proves nothing: the conforming `server/discover` is refused, too; or None."""
    reply = await peer.discover()
    if reply.succeeded:
        return None
    return reply.blocked or f"the conforming server/discover got {reply.shown}"
