"""Server features of 2026-07-28: tools, resources, prompts, completion, logging, subscriptions."""

from __future__ import annotations

from clausewise.wire.shapes.common.server import COMPLETE_CONTEXT, COMPLETE_PARAMS
from clausewise.wire.shapes.modern.base import (
    cacheable_result,
    notification_params,
    page_of,
    request_params,
    result,
    retryable_params,
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
    ref,
)

DEFINITIONS: Definitions = {
    "Tool": obj(
        {"name": STRING, "inputSchema": obj({"type": literal("object")}, {"$schema": STRING})},
        {
            "title": STRING,
            "description": STRING,
            "outputSchema": obj(optional={"$schema": STRING}),
            "annotations": ref("ToolAnnotations"),
            "icons": array(ref("Icon")),
            "_meta": ref("MetaObject"),
        },
    ),
    "ListToolsResult": page_of("tools", "Tool"),
    "CallToolRequestParams": retryable_params({"name": STRING}, {"arguments": obj()}),
    "CallToolResult": result(
        {"content": array(ref("ContentBlock"))}, {"structuredContent": ANY, "isError": BOOLEAN}
    ),
    "ListResourcesResult": page_of("resources", "Resource"),
    "ListResourceTemplatesResult": page_of("resourceTemplates", "ResourceTemplate"),
    "ReadResourceRequestParams": retryable_params({"uri": URI}),
    "ReadResourceResult": cacheable_result(
        {"contents": array(any_ref("TextResourceContents", "BlobResourceContents"))}
    ),
    "ResourceUpdatedNotificationParams": notification_params({"uri": URI}),
    "ListPromptsResult": page_of("prompts", "Prompt"),
    "GetPromptRequestParams": retryable_params({"name": STRING}, {"arguments": map_of(STRING)}),
    "GetPromptResult": result({"messages": array(ref("PromptMessage"))}, {"description": STRING}),
    "CompleteRequestParams": request_params(COMPLETE_PARAMS, COMPLETE_CONTEXT),
    "CompleteResult": result(
        {
            "completion": obj(
                {"values": array(STRING, at_most=100)}, {"total": COUNT, "hasMore": BOOLEAN}
            )
        }
    ),
    "LoggingMessageNotificationParams": notification_params(
        {"level": ref("LoggingLevel"), "data": ANY}, {"logger": STRING}
    ),
    "SubscriptionFilter": obj(
        optional={
            "toolsListChanged": BOOLEAN,
            "promptsListChanged": BOOLEAN,
            "resourcesListChanged": BOOLEAN,
            "resourceSubscriptions": array(STRING),
        }
    ),
    "SubscriptionsListenRequestParams": request_params(
        {"notifications": ref("SubscriptionFilter")}
    ),
    "SubscriptionsListenResult": obj(
        {"resultType": STRING, "_meta": ref("SubscriptionsListenResultMetaObject")}
    ),
    "SubscriptionsAcknowledgedNotificationParams": notification_params(
        {"notifications": ref("SubscriptionFilter")}
    ),
}
