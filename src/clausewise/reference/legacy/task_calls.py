"""A tool call that runs as a task, after its request was answered.

Source: 2025-11-25, basic/utilities/tasks.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from clausewise.reference.call import Outlet
from clausewise.reference.input_requests import InputRequest
from clausewise.reference.legacy.call import LegacyCall
from clausewise.reference.legacy.parts import LegacyParts
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.legacy.tasks import Task, TaskQuestion, TaskStatus
from clausewise.reference.messages import INTERNAL_ERROR, JsonObject, RpcError, notification

logger = logging.getLogger(__name__)


class TaskOutlet(Outlet):
    """Where the messages of a task go: ahead of its result if that is waited for, else anywhere."""

    def __init__(self, task: Task, session: LegacySession) -> None:
        self._task = task
        self._session = session

    async def send(self, message: JsonObject) -> None:
        params = message.get("params", {})
        meta = {**params.get("_meta", {}), **self._task.related}
        related = message | {"params": {**params, "_meta": meta}}
        if self._task.reader is not None:
            await self._task.reader.outlet.send(related)
        else:
            await self._session.post(related)

    async def finish(self, message: JsonObject, status: int = 200) -> None:
        """The request of the task has been answered; its outcome is kept for who asks."""

    async def hang_up(self, retry_ms: int) -> None:
        """A task waits on no connection."""


class TaskCall(LegacyCall):
    """A call whose questions wait for a request for the task's result to carry them."""

    def __init__(
        self, message: JsonObject, task: Task, session: LegacySession, parts: LegacyParts
    ) -> None:
        super().__init__(message, TaskOutlet(task, session), session, parts)
        self._task = task

    async def _put(self, asked: InputRequest, params: JsonObject) -> JsonObject:
        question = TaskQuestion(asked, params)
        self._task.ask(question)
        self._task.move(TaskStatus.INPUT_REQUIRED, f"The task waits for an answer to {asked.key}.")
        await announce(self._task, self._session)
        await question.answered.wait()
        if self._task.move(TaskStatus.WORKING, "The task goes on."):
            await announce(self._task, self._session)
        assert question.reply is not None, "a question that was answered has a reply"
        if isinstance(question.reply, RpcError):
            raise question.reply
        return question.reply


async def announce(task: Task, session: LegacySession) -> None:
    """Tell the client of the task's status, if it listens."""
    await session.post(notification("notifications/tasks/status", task.state))


async def run_task(
    task: Task, work: Callable[[], Awaitable[JsonObject]], session: LegacySession
) -> None:
    """Do the work of a task within its lifetime, and keep what comes of it."""
    outcome: JsonObject | RpcError = RpcError(INTERNAL_ERROR, "the task's ttl is over")
    with anyio.move_on_after(task.ttl_ms / 1000), task.scope:
        outcome = await _outcome(work)
    if _end(task, outcome):
        await announce(task, session)


async def _outcome(work: Callable[[], Awaitable[JsonObject]]) -> JsonObject | RpcError:
    try:
        return await work()
    except RpcError as error:
        return error
    except Exception:  # a fault of ours must not end the server
        logger.exception("a task failed")
        return RpcError(INTERNAL_ERROR, "Internal error")


def _end(task: Task, outcome: JsonObject | RpcError) -> bool:
    """Let the task end as its outcome wants; False if it has ended otherwise."""
    if isinstance(outcome, RpcError):
        return task.end(TaskStatus.FAILED, outcome, outcome.message)
    if outcome.get("isError"):
        told = [block["text"] for block in outcome["content"] if block["type"] == "text"]
        return task.end(TaskStatus.FAILED, outcome, " ".join(told))
    return task.end(TaskStatus.COMPLETED, outcome, "The task is completed.")
