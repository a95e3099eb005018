"""Message shapes of both revisions: what a request, notification, result or error must look like.

    shape = request_shape(Revision.LEGACY, "tools/call", Direction.CLIENT_TO_SERVER)
    if shape and not shape.is_valid(message):
        fault = first_fault(shape, message)

Shapes are written in `common`, `legacy` and `modern`, one module per topic, from the schema page
of each revision; they carry the official names. They are built on first use and kept.

Request and notification shapes take the whole message, but leave its envelope (`jsonrpc`, `id`,
members that do not belong) to the caller, so that each fault is found once. Result and error
shapes take the value of `result` and of `error`.
"""

from __future__ import annotations

from functools import cache

from clausewise.core.errors import InternalError
from clausewise.core.vocabulary import Direction, Revision
from clausewise.wire import methods
from clausewise.wire.codes import ErrorCode
from clausewise.wire.methods import NotificationMethod, RequestMethod
from clausewise.wire.shapes.catalogue import body, definitions
from clausewise.wire.shapes.faults import Fault, faults, first_fault
from clausewise.wire.shapes.notation import ANY, Schema, literal, obj, ref, when
from clausewise.wire.shapes.shape import Shape, compile_shape

__all__ = [
    "Fault",
    "Shape",
    "error_shape",
    "faults",
    "first_fault",
    "input_request_shape",
    "input_response_shape",
    "notification_shape",
    "request_shape",
    "result_shape",
    "task_answer_shape",
    "validator",
]


@cache
def validator(revision: Revision, name: str) -> Shape:
    """The shape of the definition that the schema page of `revision` calls `name`.

    Raises:
        InternalError: the revision has no such definition.
    """
    if name not in definitions(revision):
        raise InternalError(f"{revision} has no definition {name!r}")
    return compile_shape(revision, name, ref(name))


def request_shape(revision: Revision, method: str, direction: Direction) -> Shape | None:
    """The shape of a request message, envelope aside; None if its sender has no such request."""
    if method not in methods.requests(revision):
        return None
    return _request_shape(revision, method, direction)


def notification_shape(revision: Revision, method: str, direction: Direction) -> Shape | None:
    """The shape of a notification message, envelope aside; None if its sender has no such one."""
    if method not in methods.notifications(revision):
        return None
    return _notification_shape(revision, method, direction)


def result_shape(revision: Revision, method: str, direction: Direction) -> Shape | None:
    """The shape of the `result` that answers a request travelling in `direction`.

    In 2026-07-28 the shape depends on `resultType`: the method's result for `complete` (and,
    though the member is then missing, without it), an InputRequiredResult for
    `input_required`, and a bare Result for types that extensions add. None as for requests.
    The result of `tasks/result` is open here: its shape is that of the request it belongs to.
    """
    if method not in methods.requests(revision):
        return None
    return _result_shape(revision, method, direction)


def task_answer_shape(method: str, direction: Direction) -> Shape | None:
    """The shape of the `result` of a 2025-11-25 request that carries `task`.

    A CreateTaskResult if it has the member `task`, else the ordinary result, since a receiver
    without task support ignores the request's `task`. None for methods without tasks.
    """
    if method not in methods.requests(Revision.LEGACY):
        return None
    return _task_answer_shape(method, direction)


def error_shape(revision: Revision, code: object = None) -> Shape:
    """The shape of the `error` member, with the `data` that errors of this `code` owe."""
    known = _ERRORS[revision]
    name = known.get(code, "Error") if isinstance(code, (int, float)) else "Error"
    return _error_shape(revision, name)


def input_request_shape(method: str) -> Shape | None:
    """The shape of a value of `inputRequests` (2026-07-28); None for unknown methods."""
    return _input_request_shape(method) if method in methods.input_requests() else None


def input_response_shape(method: str) -> Shape | None:
    """The shape of the value of `inputResponses` that answers an input request (2026-07-28)."""
    row = methods.input_requests().get(method)
    return validator(Revision.MODERN, row.result) if row else None


_ERRORS: dict[Revision, dict[float, str]] = {
    Revision.LEGACY: {ErrorCode.URL_ELICITATION_REQUIRED: "URLElicitationRequiredError"},
    Revision.MODERN: {
        ErrorCode.HEADER_MISMATCH: "HeaderMismatchError",
        ErrorCode.MISSING_CLIENT_CAPABILITY: "MissingRequiredClientCapabilityError",
        ErrorCode.UNSUPPORTED_VERSION: "UnsupportedProtocolVersionError",
    },
}


# The caches below are keyed by known methods alone: names that a peer makes up never enter them.


@cache
def _request_shape(revision: Revision, method: str, direction: Direction) -> Shape | None:
    return _body_shape(revision, methods.requests(revision)[method], direction)


@cache
def _notification_shape(revision: Revision, method: str, direction: Direction) -> Shape | None:
    return _body_shape(revision, methods.notifications(revision)[method], direction)


@cache
def _input_request_shape(method: str) -> Shape | None:
    row = methods.input_requests()[method]
    return _body_shape(Revision.MODERN, row, Direction.SERVER_TO_CLIENT)


def _body_shape(
    revision: Revision, row: RequestMethod | NotificationMethod, direction: Direction
) -> Shape | None:
    if direction.sender not in row.senders:
        return None
    return compile_shape(revision, row.definition, body(row))


@cache
def _result_shape(revision: Revision, method: str, direction: Direction) -> Shape | None:
    row = methods.requests(revision)[method]
    if direction.sender not in row.senders:
        return None
    if revision is Revision.LEGACY:
        return validator(revision, row.result)
    complete = obj(optional={"resultType": literal("complete")})
    asking = obj({"resultType": literal("input_required")})
    other = when(asking, ref("InputRequiredResult"), ref("Result"))
    return compile_shape(revision, row.result, when(complete, ref(row.result), other))


@cache
def _task_answer_shape(method: str, direction: Direction) -> Shape | None:
    row = methods.requests(Revision.LEGACY)[method]
    if not row.taskable or direction.sender not in row.senders:
        return None
    schema = when(obj({"task": ANY}), ref("CreateTaskResult"), ref(row.result))
    return compile_shape(Revision.LEGACY, f"CreateTaskResult or {row.result}", schema)


@cache
def _error_shape(revision: Revision, name: str) -> Shape:
    schema: Schema = ref(name)
    if name != "Error":
        schema = definitions(revision)[name]["properties"]["error"]
    return compile_shape(revision, name, schema)
