"""Base messages and lifecycle of 2025-11-25: schema#common-types, schema#initialize and others."""

from __future__ import annotations

from clausewise.wire.codes import ErrorCode
from clausewise.wire.shapes.notation import (
    BOOLEAN,
    NUMBER,
    STRING,
    Definitions,
    Schema,
    array,
    error_response,
    map_of,
    obj,
    ref,
)

# The tasks page calls these properties boolean, schema.ts types them as objects: either passes.
_TASK_FLAG: Schema = {"type": ["object", "boolean"]}


def _task_capability(requests: Schema) -> Schema:
    return obj(optional={"list": _TASK_FLAG, "cancel": _TASK_FLAG, "requests": requests})


def request_params(
    required: dict[str, Schema] | None = None, optional: dict[str, Schema] | None = None
) -> Schema:
    """Params of a request: these members, and `_meta` with an optional progress token."""
    return obj(required, {**(optional or {}), "_meta": ref("RequestMetaObject")})


def notification_params(
    required: dict[str, Schema] | None = None, optional: dict[str, Schema] | None = None
) -> Schema:
    """Params of a notification: these members and `_meta`."""
    return obj(required, {**(optional or {}), "_meta": ref("MetaObject")})


def result(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """A result: these members and `_meta`."""
    return obj(required, {**(optional or {}), "_meta": ref("MetaObject")})


def page_of(member: str, definition: str) -> Schema:
    """The result of a paginated list."""
    return result({member: array(ref(definition))}, {"nextCursor": STRING})


_CHANGES = {"listChanged": BOOLEAN}

DEFINITIONS: Definitions = {
    "RequestMetaObject": obj(optional={"progressToken": ref("ProgressToken")}),
    "Result": result({}),
    "RequestParams": request_params(),
    "PaginatedRequestParams": request_params(optional={"cursor": STRING}),
    "NotificationParams": notification_params(),
    "CancelledNotificationParams": notification_params(
        optional={"requestId": ref("RequestId"), "reason": STRING}
    ),
    "ProgressNotificationParams": notification_params(
        {"progressToken": ref("ProgressToken"), "progress": NUMBER},
        {"total": NUMBER, "message": STRING},
    ),
    "InitializeRequestParams": request_params(
        {
            "protocolVersion": STRING,
            "capabilities": ref("ClientCapabilities"),
            "clientInfo": ref("Implementation"),
        }
    ),
    "InitializeResult": result(
        {
            "protocolVersion": STRING,
            "capabilities": ref("ServerCapabilities"),
            "serverInfo": ref("Implementation"),
        },
        {"instructions": STRING},
    ),
    "ClientCapabilities": obj(
        optional={
            "experimental": map_of(obj()),
            "roots": obj(optional=_CHANGES),
            "sampling": obj(optional={"context": obj(), "tools": obj()}),
            "elicitation": obj(optional={"form": obj(), "url": obj()}),
            "tasks": _task_capability(
                obj(
                    optional={
                        "sampling": obj(optional={"createMessage": _TASK_FLAG}),
                        "elicitation": obj(optional={"create": _TASK_FLAG}),
                    }
                )
            ),
        }
    ),
    "ServerCapabilities": obj(
        optional={
            "experimental": map_of(obj()),
            "logging": obj(),
            "completions": obj(),
            "prompts": obj(optional=_CHANGES),
            "resources": obj(optional={"subscribe": BOOLEAN, **_CHANGES}),
            "tools": obj(optional=_CHANGES),
            "tasks": _task_capability(obj(optional={"tools": obj(optional={"call": _TASK_FLAG})})),
        }
    ),
    "URLElicitationRequiredError": error_response(
        ErrorCode.URL_ELICITATION_REQUIRED,
        obj({"elicitations": array(ref("ElicitRequestURLParams"))}),
    ),
}
