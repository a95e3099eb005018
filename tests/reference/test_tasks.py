"""Tasks of the legacy era: calls that go on after they were answered."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from clausewise.core.vocabulary import Revision
from clausewise.reference.legacy import tasks as tasks_module
from clausewise.reference.legacy.tasks import TERMINAL, Task, TaskStatus, TaskStore
from clausewise.reference.messages import RpcError
from clausewise.wire import shapes
from clausewise.wire.meta import META_RELATED_TASK
from tests.reference.client import Json, initialize_message, legacy_message, modern_message
from tests.reference.streams import Pipe, piped

pytestmark = pytest.mark.anyio

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
STATUS = "notifications/tasks/status"
QUICK: Json = {"name": "count_slowly", "arguments": {"steps": 2, "delayMs": 1}}
ENDLESS: Json = {"name": "count_slowly", "arguments": {"steps": 1000, "delayMs": 1000}}


class TaskClient:
    """A client in a session on stdio that keeps what comes unasked."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.others: list[Json] = []
        self._count = 0

    async def ask(self, method: str, params: Json | None = None) -> Json:
        """The response to a request."""
        self._count += 1
        await self.pipe.send(legacy_message(method, params, self._count))
        return await self.until(lambda message: message.get("id") == self._count)

    async def until(self, wanted: Any) -> Json:
        while not wanted(message := await self.pipe.receive()):
            self.others.append(message)
        return message

    async def create(self, params: Json = QUICK, task: Any = None) -> Json:
        """The task of a new call."""
        answer = await self.ask("tools/call", params | {"task": {} if task is None else task})
        fault = shapes.first_fault(
            shapes.validator(Revision.LEGACY, "CreateTaskResult"), answer["result"]
        )
        assert fault is None, fault
        task_of: Json = answer["result"]["task"]
        assert answer["result"]["_meta"][META_RELATED_TASK] == {"taskId": task_of["taskId"]}
        return task_of

    async def about(self, operation: str, task: Json) -> Json:
        return await self.ask(f"tasks/{operation}", {"taskId": task["taskId"]})

    def statuses(self, task: Json) -> list[str]:
        """The statuses that were told of unasked."""
        told = [m["params"] for m in self.others if m.get("method") == STATUS]
        return [state["status"] for state in told if state["taskId"] == task["taskId"]]


@asynccontextmanager
async def task_client(capabilities: Json | None = None) -> AsyncIterator[TaskClient]:
    async with piped() as pipe:
        answer = await pipe.ask(initialize_message(capabilities))
        assert answer["result"]["capabilities"]["tasks"] == {
            "list": {},
            "cancel": {},
            "requests": {"tools": {"call": {}}},
        }
        await pipe.send(READY)
        yield TaskClient(pipe)


async def test_a_task_is_created_at_work_and_its_result_waited_for() -> None:
    async with task_client() as client:
        task = await client.create()
        assert task["status"] == "working"
        answer = await client.about("result", task)
        assert answer["result"]["content"][0]["text"] == "Counted to 2."
        assert answer["result"]["_meta"] == {META_RELATED_TASK: {"taskId": task["taskId"]}}
        state = (await client.about("get", task))["result"]
        assert state["status"] == "completed"
        assert "_meta" not in state
        assert client.statuses(task) == ["completed"]
        again = await client.about("result", task)
        assert again["result"] == answer["result"]


async def test_every_task_has_its_own_id_times_and_actual_ttl() -> None:
    async with task_client() as client:
        states = [await client.create(task=task) for task in ({"ttl": 50_000}, {"ttl": 10**9}, {})]
        assert len({state["taskId"] for state in states}) == len(states)
        assert [state["ttl"] for state in states] == [50_000, 3_600_000, 300_000]
        for state in states:
            assert state["createdAt"].endswith("Z")
            assert state["createdAt"] <= state["lastUpdatedAt"]
            assert state["pollInterval"] > 0


