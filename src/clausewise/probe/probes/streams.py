"""Rules about how an HTTP answer comes: its content type and its SSE stream (RES-005, RES-006)."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import anyio

from clausewise.core.vocabulary import Outcome
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, passive, probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.tour import ALL_CAPABILITIES
from clausewise.probe.wording import named
from clausewise.trace.events import Event
from clausewise.transport.answers import Ending
from clausewise.wire.jsontext import JsonTextError, decode
from clausewise.wire.meta import META_CAPABILITIES

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
STREAM_CLOSES_WITHIN_S = 1.0
"""How long a stream may stay open after its response before that is a finding."""

STREAM_WATCHED_S = 3.0
"""How long an answer is read to see whether its stream closes."""


@probe("MCP-RES-005", transports=HTTP_ONLY, impact="calls")
async def answer_is_json_or_a_stream(peer: Peer) -> Observation:
    """A request's answer is neither one JSON object nor an SSE stream that ends with the response.

    Why: clients choose how to read an answer by its Content-Type, and wait for the end
    of a stream; another type is not read at all, an open stream keeps a connection busy.

    Fix: send `application/json` with exactly one JSON object, or `text/event-stream`
    with the response as the last message, and close the stream after it.
    """
    replies = await _answers(peer)
    judged: list[tuple[Hashable, Observation]] = []
    judged += [(_shape_kind(reply), _shape(reply)) for reply in replies]
    lingering = next((reply for reply in replies if _lingers(reply)), None)
    if lingering is not None:
        judged.append(("end of the stream", await _ends(peer, lingering)))
    elif any(reply.streamed and reply.message is not None for reply in replies):
        judged.append(("end of the stream", held()))
    observation = once_each(judged)
    if observation.outcome is Outcome.NOT_OBSERVED:
        return inconclusive(observation.reason or "no answer came from the MCP server itself")
    return observation


async def _answers(peer: Peer) -> list[Reply]:
    """Answers of every sort: lists, a tool call, a subscription, a refusal."""
    replies = [await peer.discover()]
    for capability, method in (("tools", "tools/list"), ("prompts", "prompts/list")):
        if peer.offers(capability):
            replies += (await peer.pages(method)).replies
    uri = await peer.readable_uri()
    if uri is not None:
        replies.append(await peer.request("resources/read", {"uri": uri}))
    call = await peer.callable_tool() if peer.offers("tools") else None
    if call is not None:
        params = {**call.params, "_meta": {"progressToken": "clausewise-progress"}}
        replies.append(await peer.request("tools/call", params, capabilities=ALL_CAPABILITIES))
    replies.append(await peer.request("clausewise/content-type", rule="MCP-RES-005"))
    wanted = {"notifications": {"toolsListChanged": True}}
    replies.append(await peer.request("subscriptions/listen", wanted, until=_any, timeout_s=2.0))
    return replies


def _any(_: Event) -> bool:
    return True


def _responses(reply: Reply) -> list[Event]:
    return [e for e in reply.answer.messages if not _has_method(e.payload)]


def _has_method(payload: Any) -> bool:
    return isinstance(payload, dict) and "method" in payload


def _shape_kind(reply: Reply) -> tuple[str | None, bool]:
    return reply.media_type, len(_responses(reply)) > 1


def _shape(reply: Reply) -> Observation:
    status = reply.status
    if status is None:
        return not_observed(reply.blocked or "no answer")
    own = 200 <= status < 300 or _is_rpc(reply)
    if not own or (reply.blocked is not None and reply.message is None):
        return not_observed(reply.blocked or f"{reply.shown}: from the HTTP layer or a gateway")
    if reply.media_type == JSON:
        return _one_object(reply)
    if reply.media_type == EVENT_STREAM:
        return _one_response(reply)
    return broke(
        f"the answer to {reply.request.method} has another content type",
        seen=f"HTTP {status}, {_content_type(reply)}",
        expected=f"{JSON} or {EVENT_STREAM}",
        evidence=reply,
    )


def _content_type(reply: Reply) -> str:
    value = reply.header("content-type")
    return "no Content-Type" if value is None else f"Content-Type {named(value)}"


def _is_rpc(reply: Reply) -> bool:
    """Whether an error page is a JSON-RPC message, whatever its content type says."""
    try:
        value = decode(reply.answer.body)
    except JsonTextError:
        return reply.message is not None
    return isinstance(value, dict) and value.get("jsonrpc") == "2.0"


def _one_object(reply: Reply) -> Observation:
    try:
        value = decode(reply.answer.body)
    except JsonTextError as error:
        seen = f"a body that is no JSON value: {error}" if reply.answer.body else "an empty body"
    else:
        if isinstance(value, dict):
            return held()
        seen = "a JSON array" if isinstance(value, list) else f"the JSON value {named(value)}"
    return broke(
        f"the JSON answer to {reply.request.method} is not one JSON object",
        seen=seen,
        expected="exactly one JSON object",
        evidence=reply,
    )


def _one_response(reply: Reply) -> Observation:
    responses = _responses(reply)
    if len(responses) < 2:
        return held() if responses or reply.answer.messages else not_observed("an empty stream")
    return broke(
        f"the stream that answers {reply.request.method} carries more than one response",
        seen=f"{len(responses)} responses",
        expected="one response, as the last message",
        evidence=reply,
    )


def _lingers(reply: Reply) -> bool:
    """Whether the stream went on, or stayed open, after its one response."""
    if not reply.streamed or reply.message is None or len(_responses(reply)) > 1:
        return False
    messages = reply.answer.messages
    return reply.answer.ending is Ending.CUT or messages[-1] != reply.response_event


async def _ends(peer: Peer, lingering: Reply) -> Observation:
    """Ask again where the stream stayed open: a slow server is given time to close it."""
    if lingering.answer.ending is not Ending.CUT:
        return _not_the_end(lingering, "another message after the response")
    watch = _Watch()
    params = lingering.request.params or {}
    reply = await peer.request(
        str(lingering.request.method),
        params,
        capabilities=params["_meta"][META_CAPABILITIES],
        until=watch.sees,
        timeout_s=STREAM_WATCHED_S,
    )
    if reply.message is None or not reply.streamed:
        return inconclusive(reply.blocked or "the second answer did not come as a stream")
    if reply.answer.ending is Ending.COMPLETE and not _lingers(reply):
        return held()
    open_s = watch.since_response
    if open_s < STREAM_CLOSES_WITHIN_S:
        return inconclusive("the response came too late to see whether the stream closes")
    return _not_the_end(reply, f"the stream still open {open_s:.1f} s after the response")


class _Watch:
    """Notes when a response comes, and lets the reading go on."""

    def __init__(self) -> None:
        self._came_at: float | None = None

    def sees(self, event: Event) -> bool:
        if self._came_at is None and not _has_method(event.payload):
            self._came_at = anyio.current_time()
        return False

    @property
    def since_response(self) -> float:
        """Seconds since the response, 0 before it."""
        return 0.0 if self._came_at is None else anyio.current_time() - self._came_at


def _not_the_end(reply: Reply, seen: str) -> Observation:
    return broke(
        f"the stream that answers {reply.request.method} does not end with the response",
        seen=seen,
        expected="the server closes the stream after the response",
        severity=Outcome.WARN,
        evidence=reply,
    )


@passive("MCP-RES-006", transports=HTTP_ONLY)
def stream_is_not_buffered(traffic: Traffic) -> Observation:
    """An SSE answer lacks the header `X-Accel-Buffering: no`.

    Why: nginx and proxies like it hold a stream back until their buffer is full, so
    notifications arrive late or not at all.

    Fix: send `X-Accel-Buffering: no` with every `text/event-stream` response.
    """
    streams = [reply for reply in traffic.replies if reply.streamed]
    if not streams:
        return not_observed("no answer came as an SSE stream")
    return once_each((reply.header("x-accel-buffering"), _unbuffered(reply)) for reply in streams)


def _unbuffered(reply: Reply) -> Observation:
    value = reply.header("x-accel-buffering")
    if value is not None and value.strip().lower() == "no":
        return held()
    proxy = _proxy(reply)
    if value is None and proxy is not None:
        return inconclusive(
            f"{proxy}: such a proxy takes the header out, so its absence says nothing"
        )
    return broke(
        f"the SSE answer to {reply.request.method} does not ask proxies not to buffer it",
        seen=f"X-Accel-Buffering {named(value)}"
        if value is not None
        else "no X-Accel-Buffering header",
        expected="X-Accel-Buffering: no",
        evidence=reply,
    )


def _proxy(reply: Reply) -> str | None:
    via, server = reply.header("via"), reply.header("server")
    if via is not None:
        return f"Via: {via}"
    return f"Server: {server}" if server is not None and "nginx" in server.lower() else None
