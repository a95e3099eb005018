"""Does each message have the shape that the schema page gives it? A remark, where no clause says.

A fault must belong to a clause to be a finding, and many sentences of the schema page are in no
clause. So a message without a finding of its own that misses its shape is told as a remark.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Direction, Revision
from clausewise.judge.registration import On
from clausewise.judge.session.messages import Message
from clausewise.judge.wording import counted
from clausewise.wire.codes import ErrorCode
from clausewise.wire.jsonrpc import MessageClass
from clausewise.wire.shapes import (
    Shape,
    error_shape,
    first_fault,
    notification_shape,
    request_shape,
    result_shape,
    task_answer_shape,
)

MAX_KINDS = 20
"""Different faults of a recording that are told; of further ones, how many there are."""

MAX_PATH = 80
"""Characters of the place of a fault that are told."""

_REVISION = Revision.LEGACY
_RESULT = MessageClass.RESULT
_ERROR = MessageClass.ERROR
_INDEX = re.compile(r"/\d+(?=/|$)")


Fits = Callable[[Any], bool]
"""Whether a value has a shape; raises ValueError for what the engine cannot take as it is."""


def usual_shape(direction: Direction, kind: str, method: str | None) -> Fits | None:
    """The shape that nearly all messages of one class have; None where there is none to tell.

    It is that of the whole message for requests and notifications, of the `result` for results;
    `method` is that of the request which they answer.
    """
    if method is None:
        return None
    shape: Shape | None = None
    if kind == On.REQUEST:
        shape = request_shape(_REVISION, method, direction)
    elif kind == On.NOTIFICATION:
        shape = notification_shape(_REVISION, method, direction)
    elif kind == On.RESULT:
        shape = result_shape(_REVISION, method, direction.opposite)
    return shape.fits if shape is not None else None


def may_miss(message: Message, fits: Fits) -> bool:
    """Whether a sound message is not of the usual shape of its class, told fast."""
    try:
        if message.kind is _RESULT:
            return "task" in message.result or not fits(message.result)
        return not fits(message.payload)
    except ValueError:
        return True


@dataclass(slots=True)
class _Told:
    """One fault: where it was seen first, and how often."""

    seq: int
    what: str
    count: int = 1


@dataclass(slots=True)
class ShapeFaults:
    """The faults of a recording that no clause has as its finding, each kind of fault once."""

    _told: dict[tuple[str, str, str], _Told | None] = field(default_factory=dict)
    _further: int = 0

    def look(self, message: Message, *, has_finding: bool) -> None:
        """Take in a message that may miss its shape.

        With `has_finding` a clause has told of it; of later messages with the same fault, too,
        nothing is said.
        """
        shape, value, name = _due(message)
        fault = first_fault(shape, value) if shape is not None else None
        if fault is None:
            return
        key = (name, _INDEX.sub("/*", fault.path), fault.message)
        known = self._told.get(key)
        if known is not None:
            known.count += 1
        elif key in self._told:
            return
        elif len(self._told) >= MAX_KINDS:
            self._further += not has_finding
        elif has_finding:
            self._told[key] = None
        else:
            place = fault.path[:MAX_PATH] or "it"
            self._told[key] = _Told(message.seq, f"{name}: {place} {fault.message}")

    @property
    def notes(self) -> tuple[str, ...]:
        """The faults as sentences, in the order in which they were seen."""
        notes = [
            f"shape: {told.what} (seq {told.seq}"
            + (f" and {counted(told.count - 1, 'more message')})" if told.count > 1 else ")")
            for told in self._told.values()
            if told is not None
        ]
        if self._further:
            notes.append(f"shape: {counted(self._further, 'further message')} with other faults")
        return tuple(notes)


def _due(message: Message) -> tuple[Shape | None, Any, str]:
    """The shape that a sound message should have, what should have it, and its name in words."""
    if message.kind is _ERROR:
        error = message.payload["error"]
        return error_shape(_REVISION, error["code"]), error, f"error {error['code']}"
    request, direction = message.request, message.direction
    if message.kind is _RESULT:
        if request is None or request.method is None:
            return None, None, ""
        params = request.params
        shape = None
        if type(params) is dict and "task" in params:
            shape = task_answer_shape(request.method, request.direction)
        shape = shape or result_shape(_REVISION, request.method, request.direction)
        return shape, message.result, f"result of {request.method}"
    method = message.method or ""
    if message.kind is MessageClass.REQUEST:
        return request_shape(_REVISION, method, direction), message.payload, method
    return notification_shape(_REVISION, method, direction), message.payload, method


def owes_data(message: Message) -> bool:
    """Whether a sound error has a code that demands data of a certain shape."""
    return bool(message.payload["error"]["code"] == ErrorCode.URL_ELICITATION_REQUIRED)
