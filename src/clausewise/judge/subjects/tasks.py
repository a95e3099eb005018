"""Tasks: which request the result of a task belongs to, so that checks find it in either place."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Direction
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.sessions import Session

TASK_RESULT = "tasks/result"

MAX_TASKS = 4096
"""Tasks remembered a session; the results of older ones belong to no known request."""

TaskKey = tuple[Direction, str]
"""Direction of the request that the task runs, and the task's id: its receiver made it up."""


@dataclass(slots=True)
class _Tasks:
    """The requests of a session that were answered by a task."""

    requests: dict[TaskKey, Request] = field(default_factory=dict)


def creates_task(message: Message) -> bool:
    """Whether `message` is a CreateTaskResult: the request asks for a task, the result has one.

    A receiver without task support ignores the request's `task` and answers as usual.
    """
    request = message.request
    if request is None or not isinstance(request.params, dict):
        return False
    return "task" in request.params and isinstance(message.result.get("task"), dict)


def fulfilled_request(message: Message, session: Session) -> Request | None:
    """The request whose ordinary outcome `message`, a result or an error, brings.

    That is the request it answers; for a result of `tasks/result` the one that made the task.
    None for a CreateTaskResult, which is remembered here: a check that wants the results of
    tasks calls this for every result of its method and of `tasks/result`. None also for a task
    that the session did not see begin.
    """
    request = message.request
    if request is None:
        return None
    if request.method == TASK_RESULT:
        task_id = request.params.get("taskId") if isinstance(request.params, dict) else None
        if not isinstance(task_id, str):
            return None
        return session.state(_Tasks).requests.get((request.direction, task_id))
    if "task" not in message.result or not creates_task(message):
        return request
    task_id = message.result["task"].get("taskId")
    if isinstance(task_id, str):
        requests = session.state(_Tasks).requests
        requests[request.direction, task_id] = request
        if len(requests) > MAX_TASKS:
            forget_older_half(requests)
    return None
