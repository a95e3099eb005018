"""What a server asks of its client while it works on a tool call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Revision
from clausewise.probe.conversation.legacy_client import DECLINING_CLIENT
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.offered import ToolCall

NOTHING_ASKED = "no tool that may be called asked anything of the client; name one with --call-tool"

_ASKED_S = 1.0
_LINGER_S = 1.0
"""How long a process may take to tell that what a call demanded has come to its end."""


def patience_s(peer: LegacyPeer, call: ToolCall) -> float:
    """How long a call may take: a tool that the user named is worth waiting for."""
    return peer.limits.answer_s if call.name in peer.named else peer.patience_s(_ASKED_S)


@dataclass(frozen=True, slots=True)
class AskingCall:
    """A tool call during which the server asked something of the client, and what it asked."""

    call: ToolCall
    questions: dict[str, dict[str, Any]]

    @property
    def by_url(self) -> bool:
        """Whether the user is to open a URL."""
        params = (question.get("params") for question in self.questions.values())
        return any(isinstance(one, dict) and one.get("mode") == "url" for one in params)


async def asking_calls(peer: LegacyPeer) -> tuple[AskingCall, ...]:
    """The calls in which the server asks a client that declares everything; found once per run.

    Its user declines whatever is asked.

    Raises:
        TargetError: `initialize` is refused.
    """

    async def find() -> tuple[AskingCall, ...]:
        if not peer.harmless_calls:
            return ()
        async with peer.client(DECLINING_CLIENT, linger_s=_LINGER_S) as session:
            if session.version != Revision.LEGACY.value:
                raise TargetError(f"initialize got {session.initialization.shown}")
            replies = [
                (call, await session.request("tools/call", call.params, timeout_s=seconds))
                for call, seconds in ((one, patience_s(peer, one)) for one in peer.harmless_calls)
            ]
        found = (AskingCall(call, questions_of(reply)) for call, reply in replies)
        return tuple(one for one in found if one.questions)

    return await peer.once("asking calls", find)


def questions_of(reply: Reply) -> dict[str, dict[str, Any]]:
    """The server's requests in an answer, `ping` apart, by their id.

    An error that demands an elicitation asks, too.
    """
    payloads = (event.payload for event in reply.answer.messages)
    asked = {
        _key(one["id"]): one
        for one in payloads
        if isinstance(one, dict) and one.get("id") is not None and one.get("method") != "ping"
        if isinstance(one.get("method"), str)
    }
    return asked | {f"demanded-{n}": {"params": one} for n, one in enumerate(_demanded(reply))}


def _demanded(reply: Reply) -> list[Any]:
    data = reply.error.get("data") if reply.error is not None else None
    demanded = data.get("elicitations") if isinstance(data, dict) else None
    return demanded if isinstance(demanded, list) else []


def waited_s(reply: Reply) -> float:
    """The seconds from the server's last request to its response; 0 where either is missing."""
    asked = [event for event in reply.answer.messages if "method" in _object(event.payload)]
    response = reply.response_event
    if not asked or response is None:
        return 0.0
    began, ended = asked[-1].ts, response.ts
    return ended - began if isinstance(began, float) and isinstance(ended, float) else 0.0


def _object(payload: Any) -> dict[str, Any]:
    return payload if isinstance(payload, dict) else {}


def cancelled_ids(reply: Reply) -> set[str]:
    """The ids of requests that the server has cancelled in an answer."""
    payloads = (event.payload for event in reply.answer.messages)
    cancelled = (
        one.get("params")
        for one in payloads
        if isinstance(one, dict) and one.get("method") == "notifications/cancelled"
    )
    return {_key(params.get("requestId")) for params in cancelled if isinstance(params, dict)}


def _key(request_id: Any) -> str:
    """An id by type and value."""
    return json.dumps(request_id, sort_keys=True)
