"""The tools that need something of the client, in both eras."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from clausewise.core.vocabulary import Direction, Revision
from clausewise.reference.call import LOG_LEVELS
from clausewise.reference.input_requests import ELICIT, LIST_ROOTS, SAMPLE
from clausewise.reference.options import ServerLimits, ServerOptions
from clausewise.wire import shapes
from tests.reference.client import META, PREFIX, Json, initialize_message, legacy_message
from tests.reference.client import modern_message as modern
from tests.reference.streams import Pipe, piped

pytestmark = pytest.mark.anyio

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
EVERYTHING: Json = {
    "elicitation": {"form": {}, "url": {}},
    "sampling": {"tools": {}},
    "roots": {},
}
PROFILE = {
    "name": "Ada",
    "email": "ada@example.com",
    "age": 36,
    "colour": "#f00",
    "days": ["friday"],
    "topics": ["a", "b"],
}


def sampled(*content: Json) -> Json:
    stop = "toolUse" if content[0]["type"] == "tool_use" else "endTurn"
    return {"role": "assistant", "model": "m", "content": list(content), "stopReason": stop}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def model(params: Json) -> Json:
    """A model that uses the tool it is offered, twice at a time, and then tells the sums."""
    results = params["messages"][-1]["content"]
    if isinstance(results, list):
        sums = " ".join(result["content"][0]["text"] for result in results)
        return sampled(text(f"The sums are {sums}."))
    if "tools" not in params:
        return sampled(text("Because."))
    uses = [{"a": 1, "b": 2}, {"a": "one"}]
    return sampled(
        *({"type": "tool_use", "id": str(n), "name": "add", "input": u} for n, u in enumerate(uses))
    )


def elicited(params: Json) -> Json:
    """A user who agrees to everything."""
    if params["mode"] == "url":
        return {"action": "accept"}
    asked = params["requestedSchema"]["properties"]
    return {"action": "accept", "content": {k: v for k, v in PROFILE.items() if k in asked}}


ANSWERS: dict[str, Callable[[Json], Json]] = {
    ELICIT: elicited,
    SAMPLE: model,
    LIST_ROOTS: lambda _params: {"roots": [{"uri": "file:///home/ada"}]},
}

CALLS = [
    ("greet_user", {}, "Hello, Ada!"),
    (
        "collect_profile",
        {},
        "Collected age, colour, days, email, name, topics.",
    ),
    ("visit_page", {}, "The page was visited."),
    ("ask_model", {"question": "Why?"}, "m answered: Because."),
    (
        "ask_model_with_tools",
        {"question": "Add."},
        "m answered: The sums are 3 There is no such tool, or not with this input..",
    ),
    ("list_roots", {}, '["file:///home/ada"]'),
]


@asynccontextmanager
async def session(capabilities: Json) -> AsyncIterator[Pipe]:
    async with piped() as pipe:
        await pipe.ask(initialize_message(capabilities))
        await pipe.send(READY)
        yield pipe


async def legacy_call(pipe: Pipe, name: str, arguments: Json) -> tuple[list[Json], Json]:
    """What the server sent during a call, its requests answered, and the response."""
    await pipe.send(legacy_message("tools/call", {"name": name, "arguments": arguments}, "call"))
    sent = []
    while (message := await pipe.receive()).get("id") != "call":
        sent.append(message)
        if "id" in message:
            shape = shapes.request_shape(
                Revision.LEGACY, message["method"], Direction.SERVER_TO_CLIENT
            )
            assert shape is not None
            assert shapes.first_fault(shape, message) is None
            answer = ANSWERS[message["method"]](message.get("params", {}))
            await pipe.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
    return sent, message


@pytest.mark.parametrize(("name", "arguments", "told"), CALLS)
async def test_a_legacy_client_answers_what_a_tool_asks(
    name: str, arguments: Json, told: str
) -> None:
    async with session(EVERYTHING) as pipe:
        _, response = await legacy_call(pipe, name, arguments)
        assert response["result"]["content"] == [text(told)]


@pytest.mark.parametrize(("name", "arguments", "told"), CALLS)
async def test_a_modern_client_answers_in_retries(name: str, arguments: Json, told: str) -> None:
    params: Json = {"name": name, "arguments": arguments}
    async with piped() as pipe:
        response = await modern_answer(pipe, "tools/call", params, EVERYTHING)
        assert response["result"]["content"] == [text(told)]


@pytest.mark.parametrize(
    ("name", "arguments", "missing"),
    [
        ("greet_user", {}, {"elicitation": {"form": {}}}),
        ("visit_page", {}, {"elicitation": {"url": {}}}),
        ("link_account", {}, {"elicitation": {"url": {}}}),
        ("ask_model", {"question": "?"}, {"sampling": {}}),
        ("ask_model_with_tools", {"question": "?"}, {"sampling": {"tools": {}}}),
        ("list_roots", {}, {"roots": {}}),
    ],
)
@pytest.mark.parametrize("almost", [False, True])
async def test_no_client_is_asked_what_it_does_not_declare(
    name: str, arguments: Json, missing: Json, almost: bool
) -> None:
    """Neither with nothing declared nor with the capability's other part."""
    others: Json = {"elicitation": {"url": {}}, "sampling": {}}
    if name in ("visit_page", "link_account"):
        others = {"elicitation": {}, "sampling": {}}
    capabilities = {k: v for k, v in others.items() if missing.get(k)} if almost else {}
    params: Json = {"name": name, "arguments": arguments}
    async with session(capabilities) as pipe:
        answer = await pipe.ask(legacy_message("tools/call", params))
        assert answer["error"]["code"] == -32600
    meta = META | {PREFIX + "clientCapabilities": capabilities}
    async with piped() as pipe:
        answer = await pipe.ask(modern("tools/call", params | {"_meta": meta}))
        assert answer["error"]["code"] == -32021
        assert answer["error"]["data"]["requiredCapabilities"] == missing


