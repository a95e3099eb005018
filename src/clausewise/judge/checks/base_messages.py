"""Base protocol, Messages: the members of requests, responses and notifications."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Revision
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.jsonrpc import NOTIFICATION_PREFIX, MessageClass, valid_id
from clausewise.wire.methods import requests

_REQUEST_METHODS = frozenset(requests(Revision.LEGACY))
_C2S = Direction.CLIENT_TO_SERVER
_NO_PARAMS: dict[str, Any] = {}
_KINDS_OF_RESPONSE = (MessageClass.RESULT, MessageClass.ERROR)
_KINDS_WITH_METHOD = (MessageClass.REQUEST, MessageClass.NOTIFICATION)


@check("base.request-id-type", on=("flawed request", "flawed notification"), subject="request")
def request_id_type(message: Message, session: Session, out: Sheet) -> None:
    """The id of a request is missing, or neither a string nor an integer.

    Why: the id is how the answer finds its request; other types do not survive every
    implementation, and without an id the receiver takes the request for a notification and
    never answers.
    Fix: give each request a string or an integer, such as a counter or a UUID.
    """
    if message.kind is MessageClass.NOTIFICATION:
        if message.method in _REQUEST_METHODS and message.id is ABSENT:
            out.broke(
                message,
                f"{message.method} is sent without an id",
                seen="no id member",
                expected="a string or an integer as id",
            )
    elif valid_id(message.id):
        out.held(message)
    elif message.id is not None:
        out.broke(
            message,
            "the id of a request is neither a string nor an integer",
            seen=f"id {shown(message.id)}",
            expected="a string or an integer as id",
        )


request_id_type.kept_by_sound("request")


@check("base.request-id-not-null", on="flawed request", subject="request")
def request_id_not_null(message: Message, session: Session, out: Sheet) -> None:
    """The id of a request is null.

    Why: null is what an error carries when the id could not be read, so an answer to it
    finds no request.
    Fix: give each request a string or an integer; leave the member out of notifications.
    """
    if message.id is None:
        out.broke(
            message,
            "the id of a request is null",
            seen="id null",
            expected="a string or an integer as id",
        )
    else:
        out.held(message)


request_id_not_null.kept_by_sound("request")


@check("base.notification-no-id", on="flawed notification", subject="notification")
def notification_no_id(message: Message, session: Session, out: Sheet) -> None:
    """A notification has an id member.

    Why: an id makes it a request to the receiver, which then answers something that nobody
    waits for.
    Fix: leave the id member out, rather than setting it to null.
    """
    if message.method is None or not message.method.startswith(NOTIFICATION_PREFIX):
        return
    if message.id is ABSENT:
        out.held(message)
    else:
        out.broke(
            message,
            f"{shown(message.method)} has an id",
            seen=f"id {shown(message.id)}",
            expected="no id member",
        )


notification_no_id.kept_by_sound("notification")


@check("base.error-shape", on="flawed error", subject="error response")
def error_shape(message: Message, session: Session, out: Sheet) -> None:
    """The error of an error response is no object with a code and a message.

    Why: the code is what programs act on and the message what people read; without them the
    failure cannot be told from any other.
    Fix: send `{"code": …, "message": "…"}` as the error, with a string as message.
    """
    error = message.member("error")
    fault = _error_fault(error)
    if fault is None:
        out.held(message)
    else:
        out.broke(
            message,
            "an error response lacks a proper error object",
            seen=fault,
            expected="an object with code and message, the message a string",
        )


error_shape.kept_by_sound("error")


def _error_fault(error: Any) -> str | None:
    if not isinstance(error, dict):
        return f"error {shown(error)}"
    missing = [name for name in ("code", "message") if name not in error]
    if missing:
        return f"no {' and no '.join(missing)}"
    text = error["message"]
    return None if isinstance(text, str) else f"message {shown(text)}"


@check("base.error-code-integer", on="flawed error", subject="error code")
def error_code_integer(message: Message, session: Session, out: Sheet) -> None:
    """An error code is no integer.

    Why: receivers compare codes with numbers; a code of another type matches none of them.
    Fix: send the code as a JSON integer, such as -32602.
    """
    error = message.member("error")
    if not isinstance(error, dict) or "code" not in error:
        return
    code = error["code"]
    if not isinstance(code, str) and valid_id(code):
        out.held(message)
    else:
        out.broke(
            message,
            "the code of an error is no integer",
            seen=f"code {shown(code)}",
            expected="an integer",
        )


error_code_integer.kept_by_sound("error")


@check("base.result-field", on=("flawed result", "malformed"), subject="result response")
def result_field(message: Message, session: Session, out: Sheet) -> None:
    """A response that is no error has no result, or one that is no object.

    Why: without a result the requester cannot tell success from a lost answer.
    Fix: send `"result": {}` where there is nothing to say.
    """
    if message.id is ABSENT or message.member("error") is not ABSENT:
        return
    result = message.member("result")
    if isinstance(result, dict):
        out.held(message)
    else:
        out.broke(
            message,
            "a response has neither an error nor a proper result",
            seen=f"result {shown(result)}",
            expected="an object as result",
        )


result_field.kept_by_sound("result")


@check("base.jsonrpc-version", on="flawed message", subject="message")
def jsonrpc_version(message: Message, session: Session, out: Sheet) -> None:
    """A message is no JSON-RPC 2.0 request, notification or response.

    Why: a receiver is free to drop what is no JSON-RPC 2.0 message, and most do.
    Fix: send one object with `"jsonrpc": "2.0"` and either a method or exactly one of result
    and error; arrays of messages left the protocol with revision 2025-06-18.
    """
    faults = () if _is_well_formed(message) else _envelope_faults(message)
    if faults:
        out.broke(
            message,
            "this is no JSON-RPC 2.0 message",
            seen="; ".join(faults),
            expected='one object with jsonrpc "2.0" and a method, a result or an error',
            severity=Outcome.WARN if _answers_a_batch(message) else None,
        )
    elif isinstance(message.member("params"), list):
        out.broke(
            message,
            "the params of a message are an array",
            seen=f"params {shown(message.member('params'))}",
            expected="an object: JSON-RPC allows arrays, the protocol's schema does not",
            severity=Outcome.WARN,
        )
    else:
        out.held(message)


jsonrpc_version.kept_by_sound("message")


def _is_well_formed(message: Message) -> bool:
    """Whether nothing is wrong, told fast; True for nearly every message there is."""
    payload = message.payload
    if type(payload) is not dict or payload.get("jsonrpc") != "2.0":
        return False
    if message.method is not None:
        return type(payload.get("params", _NO_PARAMS)) is dict
    return message.kind in _KINDS_OF_RESPONSE


def _answers_a_batch(message: Message) -> bool:
    """Whether it is an array that a server returns for one, as JSON-RPC itself has it."""
    exchange = message.exchange
    is_batch = message.kind is MessageClass.BATCH and message.direction is not _C2S
    return is_batch and exchange is not None and exchange.posted is MessageClass.BATCH


def _envelope_faults(message: Message) -> list[str]:
    payload = message.payload
    if not isinstance(payload, dict):
        return [shown(payload)]
    faults = []
    version = payload.get("jsonrpc", ABSENT)
    if version != "2.0":
        faults.append(f"jsonrpc {shown(version)}")
    if message.kind is MessageClass.MALFORMED:
        both = "result" in payload
        faults.append("both result and error" if both else "neither method, result nor error")
    if message.kind in _KINDS_WITH_METHOD:
        if message.method is None:
            faults.append(f"method {shown(payload['method'])}")
        if not isinstance(payload.get("params", {}), (dict, list)):
            faults.append(f"params {shown(payload['params'])}")
    return faults