async def test_progress_and_log_messages_of_a_task_name_it() -> None:
    async with task_client() as client:
        task = await client.create(QUICK | {"_meta": {"progressToken": "p"}})
        await client.about("result", task)
        own = [m for m in client.others if m["method"] != STATUS]
        assert [m["method"] for m in own] == [
            "notifications/message",
            "notifications/progress",
            "notifications/progress",
        ]
        related = {META_RELATED_TASK: {"taskId": task["taskId"]}}
        assert all(m["params"]["_meta"] == related for m in own)
        assert [m["params"].get("progress") for m in own] == [None, 1, 2]


async def test_a_task_that_needs_input_says_so_and_asks_ahead_of_its_result() -> None:
    async with task_client({"elicitation": {}}) as client:
        task = await client.create({"name": "compile_report", "arguments": {}})
        waiting = await client.until(lambda m: m.get("method") == STATUS)
        assert waiting["params"]["status"] == "input_required"
        assert (await client.about("get", task))["result"]["status"] == "input_required"
        await client.pipe.send(legacy_message("tasks/result", {"taskId": task["taskId"]}, "r"))
        asked = await client.until(lambda m: m.get("method") == "elicitation/create")
        related = {META_RELATED_TASK: {"taskId": task["taskId"]}}
        assert asked["params"]["_meta"] == related
        answer = {"action": "accept", "content": {"title": "Whales"}}
        await client.pipe.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
        done = await client.until(lambda m: m.get("id") == "r")
        assert done["result"]["content"][0]["text"] == "Whales: a report of 2 chapters."
        assert client.statuses(task) == ["working", "completed"]


async def test_a_question_whose_carrier_was_cancelled_is_asked_again() -> None:
    async with task_client({"elicitation": {}}) as client:
        task = await client.create({"name": "greet_user", "arguments": {}})
        named = {"taskId": task["taskId"]}
        await client.pipe.send(legacy_message("tasks/result", named, "first"))
        first = await client.until(lambda m: m.get("method") == "elicitation/create")
        cancelled = {"requestId": "first"}
        await client.pipe.send(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled},
            legacy_message("tasks/result", named, "second"),
        )
        second = await client.until(lambda m: m.get("method") == "elicitation/create")
        assert second["id"] != first["id"]
        reply = {"action": "accept", "content": {"name": "Ada"}}
        await client.pipe.send({"jsonrpc": "2.0", "id": second["id"], "result": reply})
        done = await client.until(lambda m: m.get("id") == "second")
        assert done["result"]["content"][0]["text"] == "Hello, Ada!"


async def test_a_newer_request_for_the_result_takes_the_question_over() -> None:
    async with task_client({"elicitation": {}}) as client:
        task = await client.create({"name": "greet_user", "arguments": {}})
        named = {"taskId": task["taskId"]}
        await client.pipe.send(legacy_message("tasks/result", named, "first"))
        first = await client.until(lambda m: m.get("method") == "elicitation/create")
        await client.pipe.send(legacy_message("tasks/result", named, "second"))
        withdrawn = await client.until(lambda m: m.get("method") == "notifications/cancelled")
        assert withdrawn["params"]["requestId"] == first["id"]
        again = await client.until(lambda m: m.get("method") == "elicitation/create")
        reply = {"action": "accept", "content": {"name": "Ada"}}
        await client.pipe.send({"jsonrpc": "2.0", "id": again["id"], "result": reply})
        done = [await client.until(lambda m: m.get("id") in ("first", "second")) for _ in range(2)]
        assert {m["id"] for m in done} == {"first", "second"}
        assert all(m["result"]["content"][0]["text"] == "Hello, Ada!" for m in done)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"name": "count_slowly", "arguments": {"steps": 0}}, "input schema"),
        ({"name": "count_slowly", "arguments": []}, "must be an object"),
    ],
)
async def test_a_call_that_goes_wrong_is_a_failed_task_whose_result_tells_why(
    params: Json, message: str
) -> None:
    async with task_client() as client:
        task = await client.create(params)
        outcome = await client.about("result", task)
        state = (await client.about("get", task))["result"]
        assert state["status"] == "failed"
        assert message in state["statusMessage"]
        if isinstance(params["arguments"], list):
            assert outcome["error"]["code"] == -32602
        else:
            assert outcome["result"]["isError"] is True
            assert outcome["result"]["_meta"] == {META_RELATED_TASK: {"taskId": task["taskId"]}}