async def test_a_visit_is_asked_for_under_an_id_and_its_end_told_under_the_same() -> None:
    async with session(EVERYTHING) as pipe:
        sent, _ = await legacy_call(pipe, "visit_page", {})
        asked, ended = sent
        assert asked["params"]["url"].startswith("https://")
        assert ended["method"] == "notifications/elicitation/complete"
        assert ended["params"] == {"elicitationId": asked["params"]["elicitationId"]}
        again, _ = await legacy_call(pipe, "visit_page", {})
        assert again[0]["params"]["elicitationId"] != asked["params"]["elicitationId"]


async def test_a_call_that_needs_a_visit_first_names_it_and_succeeds_once_it_was_made() -> None:
    async with session(EVERYTHING) as pipe:
        params: Json = {"name": "link_account", "arguments": {}}
        refused = await pipe.ask(legacy_message("tools/call", params))
        assert refused["error"]["code"] == -32042
        (elicitation,) = refused["error"]["data"]["elicitations"]
        assert elicitation["mode"] == "url"
        ended = await pipe.receive()
        assert ended["params"] == {"elicitationId": elicitation["elicitationId"]}
        linked = await pipe.ask(legacy_message("tools/call", params))
        assert linked["result"]["content"] == [text("The account is linked.")]
        once_more = await pipe.ask(legacy_message("tools/call", params))
        assert once_more["error"]["code"] == -32042


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("greet_user", "No name was given, so nobody is greeted."),
        ("collect_profile", "The form was not filled in."),
        ("visit_page", "The page was not visited."),
    ],
)
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_user_may_say_no(
    name: str, told: str, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ANSWERS, ELICIT, lambda _params: {"action": action})
    async with session(EVERYTHING) as pipe:
        sent, response = await legacy_call(pipe, name, {})
        assert len(sent) == 1
        assert response["result"]["content"] == [text(told)]


async def test_a_model_that_only_uses_tools_is_told_to_stop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Json] = []

    def insists(params: Json) -> Json:
        asked.append(params)
        use = {"type": "tool_use", "id": str(len(asked)), "name": "nope", "input": {}}
        return sampled(use) if len(asked) < 3 else sampled(text("Enough."))

    monkeypatch.setitem(ANSWERS, SAMPLE, insists)
    async with session(EVERYTHING) as pipe:
        _, response = await legacy_call(pipe, "ask_model_with_tools", {"question": "?"})
        assert response["result"]["content"] == [text("m answered: Enough.")]
    assert [params["toolChoice"]["mode"] for params in asked] == ["auto", "auto", "none"]
    results = [m["content"] for m in asked[2]["messages"] if isinstance(m["content"], list)]
    uses, answers = results[-2:]
    assert [answer["toolUseId"] for answer in answers] == [use["id"] for use in uses]
    assert all(answer["isError"] for answer in answers)


