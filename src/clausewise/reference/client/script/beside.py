"""Steps about what runs beside the script: calls, subscriptions, tasks, notifications."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from clausewise.reference.client.call import Call
from clausewise.reference.client.modern_session import LISTEN
from clausewise.reference.client.script.stage import Handler, NotOfferedError, Stage, outcome_of
from clausewise.reference.client.script.step import Do, Step
from clausewise.reference.messages import JsonObject

_DAY_S = 24 * 3600.0
_POLL_S = 1.0
_TERMINAL = frozenset({"completed", "failed", "cancelled"})
_FILTERS = {
    "tools": "toolsListChanged",
    "prompts": "promptsListChanged",
    "resources": "resourcesListChanged",
}


async def _await(stage: Stage, step: Step) -> JsonObject:
    """The outcome of a call that was begun; of a task that of what it does."""
    call = stage.begun(step.values["of"])
    with anyio.move_on_after(stage.seconds(step)) as scope:
        await call.finished.wait()
        if task_id(call) is not None:
            return await _task_outcome(stage, call)
    if scope.cancelled_caught:
        return {"fault": f"{call.method} did not end in {stage.seconds(step):g} s"}
    return outcome_of(call.reply)


async def _task_outcome(stage: Stage, call: Call) -> JsonObject:
    """Poll at the pace that the server wants until the result can be had, then get it."""
    params = {"taskId": task_id(call)}
    while True:
        reply = await stage.legacy.request("tasks/get", params)
        if reply.result is None:
            return outcome_of(reply)
        if reply.result.get("status") in (*_TERMINAL, "input_required"):
            return outcome_of(await stage.legacy.request("tasks/result", params, seconds=_DAY_S))
        pause = reply.result.get("pollInterval")
        await anyio.sleep(pause / 1000 if isinstance(pause, int | float) else _POLL_S)


def task_id(call: Call) -> Any:
    """The id of the task that a call has become, or None."""
    task = call.reply.result.get("task") if call.reply.result is not None else None
    return task.get("taskId") if isinstance(task, dict) else None


async def _cancel(stage: Stage, step: Step) -> JsonObject:
    call = stage.begun(step.values["of"])
    return {"cancelled": await stage.session.cancel(call, step.values.get("reason"))}


async def _resume(stage: Stage, step: Step) -> JsonObject:
    """Break the stream of a call; its session then resumes it where the server allows that."""
    call = stage.begun(step.values["of"])
    await stage.session.on_its_way(call)
    pending = call.pending
    return {"cut": pending is not None and stage.legacy.channel.cut(pending)}


async def _wait(stage: Stage, step: Step) -> JsonObject:
    """Wait for notifications that no earlier wait has used up."""
    method, wanted = step.values["notification"], step.values.get("count", 1)
    inbox, used = stage.session.inbox, stage.waited.get(method, 0)

    def come() -> list[JsonObject]:
        return [one for one in inbox.notices if one.get("method") == method][used:]

    with anyio.move_on_after(stage.seconds(step)):
        await inbox.until(lambda: len(come()) >= wanted)
    found = come()
    outcome: JsonObject = {"notifications": found[:wanted] if wanted else found}
    stage.waited[method] = used + len(outcome["notifications"])
    if len(found) < wanted:
        waited = f"in {stage.seconds(step):g} s"
        outcome["fault"] = f"{len(found)} of {wanted} {method} came {waited}"
    return outcome


async def _listen(stage: Stage, step: Step) -> JsonObject:
    """Open a subscription and wait for the server to acknowledge it."""
    session = stage.modern
    wanted: JsonObject = {
        member: True for name, member in _FILTERS.items() if step.values.get(name)
    }
    if step.values.get("uris"):
        wanted["resourceSubscriptions"] = list(step.values["uris"])
    call = session.call(LISTEN, {"notifications": wanted}, seconds=_DAY_S)
    if step.name:
        stage.calls[step.name] = call
    session.start(call)
    with anyio.move_on_after(stage.seconds(step)):
        await session.inbox.until(
            lambda: call.finished.is_set() or session.acknowledged(call) is not None
        )
    acknowledged = session.acknowledged(call)
    if acknowledged is None:
        outcome = outcome_of(call.reply)
        return {"fault": "the subscription was not acknowledged"} | outcome
    missing = sorted(wanted.keys() - acknowledged.keys())
    return {"acknowledged": acknowledged} | ({"unsupported": missing} if missing else {})


async def _stop(stage: Stage, step: Step) -> JsonObject:
    call = stage.begun(step.values["of"])
    return {"cancelled": await stage.session.cancel(call)}


async def _task(stage: Stage, step: Step) -> JsonObject:
    """tasks/get, tasks/result or tasks/cancel of the task that an earlier call has become."""
    call = stage.begun(step.values["of"])
    found = task_id(call)
    if found is None:
        raise NotOfferedError(f"{step.values['of']!r} has not become a task")
    if step.do is Do.TASK_CANCEL:
        stage.need("tasks.cancel")
    return await stage.ask(step, step.do.value.replace("task-", "tasks/"), {"taskId": found})


HANDLERS: Mapping[Do, Handler] = {
    Do.AWAIT: _await,
    Do.CANCEL: _cancel,
    Do.RESUME: _resume,
    Do.WAIT: _wait,
    Do.LISTEN: _listen,
    Do.STOP: _stop,
    Do.TASK_GET: _task,
    Do.TASK_RESULT: _task,
    Do.TASK_CANCEL: _task,
}
