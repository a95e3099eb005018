"""Client features of 2025-11-25: roots, sampling, elicitation."""

from __future__ import annotations

from clausewise.wire.shapes.common.client import (
    CREATE_MESSAGE_OPTIONS,
    CREATE_MESSAGE_PARAMS,
    ELICIT_ACTION,
    ELICIT_CONTENT,
    REQUESTED_SCHEMA,
    SAMPLED_CONTENT,
)
from clausewise.wire.shapes.legacy.base import request_params, result
from clausewise.wire.shapes.notation import (
    BOOLEAN,
    STRING,
    URI,
    Definitions,
    any_ref,
    array,
    literal,
    obj,
    ref,
)

_TASK = {"task": ref("TaskMetadata")}

DEFINITIONS: Definitions = {
    "ListRootsResult": result({"roots": array(ref("Root"))}),
    "CreateMessageRequestParams": request_params(
        CREATE_MESSAGE_PARAMS, {**CREATE_MESSAGE_OPTIONS, "metadata": obj(), **_TASK}
    ),
    "CreateMessageResult": result(
        {"role": ref("Role"), "content": SAMPLED_CONTENT, "model": STRING},
        {"stopReason": STRING},
    ),
    "ToolResultContent": obj(
        {
            "type": literal("tool_result"),
            "toolUseId": STRING,
            "content": array(ref("ContentBlock")),
        },
        {"structuredContent": obj(), "isError": BOOLEAN, "_meta": ref("MetaObject")},
    ),
    "ElicitRequestParams": any_ref("ElicitRequestFormParams", "ElicitRequestURLParams"),
    "ElicitRequestFormParams": request_params(
        {"message": STRING, "requestedSchema": REQUESTED_SCHEMA},
        {"mode": literal("form"), **_TASK},
    ),
    "ElicitRequestURLParams": request_params(
        {"mode": literal("url"), "message": STRING, "url": URI, "elicitationId": STRING}, _TASK
    ),
    "ElicitResult": result(ELICIT_ACTION, ELICIT_CONTENT),
    "ElicitationCompleteNotificationParams": obj({"elicitationId": STRING}),
}
