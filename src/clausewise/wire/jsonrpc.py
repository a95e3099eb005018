"""JSON-RPC 2.0 as MCP uses it: what kind of message a value is, and when two ids are the same."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

NOTIFICATION_PREFIX = "notifications/"

IdKey = str | int | float | tuple[str, str]
"""What `id_key` yields: hashable, and equal exactly for the same id."""


class MessageClass(StrEnum):
    """What a value sent as a message is, told by its members."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    BATCH = "batch"
    MALFORMED = "malformed"


# Module constants: an attribute look-up on an enum class costs as much as the rest of classify().
_REQUEST = MessageClass.REQUEST
_NOTIFICATION = MessageClass.NOTIFICATION
_RESULT = MessageClass.RESULT
_ERROR = MessageClass.ERROR
_BATCH = MessageClass.BATCH
_MALFORMED = MessageClass.MALFORMED


def classify(value: Any) -> MessageClass:
    """The class of a message, decided by which members are present, never by their values.

    With `method`: a request if there is an `id` member (null included), else a notification.
    Without: a result or an error by that member, malformed with both or neither. The one
    exception is a `notifications/…` method with an id: it stays a notification, which carries
    an id that it must not have. An array is a batch, which neither revision allows; anything
    else is malformed.
    """
    if not isinstance(value, dict):
        return _BATCH if isinstance(value, list) else _MALFORMED
    if "method" in value:
        if "id" not in value:
            return _NOTIFICATION
        method = value["method"]
        if isinstance(method, str) and method.startswith(NOTIFICATION_PREFIX):
            return _NOTIFICATION
        return _REQUEST
    if "result" in value:
        return _MALFORMED if "error" in value else _RESULT
    return _ERROR if "error" in value else _MALFORMED


def valid_id(value: Any) -> bool:
    """Whether `value` may be the id of a request: a string or an integer.

    `1.0` is an integer (JSON has one number type); a boolean, null and `1.5` are no ids.
    Source: basic/index#requests of both revisions.
    """
    if isinstance(value, str):
        return True
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def id_key(value: Any) -> IdKey:
    """A hashable key of any value in id position: equal for two ids iff they are the same id.

    Ids are the same if JSON type and value agree: `1` and `1.0` are, `1` and `"1"`, `1` and
    `true` are not, and integers are exact at any size. Values that are no valid ids get keys
    too, so that an answer which echoes a bad id still finds its request.
    """
    if type(value) is int or type(value) is str:
        return value
    if isinstance(value, bool) or value is None:
        return ("literal", str(value))
    if isinstance(value, (str, int, float)):
        return value
    try:
        return ("container", repr(value))
    except RecursionError:
        return ("container", "nested too deeply")


def same_id(one: Any, other: Any) -> bool:
    """Whether two values in id position are the same id: see `id_key`."""
    return id_key(one) == id_key(other)
