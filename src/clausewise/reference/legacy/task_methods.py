"""The request methods about tasks, and those of tools as far as tasks come into them.

Source: 2025-11-25, basic/utilities/tasks.
"""

from __future__ import annotations

from functools import partial

import anyio

from clausewise.reference.call import Outlet, text_param
from clausewise.reference.features import pagination, tools
from clausewise.reference.legacy.call import LegacyCall
from clausewise.reference.legacy.parts import LegacyParts
from clausewise.reference.legacy.questions import put
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.legacy.task_calls import TaskCall, announce, run_task
from clausewise.reference.legacy.tasks import Task, TaskQuestion, TaskReader, TaskStatus
from clausewise.reference.messages import INVALID_PARAMS, METHOD_NOT_FOUND, JsonObject, RpcError

_IMMEDIATE = "io.modelcontextprotocol/model-immediate-response"


async def list_tools(
    message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """Source: server/tools#listing-tools; says of each tool whether it runs as a task."""
    items = [
        tool.definition | {"execution": {"taskSupport": tool.task_support}}
        for tool in parts.content.tools
    ]
    call = LegacyCall(message, outlet, session, parts)
    return pagination.page(items, "tools", call, parts.content.page_size)


async def call_tool(
    message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """Source: server/tools#calling-tools, basic/utilities/tasks#tool-level-negotiation."""
    params = message.get("params", {})
    tool = tools.find_tool(text_param(params, "name"), parts.content.tools)
    as_task = "task" in params
    if as_task and tool.task_support == "forbidden":
        raise RpcError(METHOD_NOT_FOUND, f"the tool {tool.name} does not run as a task")
    if not as_task and tool.task_support == "required":
        raise RpcError(METHOD_NOT_FOUND, f"the tool {tool.name} runs as a task only")
    if not as_task:
        call = LegacyCall(message, outlet, session, parts)
        return await tools.call_tool(tool, call, parts.content.feed)
    return _create(message, tool, session, parts)


def _create(
    message: JsonObject, tool: tools.Tool, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """The CreateTaskResult of a task that begins once it is delivered."""
    task = parts.tasks.create(session.owner, message["params"]["task"])
    call = TaskCall(message, task, session, parts)
    work = partial(tools.call_tool, tool, call, parts.content.feed)
    running = partial(run_task, task, work, session)
    session.after(message["id"], partial(parts.background.start, running))
    told = f"The tool {tool.name} is at work; its result will be fetched later."
    return {"task": task.state, "_meta": {**task.related, _IMMEDIATE: told}}


async def get(
    message: JsonObject, _outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """Source: basic/utilities/tasks#getting-tasks."""
    return _task(message, session, parts).state


async def result(
    message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """Source: basic/utilities/tasks#retrieving-task-results; waits for the end of the task.

    Until then the questions of the task go to the client ahead of the response; to the newest
    such request, for the client may have lost those before.
    """
    task = _task(message, session, parts)
    reader = TaskReader(outlet)
    task.read_by(reader)
    try:
        while not task.ended:
            if task.questions and task.reader is reader:
                await _carry(task, task.questions.popleft(), reader, session, parts)
            else:
                await task.change()
    finally:
        if task.reader is reader:
            task.read_by(None)
    if isinstance(task.outcome, dict):
        return task.outcome | {"_meta": {**task.outcome.get("_meta", {}), **task.related}}
    assert task.outcome is not None, "a task that ended has an outcome"
    raise RpcError(task.outcome.code, task.outcome.message, task.outcome.data)


async def _carry(
    task: Task,
    question: TaskQuestion,
    reader: TaskReader,
    session: LegacySession,
    parts: LegacyParts,
) -> None:
    """Put a question of the task to the client; if this is broken off, another may do it."""
    params = question.params | {"_meta": task.related}
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_cancel_when_over, task, reader, group.cancel_scope)
            try:
                reply: JsonObject | RpcError = await put(
                    question.asked, params, session, reader.outlet, parts.ask_s
                )
            except RpcError as error:
                reply = error
            question.answer(reply)
            group.cancel_scope.cancel()
    finally:
        if not question.answered.is_set():
            task.ask(question)


async def _cancel_when_over(task: Task, reader: TaskReader, scope: anyio.CancelScope) -> None:
    """Cancel what is done for a task that ends, or that has got another reader."""
    while not task.ended and task.reader is reader:
        await task.change()
    scope.cancel()


async def list_tasks(
    message: JsonObject, _outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """Source: basic/utilities/tasks#listing-tasks; a cursor names the last task of its page."""
    cursor = message.get("params", {}).get("cursor")
    after = 0 if cursor is None else pagination.position(cursor, message["method"])
    if after > parts.tasks.newest:
        raise pagination.invalid_cursor()
    tasks = parts.tasks.after(session.owner, after)
    page = tasks[: parts.content.page_size]
    listed: JsonObject = {"tasks": [task.state for task in page]}
    if len(tasks) > len(page):
        listed["nextCursor"] = pagination.cursor_at(message["method"], page[-1].number)
    return listed


async def cancel(
    message: JsonObject, _outlet: Outlet, session: LegacySession, parts: LegacyParts
) -> JsonObject:
    """Source: basic/utilities/tasks#cancelling-tasks."""
    task = _task(message, session, parts)
    none = RpcError(INVALID_PARAMS, "the task was cancelled and has no result")
    if not task.end(TaskStatus.CANCELLED, none, "The task was cancelled by request."):
        status = task.status.value
        raise RpcError(INVALID_PARAMS, f"Cannot cancel task: already in terminal status {status!r}")
    task.scope.cancel()
    await announce(task, session)
    return task.state


def _task(message: JsonObject, session: LegacySession, parts: LegacyParts) -> Task:
    """The task of the session's owner that a request names.

    Raises:
        RpcError: there is none (invalid params).
    """
    return parts.tasks.find(session.owner, message.get("params", {}).get("taskId"))
