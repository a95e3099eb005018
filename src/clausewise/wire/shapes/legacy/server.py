"""Server features of 2025-11-25: tools, resources, prompts, completion, logging."""

from __future__ import annotations

from clausewise.wire.shapes.common.server import COMPLETE_CONTEXT, COMPLETE_PARAMS
from clausewise.wire.shapes.legacy.base import (
    notification_params,
    page_of,
    request_params,
    result,
)
from clausewise.wire.shapes.notation import (
    ANY,
    BOOLEAN,
    COUNT,
    STRING,
    URI,
    Definitions,
    any_ref,
    array,
    literal,
    map_of,
    obj,
    one_of,
    ref,
)

_TOOL_SCHEMA = obj(
    {"type": literal("object")},
    {"$schema": STRING, "properties": map_of(obj()), "required": array(STRING)},
)

DEFINITIONS: Definitions = {
    "Tool": obj(
        {"name": STRING, "inputSchema": _TOOL_SCHEMA},
        {
            "title": STRING,
            "description": STRING,
            "outputSchema": _TOOL_SCHEMA,
            "annotations": ref("ToolAnnotations"),
            "execution": ref("ToolExecution"),
            "icons": array(ref("Icon")),
            "_meta": ref("MetaObject"),
        },
    ),
    "ToolExecution": obj(optional={"taskSupport": one_of("forbidden", "optional", "required")}),
    "ListToolsResult": page_of("tools", "Tool"),
    "CallToolRequestParams": request_params(
        {"name": STRING}, {"arguments": obj(), "task": ref("TaskMetadata")}
    ),
    "CallToolResult": result(
        {"content": array(ref("ContentBlock"))},
        {"structuredContent": obj(), "isError": BOOLEAN},
    ),
    "ListResourcesResult": page_of("resources", "Resource"),
    "ListResourceTemplatesResult": page_of("resourceTemplates", "ResourceTemplate"),
    "ReadResourceRequestParams": request_params({"uri": URI}),
    "ReadResourceResult": result(
        {"contents": array(any_ref("TextResourceContents", "BlobResourceContents"))}
    ),
    "SubscribeRequestParams": request_params({"uri": URI}),
    "UnsubscribeRequestParams": request_params({"uri": URI}),
    "ResourceUpdatedNotificationParams": notification_params({"uri": URI}),
    "ListPromptsResult": page_of("prompts", "Prompt"),
    "GetPromptRequestParams": request_params({"name": STRING}, {"arguments": map_of(STRING)}),
    "GetPromptResult": result({"messages": array(ref("PromptMessage"))}, {"description": STRING}),
    "CompleteRequestParams": request_params(COMPLETE_PARAMS, COMPLETE_CONTEXT),
    "CompleteResult": result(
        {"completion": obj({"values": array(STRING)}, {"total": COUNT, "hasMore": BOOLEAN})}
    ),
    "SetLevelRequestParams": request_params({"level": ref("LoggingLevel")}),
    "LoggingMessageNotificationParams": notification_params(
        {"level": ref("LoggingLevel"), "data": ANY}, {"logger": STRING}
    ),
}
