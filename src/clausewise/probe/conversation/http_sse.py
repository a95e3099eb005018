"""Recognise the deprecated HTTP+SSE transport of 2024-11-05."""

from __future__ import annotations

from clausewise.probe.conversation.link import Link
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.trace.events import EventKind

_GET_STREAM = {"Accept": "text/event-stream"}


async def get_stream(peer: Peer, path: str | None = None, link: Link | None = None) -> Reply:
    """The answer to a GET for a stream, given up after a glance."""
    return await peer.fetch("GET", _GET_STREAM, path=path, link=link)


def begins_with_endpoint(reply: Reply) -> bool:
    """Whether the first SSE event of an answer has the type `endpoint`."""
    if not reply.streamed:
        return False
    for event in reply.answer.events:
        if event.kind is EventKind.SSE and event.fields.get("event") is not None:
            return bool(event.fields["event"] == "endpoint")
    return False
