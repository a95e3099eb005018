"""Our rules about the envelope of every message (CW-RES-002, 003, 005, 007; CW-ERR-002, 003)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from clausewise.core.vocabulary import Direction
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import Observation, broke, held, not_observed
from clausewise.probe.registration import passive
from clausewise.probe.subjects.grouping import Sighting, once_each
from clausewise.probe.subjects.received import Received, received
from clausewise.probe.wording import named, named_member
from clausewise.trace.events import EventKind
from clausewise.transport.answers import Ending
from clausewise.wire.jsonrpc import NOTIFICATION_PREFIX

Judge = Callable[[Received], Observation | None]


def _each(traffic: Traffic, judge: Judge, nothing: str) -> Observation:
    """Judge every message from the server; `judge` gives None where there is no occasion."""
    parts = [(_kind(one), seen) for one in received(traffic) if (seen := judge(one)) is not None]
    return once_each(parts) if parts else not_observed(nothing)


def _kind(one: Received) -> str | None:
    return one.method or one.reply.request.method


@passive("CW-RES-002")
def message_is_json_rpc(traffic: Traffic) -> Observation:
    """A message does not say `"jsonrpc": "2.0"`.

    Why: clients tell JSON-RPC 2.0 from other JSON, such as a gateway's error page, by this
    member, and drop what lacks it.

    Fix: put `"jsonrpc": "2.0"`, a string, into every message.
    """

    def judge(one: Received) -> Observation:
        if one.payload.get("jsonrpc") == "2.0":
            return held()
        return broke(
            f"{one.what} is no message of JSON-RPC 2.0",
            seen=named_member(one.payload, "jsonrpc"),
            expected='"jsonrpc": "2.0"',
            evidence=one.sighting,
        )

    return _each(traffic, judge, "no message was seen")


@passive("CW-RES-003")
def response_has_result_or_error(traffic: Traffic) -> Observation:
    """A response has neither a result nor an error, or both.

    Why: the client cannot tell whether the request succeeded.

    Fix: answer with `result` alone where it succeeded, else with `error` alone.
    """

    def judge(one: Received) -> Observation | None:
        if one.method is not None:
            return None
        has = [member for member in ("result", "error") if member in one.payload]
        if len(has) == 1:
            return held()
        return broke(
            f"{one.what} cannot be told from one of the other kind",
            seen="both result and error" if has else "neither result nor error",
            expected="either result or error",
            evidence=one.sighting,
        )

    return _each(traffic, judge, "no response was seen")


@passive("CW-RES-005")
def notification_has_no_id(traffic: Traffic) -> Observation:
    """A notification from the server carries an id.

    Why: with an id it looks like a request, which clients of this revision must not get, and
    which they may answer or refuse.

    Fix: leave `id` out of notifications, null included.
    """

    def judge(one: Received) -> Observation | None:
        if one.method is None or not one.method.startswith(NOTIFICATION_PREFIX):
            return None
        if "id" not in one.payload:
            return held()
        return broke(
            f"{one.what} carries an id",
            seen=f"id {named(one.payload['id'])}",
            expected="no id",
            evidence=one.sighting,
        )

    return _each(traffic, judge, "no notification from the server was seen")


@passive("CW-ERR-002")
def error_has_code_and_message(traffic: Traffic) -> Observation:
    """An error has no code or no message.

    Why: clients choose what to do by the code and show the message to people.

    Fix: give every error object an integer `code` and a string `message`.
    """

    def judge(one: Received) -> Observation | None:
        if one.method is not None or "error" not in one.payload:
            return None
        error = one.payload["error"]
        lacks = _lacking(error)
        if not lacks:
            return held()
        return broke(
            f"{one.what} is incomplete",
            seen=f"error is {named(error)}" if not isinstance(error, dict) else lacks,
            expected="an object with a code and a message",
            evidence=one.sighting,
        )

    return _each(traffic, judge, "no error was seen")


def _lacking(error: Any) -> str:
    """What an error object lacks, in words; the type of its code is CW-ERR-003's question."""
    if not isinstance(error, dict):
        return "no object"
    if "code" not in error:
        return "no code"
    if not isinstance(error.get("message"), str):
        return named_member(error, "message")
    return ""


@passive("CW-ERR-003")
def error_code_is_an_integer(traffic: Traffic) -> Observation:
    """An error code is no integer.

    Why: clients compare codes with the numbers of the specification; `"-32602"` equals none.

    Fix: send the code as a JSON number without fraction.
    """

    def judge(one: Received) -> Observation | None:
        error = one.payload.get("error")
        if one.method is not None or not isinstance(error, dict) or "code" not in error:
            return None
        code = error["code"]
        if type(code) is int or (isinstance(code, float) and code.is_integer()):
            return held()
        return broke(
            f"{one.what} has a code that is no integer",
            seen=f"code {named(code)}",
            expected="an integer",
            evidence=one.sighting,
        )

    return _each(traffic, judge, "no error with a code was seen")


@passive("CW-RES-007")
def messages_are_utf8(traffic: Traffic) -> Observation:
    """A message is not UTF-8.

    Why: clients decode every message as UTF-8; of another encoding they make replacement
    characters, or nothing at all.

    Fix: encode what is sent as UTF-8, whatever the locale of the process.
    """
    if any(r.request.method in _JUDGED_AS_JSON and _is_bad_json(r) for r in traffic.replies):
        return not_observed("JSON bodies are no UTF-8, so no JSON: MCP-RES-005's finding")
    parts = [(reply.request.method, seen) for reply in traffic.replies for seen in _decoded(reply)]
    return once_each(parts) if parts else not_observed("no message was seen")


_JUDGED_AS_JSON = frozenset(
    {"server/discover", "tools/list", "prompts/list", "resources/read", "tools/call"}
)
"""The methods whose JSON bodies MCP-RES-005 reads."""


def _is_bad_json(reply: Reply) -> bool:
    return reply.media_type == "application/json" and _undecodable(reply) is not None


def _decoded(reply: Reply) -> Iterator[Observation]:
    fault = _undecodable(reply)
    if fault is not None:
        yield broke(
            f"an answer to {reply.request.method} is not UTF-8",
            seen=fault.what,
            expected="UTF-8",
            evidence=Sighting(fault.seq, reply.reproduce),
        )
    elif reply.answer.messages:
        yield held()


class _Undecodable:
    """Bytes that are no UTF-8 and where they stand."""

    def __init__(self, what: str, seq: int | None) -> None:
        self.what = what
        self.seq = seq


def _undecodable(reply: Reply) -> _Undecodable | None:
    answer = reply.answer
    is_text = reply.media_type in ("application/json", "text/event-stream")
    is_plain = (reply.header("content-encoding") or "identity").lower() == "identity"
    if is_text and is_plain and answer.ending is Ending.COMPLETE:
        try:
            answer.body.decode("utf-8")
        except UnicodeDecodeError as error:
            return _Undecodable(f"byte 0x{answer.body[error.start]:02x}", reply.seq)
    for event in answer.events if answer.status is None else ():
        is_theirs = event.direction is Direction.SERVER_TO_CLIENT
        if is_theirs and event.kind is EventKind.RAW and "base64" in event.fields:
            return _Undecodable("a line with bytes that are no UTF-8", event.seq)
    return None
