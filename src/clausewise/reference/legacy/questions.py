"""Requests of the server to its client, plain or as a task that the client runs.

Source: 2025-11-25, basic#requests, basic/utilities/tasks.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import anyio

from clausewise.reference.call import Outlet
from clausewise.reference.http_layer import ClientGoneError
from clausewise.reference.input_requests import InputRequest
from clausewise.reference.legacy.sessions import LegacySession, Question
from clausewise.reference.messages import (
    INTERNAL_ERROR,
    JsonObject,
    RequestId,
    RpcError,
    notification,
    request,
)
from clausewise.wire.jsonrpc import id_key

_TTL_MS = 60_000
_DEFAULT_POLL_MS = 500
_MAX_POLL_MS = 5_000
_STILL_WORKING = "working"
_WITHDRAW_S = 0.5


async def put(
    asked: InputRequest, params: JsonObject, session: LegacySession, outlet: Outlet, within_s: float
) -> JsonObject:
    """The client's response message to `asked`, whose params are `params`.

    A client that runs such requests as tasks is asked to, if this one may take long.

    Raises:
        RpcError: no response within `within_s`; the client is told to stop.
    """
    if asked.may_be_task and _runs_as_task(asked.method, session.client_capabilities):
        return await _put_as_task(asked.method, params, session, outlet, within_s)
    return await ask_client(session, outlet, asked.method, params, within_s)


async def ask_client(
    session: LegacySession, outlet: Outlet, method: str, params: JsonObject, timeout_s: float
) -> JsonObject:
    """The client's response message to a request of the server.

    Raises:
        RpcError: no response within `timeout_s`. Then, and when this is cancelled, the client is
            told to stop, unless it was to run the request as a task.
    """
    request_id: RequestId = f"reference-{session.next_number()}"
    question = session.questions[id_key(request_id)] = Question()
    is_sent = False
    try:
        await outlet.send(request(request_id, method, params))
        is_sent = True
        with anyio.fail_after(timeout_s):
            await question.answered.wait()
    except TimeoutError:
        raise RpcError(INTERNAL_ERROR, f"the client did not answer {method} in time") from None
    finally:
        session.questions.pop(id_key(request_id), None)
        if is_sent and not question.answered.is_set() and "task" not in params:
            await _withdraw(request_id, outlet)
    return question.response


async def _withdraw(request_id: RequestId, outlet: Outlet) -> None:
    """Tell the client to stop, if it can still be told."""
    reason = {"requestId": request_id, "reason": "no answer is waited for any more"}
    with anyio.move_on_after(_WITHDRAW_S, shield=True), suppress(ClientGoneError):
        await outlet.send(notification("notifications/cancelled", reason))


def _runs_as_task(method: str, capabilities: JsonObject) -> bool:
    """Whether a client declares that it runs requests of `method` as tasks."""
    found: Any = capabilities
    for name in ("tasks", "requests", *method.split("/")):
        found = found.get(name) if isinstance(found, dict) else None
    return isinstance(found, dict)


async def _put_as_task(
    method: str, params: JsonObject, session: LegacySession, outlet: Outlet, within_s: float
) -> JsonObject:
    augmented = params | {"task": {"ttl": _TTL_MS}}
    response = await ask_client(session, outlet, method, augmented, within_s)
    result = response.get("result")
    task = result.get("task") if isinstance(result, dict) else None
    if not isinstance(task, dict):
        return response
    named = {"taskId": task.get("taskId")}
    try:
        with anyio.fail_after(within_s):
            await _await_end(task, session, outlet, within_s)
            return await ask_client(session, outlet, "tasks/result", named, within_s)
    except TimeoutError:
        if _cancels_tasks(session.client_capabilities):
            await ask_client(session, outlet, "tasks/cancel", named, within_s)
        raise RpcError(INTERNAL_ERROR, f"the client did not end {method} in time") from None


async def _await_end(
    task: JsonObject, session: LegacySession, outlet: Outlet, within_s: float
) -> None:
    """Ask how a task of the client stands, as often as it wants, until it is not at work."""
    named = {"taskId": task.get("taskId")}
    while task.get("status") == _STILL_WORKING:
        await anyio.sleep(_poll_ms(task.get("pollInterval")) / 1000)
        response = await ask_client(session, outlet, "tasks/get", named, within_s)
        if not isinstance(response.get("result"), dict):
            raise RpcError(INTERNAL_ERROR, "the client does not know its task any more")
        task = response["result"]


def _poll_ms(wanted: Any) -> float:
    if isinstance(wanted, bool) or not isinstance(wanted, (int, float)):
        return _DEFAULT_POLL_MS
    return min(max(wanted, 0), _MAX_POLL_MS)


def _cancels_tasks(capabilities: JsonObject) -> bool:
    tasks = capabilities.get("tasks")
    return isinstance(tasks, dict) and "cancel" in tasks