async def modern_answer(pipe: Pipe, method: str, params: Json, capabilities: Json) -> Json:
    """The final response to a modern request, everything that is asked answered."""
    params = params | {"_meta": META | {PREFIX + "clientCapabilities": capabilities}}
    answer = await pipe.ask(modern(method, params))
    while answer.get("result", {}).get("resultType") == "input_required":
        responses = {
            key: ANSWERS[asked["method"]](asked["params"])
            for key, asked in answer["result"]["inputRequests"].items()
        }
        retry = {"inputResponses": responses, "requestState": answer["result"]["requestState"]}
        answer = await pipe.ask(modern(method, params | retry))
    return answer


@pytest.mark.parametrize(("agreed", "code"), [(True, None), (False, -32600)])
async def test_a_resource_is_read_once_the_user_agrees(
    agreed: bool, code: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer: Json = {"action": "accept", "content": {"agreed": agreed}}
    monkeypatch.setitem(ANSWERS, ELICIT, lambda _params: answer)
    async with piped() as pipe:
        read = {"uri": "reference://texts/diary"}
        response = await modern_answer(pipe, "resources/read", read, EVERYTHING)
        assert response.get("error", {}).get("code") == code
        if agreed:
            assert response["result"]["contents"][0]["text"] == "Nothing happened today."


async def test_a_prompt_asks_the_user_before_it_is_rendered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answer: Json = {"action": "accept", "content": {"mood": "sad"}}
    monkeypatch.setitem(ANSWERS, ELICIT, lambda _params: answer)
    async with piped() as pipe:
        response = await modern_answer(pipe, "prompts/get", {"name": "tell_story"}, EVERYTHING)
        first, second = response["result"]["messages"]
        assert first["content"]["text"] == "Tell a sad story about this."
        assert second["content"]["type"] == "resource_link"


@pytest.mark.parametrize(
    ("settings", "greeting"),
    [
        ({"language": "french"}, "Bonjour"),
        ({"language": "klingon"}, "Hello"),
        ({"language": 7}, "Hello"),
        ([], "Hello"),
    ],
)
async def test_a_client_with_the_extension_chooses_the_language_it_is_greeted_in(
    settings: Any, greeting: str
) -> None:
    extension = "com.example.clausewise/greetings"
    async with piped() as pipe:
        discovered = await pipe.ask(modern("server/discover"))
        offered = discovered["result"]["capabilities"]["extensions"][extension]
        assert "french" in offered["languages"]
        capabilities = EVERYTHING | {"extensions": {extension: settings}}
        call = {"name": "greet_user", "arguments": {}}
        response = await modern_answer(pipe, "tools/call", call, capabilities)
        assert response["result"]["content"] == [text(f"{greeting}, Ada!")]


@pytest.mark.parametrize("level", LOG_LEVELS)
async def test_a_client_gets_the_log_messages_it_wants(level: str) -> None:
    async with session({}) as pipe:
        await pipe.ask(legacy_message("logging/setLevel", {"level": level}))
        sent, _ = await legacy_call(pipe, "log_every_level", {})
        assert [message["params"]["level"] for message in sent] == list(
            LOG_LEVELS[LOG_LEVELS.index(level) :]
        )


async def test_a_client_that_does_not_answer_in_time_is_told_to_stop() -> None:
    options = ServerOptions(limits=ServerLimits(ask_s=0.05, shutdown_s=0.05))
    async with piped(options) as pipe:
        await pipe.ask(initialize_message(EVERYTHING))
        await pipe.send(READY, legacy_message("tools/call", {"name": "list_roots"}, "call"))
        asked = await pipe.receive()
        stop = await pipe.receive()
        assert stop["method"] == "notifications/cancelled"
        assert stop["params"]["requestId"] == asked["id"]
        assert (await pipe.receive())["error"]["code"] == -32603