async def test_a_cancelled_task_stays_cancelled_and_ends_who_waits_for_it() -> None:
    async with task_client() as client:
        task = await client.create(ENDLESS)
        await client.pipe.send(legacy_message("tasks/result", {"taskId": task["taskId"]}, "r"))
        state = (await client.about("cancel", task))["result"]
        assert (state["status"], state["taskId"]) == ("cancelled", task["taskId"])
        if not any(m.get("id") == "r" for m in client.others):
            client.others.append(await client.until(lambda m: m.get("id") == "r"))
        waited = next(m for m in client.others if m.get("id") == "r")
        assert waited["error"]["code"] == -32602
        assert (await client.about("cancel", task))["error"]["code"] == -32602
        assert (await client.about("get", task))["result"]["status"] == "cancelled"
        assert client.statuses(task) == ["cancelled"]


async def test_a_task_is_cancelled_while_it_waits_for_an_answer() -> None:
    async with task_client({"elicitation": {}}) as client:
        task = await client.create({"name": "greet_user", "arguments": {}})
        await client.pipe.send(legacy_message("tasks/result", {"taskId": task["taskId"]}, "r"))
        await client.until(lambda m: m.get("method") == "elicitation/create")
        assert (await client.about("cancel", task))["result"]["status"] == "cancelled"
        if not any(m.get("id") == "r" for m in client.others):
            await client.until(lambda m: m.get("id") == "r")


async def test_the_list_of_tasks_comes_in_pages_behind_cursors() -> None:
    async with task_client() as client:
        made = [(await client.create())["taskId"] for _ in range(7)]
        first = (await client.ask("tasks/list"))["result"]
        second = (await client.ask("tasks/list", {"cursor": first["nextCursor"]}))["result"]
        assert [state["taskId"] for state in first["tasks"] + second["tasks"]] == made
        assert "nextCursor" not in second
        for cursor in ("nope", 7, "dGFza3MvbGlzdEA5OQ==", "dG9vbHMvbGlzdEA1"):
            refused = await client.ask("tasks/list", {"cursor": cursor})
            assert refused["error"]["code"] == -32602


@pytest.mark.parametrize("operation", ["get", "result", "cancel"])
@pytest.mark.parametrize("task_id", ["nope", 7, None])
async def test_a_task_that_does_not_exist_is_invalid_params(operation: str, task_id: Any) -> None:
    async with task_client() as client:
        answer = await client.ask(f"tasks/{operation}", {"taskId": task_id})
        assert answer["error"]["code"] == -32602


@pytest.mark.parametrize("task", ["soon", {"ttl": "long"}, {"ttl": -1}, {"ttl": True}])
async def test_an_ill_formed_task_parameter_is_invalid_params(task: Any) -> None:
    async with task_client() as client:
        answer = await client.ask("tools/call", QUICK | {"task": task})
        assert answer["error"]["code"] == -32602


async def test_a_tool_says_whether_it_runs_as_a_task_and_keeps_to_it() -> None:
    async with task_client() as client:
        tools: list[Json] = []
        params: Json = {}
        while True:
            page = (await client.ask("tools/list", params))["result"]
            tools += page["tools"]
            if "nextCursor" not in page:
                break
            params = {"cursor": page["nextCursor"]}
        support = {tool["name"]: tool["execution"]["taskSupport"] for tool in tools}
        assert support["compile_report"] == "required"
        assert support["count_slowly"] == "optional"
        assert support["echo"] == "forbidden"
        plain = await client.ask("tools/call", {"name": "compile_report", "arguments": {}})
        assert plain["error"]["code"] == -32601
        echo = {"name": "echo", "arguments": {"text": "x"}, "task": {}}
        assert (await client.ask("tools/call", echo))["error"]["code"] == -32601
        assert "content" in (await client.ask("tools/call", QUICK))["result"]


