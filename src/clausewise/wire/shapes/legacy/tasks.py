"""Tasks of 2025-11-25: schema#tasks."""

from __future__ import annotations

from clausewise.wire.shapes.legacy.base import page_of, result
from clausewise.wire.shapes.notation import (
    COUNT,
    STRING,
    Definitions,
    all_of,
    obj,
    one_of,
    ref,
)

# The schema page writes these params in place; they are named here after their requests.
_TASK_PARAMS = obj({"taskId": STRING})

DEFINITIONS: Definitions = {
    "Task": obj(
        {
            "taskId": STRING,
            "status": ref("TaskStatus"),
            "createdAt": STRING,
            "lastUpdatedAt": STRING,
            "ttl": {"type": ["number", "null"]},
        },
        {"statusMessage": STRING, "pollInterval": COUNT},
    ),
    "TaskStatus": one_of("working", "input_required", "completed", "failed", "cancelled"),
    "TaskMetadata": obj(optional={"ttl": COUNT}),
    "RelatedTaskMetadata": obj({"taskId": STRING}),
    "CreateTaskResult": result({"task": ref("Task")}),
    "GetTaskRequestParams": _TASK_PARAMS,
    "GetTaskResult": all_of(ref("Result"), ref("Task")),
    "GetTaskPayloadRequestParams": _TASK_PARAMS,
    "GetTaskPayloadResult": ref("Result"),
    "ListTasksResult": page_of("tasks", "Task"),
    "CancelTaskRequestParams": _TASK_PARAMS,
    "CancelTaskResult": all_of(ref("Result"), ref("Task")),
    "TaskStatusNotificationParams": all_of(ref("NotificationParams"), ref("Task")),
}
