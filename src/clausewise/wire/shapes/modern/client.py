"""Client features of 2026-07-28, asked for by input requests: roots, sampling, elicitation."""

from __future__ import annotations

from clausewise.wire.shapes.common.client import (
    CREATE_MESSAGE_OPTIONS,
    CREATE_MESSAGE_PARAMS,
    ELICIT_ACTION,
    ELICIT_CONTENT,
    REQUESTED_SCHEMA,
    SAMPLED_CONTENT,
)
from clausewise.wire.shapes.notation import (
    ANY,
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

DEFINITIONS: Definitions = {
    # The schema page writes these params in place; they are named here after their request.
    "ListRootsRequestParams": obj(optional={"_meta": ref("MetaObject")}),
    "ListRootsResult": obj({"roots": array(ref("Root"))}),
    "CreateMessageRequestParams": obj(
        CREATE_MESSAGE_PARAMS, {**CREATE_MESSAGE_OPTIONS, "metadata": ref("JSONObject")}
    ),
    "CreateMessageResult": obj(
        {"role": ref("Role"), "content": SAMPLED_CONTENT, "model": STRING},
        {"stopReason": STRING, "_meta": ref("MetaObject")},
    ),
    "ToolResultContent": obj(
        {
            "type": literal("tool_result"),
            "toolUseId": STRING,
            "content": array(ref("ContentBlock")),
        },
        {"structuredContent": ANY, "isError": BOOLEAN, "_meta": ref("MetaObject")},
    ),
    "ElicitRequestParams": any_ref("ElicitRequestFormParams", "ElicitRequestURLParams"),
    "ElicitRequestFormParams": obj(
        {"message": STRING, "requestedSchema": REQUESTED_SCHEMA}, {"mode": literal("form")}
    ),
    "ElicitRequestURLParams": obj({"mode": literal("url"), "message": STRING, "url": URI}),
    "ElicitResult": obj(ELICIT_ACTION, ELICIT_CONTENT),
}
