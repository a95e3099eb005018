"""How long each task of a session lived, as far as its recorded statuses show."""

# ruff: noqa: ARG001 - every handler takes (event, session, out)

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clausewise.judge.ledger import Sheet
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.ordering import Sent, sent
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.content import objects
from clausewise.judge.subjects.tasks import MAX_TASKS, TASK_RESULT, TaskKey, creates_task
from clausewise.wire.jsonrpc import MessageClass

TERMINAL = frozenset({"cancelled", "completed", "failed"})
_RESULT = MessageClass.RESULT
_LIVE = frozenset({"input_required", "working"})
_TASK_METHODS = frozenset({"tasks/cancel", "tasks/get", "tasks/list", TASK_RESULT})

TASK_EVENTS = (
    "result:tools/call",
    "result:sampling/createMessage",
    "result:elicitation/create",
    "request:tasks/get",
    "request:tasks/result",
    "request:tasks/cancel",
    "result:tasks/get",
    "result:tasks/result",
    "result:tasks/cancel",
    "result:tasks/list",
    "notification:notifications/tasks/status",
)
"""What a check subscribes `follow_tasks` to."""


@dataclass(slots=True, eq=False)
class Task:
    """A task that the session saw begin.

    Attributes:
        request: the request that made it.
        created: seq of the CreateTaskResult.
        ended: the first message that showed a terminal status, None before there is one.
        alive_at: seq of the last message that showed another status.
        used_at: seq of the first message by which the requestor showed that it knows the task.
    """

    request: Request
    created: int
    ended: Sent | None = None
    alive_at: int = -1
    used_at: int | None = None


@dataclass(slots=True)
class Tasks:
    """The tasks of a session, by their key and by the seq of the request that made each."""

    by_key: dict[TaskKey, Task] = field(default_factory=dict)
    by_request: dict[int, Task] = field(default_factory=dict)

    def of(self, request: Request) -> Task | None:
        """The task that `request` made, if any."""
        return self.by_request.get(request.seq)


def follow_tasks(message: Message, session: Session, out: Sheet) -> None:
    """Take in a message of `TASK_EVENTS`; a handler, and harmless when called again."""
    request = message.request
    if message.kind is _RESULT:
        if "task" in message.result and creates_task(message):
            _create(session.state(Tasks), message)
        elif request is not None and request.method in _TASK_METHODS:
            _read_result(session.state(Tasks), message, request)
    elif message.kind is MessageClass.REQUEST:
        _note_use(session.state(Tasks), message)
    else:
        params = message.params
        key = message.direction.opposite, params.get("taskId")
        _show_status(session.state(Tasks), key, params.get("status"), message)


def _create(tasks: Tasks, message: Message) -> None:
    request, made = message.request, message.result["task"]
    task_id = made.get("taskId")
    if request is None or not isinstance(task_id, str):
        return
    known = tasks.by_request.get(request.seq)
    if known is not None and known.created == message.seq:
        return
    tasks.by_key[request.direction, task_id] = tasks.by_request[request.seq] = Task(
        request, message.seq
    )
    for table in (tasks.by_key, tasks.by_request):
        if len(table) > MAX_TASKS:
            forget_older_half(table)
    _show_status(tasks, (request.direction, task_id), made.get("status"), message)


def _note_use(tasks: Tasks, message: Message) -> None:
    task_id = message.params.get("taskId")
    task = tasks.by_key.get((message.direction, task_id)) if isinstance(task_id, str) else None
    if task is not None and task.used_at is None:
        task.used_at = message.seq


def _read_result(tasks: Tasks, message: Message, request: Request) -> None:
    result = message.result
    if request.method == "tasks/list":
        for task in objects(result.get("tasks")):
            _show_status(
                tasks, (request.direction, task.get("taskId")), task.get("status"), message
            )
        return
    task_id = request.params.get("taskId") if isinstance(request.params, dict) else None
    # A result of tasks/result waits until the task has ended.
    status = "completed" if request.method == TASK_RESULT else result.get("status")
    _show_status(tasks, (request.direction, task_id), status, message)


def _show_status(tasks: Tasks, key: tuple[Any, Any], status: Any, message: Message) -> None:
    task = tasks.by_key.get(key) if isinstance(key[1], str) else None
    if task is None or not isinstance(status, str):
        return
    if status in _LIVE:
        task.alive_at = message.seq
    elif status in TERMINAL and task.ended is None:
        task.ended = sent(message)
