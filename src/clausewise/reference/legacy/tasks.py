"""Tasks: requests that go on after they were answered, to be asked about and fetched later.

Each belongs to whoever made it: the user of the token, or else the session. It is kept for its
`ttl`, at most an hour; one owner may have 32 at work at a time.

Source: 2025-11-25, basic/utilities/tasks.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import anyio

from clausewise.reference.call import Outlet
from clausewise.reference.input_requests import InputRequest
from clausewise.reference.messages import INTERNAL_ERROR, INVALID_PARAMS, JsonObject, RpcError
from clausewise.wire.meta import META_RELATED_TASK

DEFAULT_TTL_MS = 300_000
MAX_TTL_MS = 3_600_000
MAX_WORKING = 32
_MAX_KEPT = 1000
_POLL_INTERVAL_MS = 100


class TaskStatus(StrEnum):
    """Where a task stands."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


TERMINAL = frozenset({TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED})


@dataclass(slots=True, eq=False)
class TaskQuestion:
    """Something that a task asks its client.

    `params` are those of the request; `reply` is the response message, or why there is none.
    """

    asked: InputRequest
    params: JsonObject
    answered: anyio.Event = field(default_factory=anyio.Event)
    reply: JsonObject | RpcError | None = None

    def answer(self, reply: JsonObject | RpcError) -> None:
        """Let the task go on with `reply`."""
        self.reply = reply
        self.answered.set()


@dataclass(frozen=True, slots=True, eq=False)
class TaskReader:
    """A request for the result of a task, whose `outlet` can carry messages ahead of that."""

    outlet: Outlet


class Task:
    """One task: its state, what it asks, how it ended.

    Attributes:
        number: grows from task to task of a server.
        scope: cancels what the task does.
        questions: what it asks and nobody has put to the client yet.
        reader: the newest request for its result, if one is in progress.
        outcome: what the request of the task would have been answered with, once it ended.
    """

    def __init__(self, owner: str, number: int, ttl_ms: int) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner = owner
        self.number = number
        self.ttl_ms = ttl_ms
        self.status = TaskStatus.WORKING
        self.scope = anyio.CancelScope()
        self.questions: deque[TaskQuestion] = deque()
        self.reader: TaskReader | None = None
        self.outcome: JsonObject | RpcError | None = None
        self._message = "The task has begun."
        self._created = self._updated = _now()
        self._expires = time.monotonic() + ttl_ms / 1000
        self._changed = anyio.Event()

    @property
    def ended(self) -> bool:
        return self.status in TERMINAL

    @property
    def expired(self) -> bool:
        return time.monotonic() >= self._expires

    @property
    def state(self) -> JsonObject:
        """The Task object as messages carry it."""
        return {
            "taskId": self.id,
            "status": self.status.value,
            "statusMessage": self._message,
            "createdAt": self._created,
            "lastUpdatedAt": self._updated,
            "ttl": self.ttl_ms,
            "pollInterval": _POLL_INTERVAL_MS,
        }

    @property
    def related(self) -> JsonObject:
        """The `_meta` entry of messages that belong to this task."""
        return {META_RELATED_TASK: {"taskId": self.id}}

    def move(self, status: TaskStatus, message: str) -> bool:
        """Change the status; False, and no change, once the task has ended."""
        if self.ended or status is self.status:
            return False
        self.status, self._message, self._updated = status, message, _now()
        self.wake()
        return True

    def end(self, status: TaskStatus, outcome: JsonObject | RpcError, message: str) -> bool:
        """Enter a terminal status; False if the task is in one."""
        if self.ended:
            return False
        self.outcome = outcome
        return self.move(status, message)

    def read_by(self, reader: TaskReader | None) -> None:
        """From now on `reader` carries the messages of the task."""
        self.reader = reader
        self.wake()

    def ask(self, question: TaskQuestion) -> None:
        """Put a question where a request for the result finds it."""
        self.questions.append(question)
        self.wake()

    def wake(self) -> None:
        """Let those who wait for a change look."""
        self._changed.set()
        self._changed = anyio.Event()

    async def change(self) -> None:
        """Wait until something changes."""
        await self._changed.wait()


class TaskStore:
    """The tasks of a server, until their `ttl` has passed."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._newest = 0

    @property
    def newest(self) -> int:
        """The number of the newest task, 0 before there is one."""
        return self._newest

    def create(self, owner: str, metadata: Any) -> Task:
        """A new task for `owner`, as the `task` parameter of its request wants it.

        Raises:
            RpcError: the parameter is ill-formed (invalid params), or there are too many tasks.
        """
        ttl = _ttl(metadata)
        self._forget_expired()
        if sum(not task.ended for task in self._of(owner)) >= MAX_WORKING:
            raise RpcError(INTERNAL_ERROR, f"more than {MAX_WORKING} tasks at work")
        if len(self._tasks) >= _MAX_KEPT:
            raise RpcError(INTERNAL_ERROR, "the server keeps no more tasks")
        self._newest += 1
        task = Task(owner, self._newest, ttl)
        self._tasks[task.id] = task
        return task

    def find(self, owner: str, task_id: Any) -> Task:
        """The task `task_id` of `owner`.

        Raises:
            RpcError: the owner has none of that id, or no longer (invalid params).
        """
        self._forget_expired()
        task = self._tasks.get(task_id) if isinstance(task_id, str) else None
        if task is None or task.owner != owner:
            raise RpcError(INVALID_PARAMS, "Task not found, or no longer kept")
        return task

    def after(self, owner: str, number: int) -> list[Task]:
        """The owner's tasks with a higher number, in their order."""
        self._forget_expired()
        return [task for task in self._of(owner) if task.number > number]

    def drop(self, owner: str) -> None:
        """Stop and forget the tasks of an owner that will not come back."""
        for task in self._of(owner):
            self._forget(task)

    def _of(self, owner: str) -> list[Task]:
        return [task for task in self._tasks.values() if task.owner == owner]

    def _forget_expired(self) -> None:
        for task in [task for task in self._tasks.values() if task.expired]:
            self._forget(task)

    def _forget(self, task: Task) -> None:
        task.scope.cancel()
        del self._tasks[task.id]


def _ttl(metadata: Any) -> int:
    """How long to keep a task, in milliseconds: what is asked for, within bounds."""
    if not isinstance(metadata, Mapping):
        raise RpcError(INVALID_PARAMS, "params.task must be an object")
    wanted = metadata.get("ttl")
    if wanted is None:
        return DEFAULT_TTL_MS
    if isinstance(wanted, bool) or not isinstance(wanted, (int, float)) or wanted < 0:
        raise RpcError(INVALID_PARAMS, "params.task.ttl must be a number of milliseconds")
    return int(min(wanted, MAX_TTL_MS))


def _now() -> str:
    """The time as ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
