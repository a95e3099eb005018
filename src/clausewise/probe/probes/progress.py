"""Our rules about progress (CW-PRG-001 to CW-PRG-003)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import Observation, broke, held, not_observed
from clausewise.probe.registration import STDIO_ONLY, passive
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.received import Received, received_in
from clausewise.probe.wording import named
from clausewise.wire.jsonrpc import IdKey, id_key, same_id

PROGRESS = "notifications/progress"
_NO_TOKEN = object()


@passive("CW-PRG-001")
def progress_increases(traffic: Traffic) -> Observation:
    """The progress of a request does not increase with each notification.

    Why: clients show a bar and reset their time-outs by it; one that stands still or runs
    back shows neither.

    Fix: send a progress notification only when its value is greater than the last one.
    """
    parts = [
        (reply.request.method, _increase(before, after))
        for reply in traffic.replies
        for before, after in _pairs(reply)
    ]
    if not parts:
        return not_observed("no call reported progress twice")
    return once_each(parts)


def _pairs(reply: Reply) -> Iterator[tuple[Received, Received]]:
    """Each two successive notifications about the request's own token, with numbers."""
    last: Received | None = None
    for one in received_in(reply):
        value = one.params.get("progress")
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if one.method == PROGRESS and is_number and _is_own(one, reply):
            if last is not None:
                yield last, one
            last = one


def _increase(before: Received, after: Received) -> Observation:
    was, now = before.params["progress"], after.params["progress"]
    if now > was:
        return held()
    return broke(
        "progress does not increase",
        seen=f"{named(now)} after {named(was)}",
        expected=f"more than {named(was)}",
        evidence=after.sighting,
    )


@passive("CW-PRG-002")
def progress_has_the_token_of_its_request(traffic: Traffic) -> Observation:
    """A progress notification has a token that no request gave, or not this one.

    Why: the client finds the request by the token, type included; a notification with
    another one is lost, or counts for the wrong request.

    Fix: give back the `progressToken` of the request unchanged, on its own stream, and send
    no progress where there is none.
    """
    shared = traffic.transport is TransportKind.STDIO
    given = [_token(reply) for reply in traffic.replies]
    parts = [
        (reply.request.method, seen)
        for reply in traffic.replies
        for seen in _tokens_of(reply, given if shared else [_token(reply)])
    ]
    return once_each(parts) if parts else not_observed("no tool was called")


def _tokens_of(reply: Reply, given: list[Any]) -> Iterator[Observation]:
    """Judge the progress in an answer; a call that could report any and does not holds, too."""
    found = [one for one in _until_response(reply) if one.method == PROGRESS]
    if not found and reply.request.method == "tools/call" and reply.message is not None:
        yield held()
    for one in found:
        token = one.params.get("progressToken")
        if any(each is not _NO_TOKEN and same_id(each, token) for each in given):
            yield held()
        else:
            yield broke(
                "a progress notification has a token that its request did not give",
                seen=f"progressToken {named(token)} in the answer to {reply.request.method}",
                expected=_due(_token(reply)),
                evidence=one.sighting,
            )


def _due(token: Any) -> str:
    return "no progress" if token is _NO_TOKEN else f"progressToken {named(token)}"


def _until_response(reply: Reply) -> Iterator[Received]:
    """The messages up to the response; what follows it on a stream is MCP-RES-005's question."""
    for one in received_in(reply):
        if one.method is None:
            return
        yield one


@passive("CW-PRG-003", transports=STDIO_ONLY)
def progress_stops_with_the_response(traffic: Traffic) -> Observation:
    """A progress notification comes for a request that was answered already.

    Why: the client has forgotten the token by then.

    Fix: stop the reporting before the response is sent.
    """
    finished = _Finished()
    parts: list[tuple[str, Observation]] = []
    for reply in traffic.replies:
        for one in received_in(reply):
            if one.method == PROGRESS and finished.knows(one.params.get("progressToken")):
                parts.append((PROGRESS, _late(one)))
            elif one.method is None and same_id(one.payload.get("id"), reply.id):
                finished.add(_token(reply))
                parts += [("", held())] if _reports(reply) else []
    return once_each(parts) if parts else not_observed("no call reported progress")


@dataclass(slots=True)
class _Finished:
    """The tokens of requests that have been answered."""

    tokens: set[IdKey] = field(default_factory=set)

    def add(self, token: Any) -> None:
        if token is not _NO_TOKEN:
            self.tokens.add(id_key(token))

    def knows(self, token: Any) -> bool:
        return id_key(token) in self.tokens


def _late(one: Received) -> Observation:
    return broke(
        "progress is reported after the response",
        seen=f"progressToken {named(one.params.get('progressToken'))} of an answered request",
        expected="no progress after the response",
        evidence=one.sighting,
    )


def _reports(reply: Reply) -> bool:
    return any(one.method == PROGRESS for one in received_in(reply))


def _is_own(one: Received, reply: Reply) -> bool:
    token = _token(reply)
    return token is not _NO_TOKEN and same_id(one.params.get("progressToken"), token)


def _token(reply: Reply) -> Any:
    meta = (reply.request.params or {}).get("_meta")
    return meta.get("progressToken", _NO_TOKEN) if isinstance(meta, dict) else _NO_TOKEN