async def test_the_modern_era_has_no_tasks_and_ignores_that_they_are_asked_for() -> None:
    async with piped() as pipe:
        listed = await pipe.ask(modern_message("tools/list"))
        assert all("execution" not in tool for tool in listed["result"]["tools"])
        answer = await pipe.ask(modern_message("tools/call", QUICK | {"task": {}}))
        assert answer["result"]["content"][0]["text"] == "Counted to 2."
        gone = await pipe.ask(modern_message("tasks/list"))
        assert gone["error"]["code"] == -32601


async def test_too_many_tasks_at_work_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks_module, "MAX_WORKING", 2)
    async with task_client() as client:
        made = [await client.create(ENDLESS) for _ in range(2)]
        full = await client.ask("tools/call", ENDLESS | {"task": {}})
        assert full["error"]["code"] == -32603
        await client.about("cancel", made[0])
        await client.create()


async def test_a_client_that_runs_sampling_as_a_task_is_asked_to_and_polled() -> None:
    capabilities: Json = {
        "sampling": {},
        "tasks": {"requests": {"sampling": {"createMessage": {}}}},
    }
    params = {"name": "ask_model", "arguments": {"question": "Why?"}}
    async with task_client(capabilities) as client:
        await client.pipe.send(legacy_message("tools/call", params, "call"))
        state = {"taskId": "mine", "status": "working", "pollInterval": 1}
        answers: dict[str, list[Json]] = {
            "sampling/createMessage": [{"task": state}],
            "tasks/get": [state, state | {"status": "completed"}],
            "tasks/result": [
                {"role": "assistant", "model": "m", "content": {"type": "text", "text": "So."}}
            ],
        }
        methods = []
        while (message := await client.pipe.receive()).get("id") != "call":
            methods.append(message["method"])
            result = answers[message["method"]].pop(0)
            if message["method"] == "sampling/createMessage":
                assert message["params"]["task"]["ttl"] > 0
            await client.pipe.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
        assert methods == ["sampling/createMessage", "tasks/get", "tasks/get", "tasks/result"]
        assert message["result"]["content"][0]["text"] == "m answered: So."


async def test_a_task_belongs_to_its_owner_alone_and_goes_with_its_ttl() -> None:
    store = TaskStore()
    mine, short = store.create("me", {}), store.create("me", {"ttl": 0})
    theirs = store.create("them", {})
    assert store.find("me", mine.id) is mine
    assert store.after("me", 0) == [mine]
    for task in (short, theirs):
        with pytest.raises(RpcError):
            store.find("me", task.id)
    assert short.scope.cancel_called
    store.drop("them")
    assert theirs.scope.cancel_called
    with pytest.raises(RpcError):
        store.find("them", theirs.id)


@pytest.mark.parametrize("terminal", sorted(TERMINAL))
async def test_a_task_that_ended_changes_no_more(terminal: TaskStatus) -> None:
    task = Task("me", 1, 1000)
    assert task.move(TaskStatus.INPUT_REQUIRED, "waits")
    assert task.end(terminal, {}, "over")
    state = task.state
    assert not any(task.move(status, "again") for status in TaskStatus)
    assert not task.end(TaskStatus.COMPLETED, {"content": []}, "again")
    assert (task.state, task.outcome) == (state, {})


async def test_who_waits_for_a_change_sees_the_next_one() -> None:
    task = Task("me", 1, 1000)
    with anyio.fail_after(5):
        async with anyio.create_task_group() as group:
            group.start_soon(task.change)
            await anyio.lowlevel.checkpoint()
            task.move(TaskStatus.COMPLETED, "over")
