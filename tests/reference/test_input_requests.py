"""What the server asks of its client: in retries (modern era), in requests of its own (legacy)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import (
    MEDIA,
    META,
    PREFIX,
    Client,
    Json,
    connect,
    legacy_message,
    open_session,
)

pytestmark = pytest.mark.anyio

PROFILE = "test_elicitation_sep1034_defaults"
THREE = "test_input_required_result_multiple_inputs"
TWO_ROUNDS = "test_input_required_result_multi_round"
CONFIRM = "test_input_required_result_request_state"
UNSEALED = "test_input_required_result_elicitation"
OFFERED = "test_input_required_result_capabilities"
PROMPT = "test_input_required_result_prompt"

ALL: Json = {"elicitation": {}, "sampling": {}, "roots": {}}
ANSWERS: Json = {
    "user_name": {"action": "accept", "content": {"name": "Ada"}},
    "greeting": {
        "role": "assistant",
        "content": {"type": "text", "text": "Good day"},
        "model": "m",
    },
    "client_roots": {"roots": [{"uri": "file:///project"}]},
}


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with serve_http(ServerOptions(fixtures=True)) as address:
        yield address


@pytest.fixture
async def client(url: str) -> AsyncIterator[Client]:
    async with connect(url) as connection:
        yield connection


def capable(capabilities: Json) -> Json:
    return META | {PREFIX + "clientCapabilities": capabilities}


async def call(client: Client, name: str, capabilities: Json = ALL, **params: Any) -> Json:
    """The response to a modern tools/call."""
    answer = await client.modern(
        "tools/call", {"name": name, "_meta": capable(capabilities), **params}
    )
    return answer.message


def accept(**content: Any) -> Json:
    return {"action": "accept", "content": content}


async def test_several_requests_of_every_kind_are_asked_at_a_time(client: Client) -> None:
    paused = (await call(client, THREE))["result"]
    methods = {key: asked["method"] for key, asked in paused["inputRequests"].items()}
    assert methods == {
        "user_name": "elicitation/create",
        "greeting": "sampling/createMessage",
        "client_roots": "roots/list",
    }
    done = await call(client, THREE, inputResponses=ANSWERS, requestState=paused["requestState"])
    assert json.loads(done["result"]["content"][0]["text"]) == ANSWERS


async def test_only_what_is_still_missing_is_asked_again_and_nothing_is_lost(
    client: Client,
) -> None:
    state = (await call(client, THREE))["result"]["requestState"]
    some = {"greeting": ANSWERS["greeting"]}
    paused = (await call(client, THREE, inputResponses=some, requestState=state))["result"]
    assert set(paused["inputRequests"]) == {"user_name", "client_roots"}
    rest = {key: answer for key, answer in ANSWERS.items() if key != "greeting"}
    state = paused["requestState"]
    done = await call(client, THREE, inputResponses=rest, requestState=state)
    assert json.loads(done["result"]["content"][0]["text"]) == ANSWERS


async def test_a_second_round_carries_the_first_ones_answer_in_its_state(client: Client) -> None:
    first = (await call(client, TWO_ROUNDS))["result"]
    second = (
        await call(
            client,
            TWO_ROUNDS,
            inputResponses={"step1": accept(name="Ada")},
            requestState=first["requestState"],
        )
    )["result"]
    assert set(second["inputRequests"]) == {"step2"}
    assert second["requestState"] != first["requestState"]
    answer = {"step2": accept(color="blue")}
    state = second["requestState"]
    done = await call(client, TWO_ROUNDS, inputResponses=answer, requestState=state)
    assert done["result"]["content"][0]["text"] == 'name {"name": "Ada"}, color {"color": "blue"}'
    skipped = await call(
        client, TWO_ROUNDS, inputResponses=answer, requestState=first["requestState"]
    )
    assert set(skipped["result"]["inputRequests"]) == {"step1"}


async def test_answers_without_the_state_of_a_sealed_request_do_not_count(client: Client) -> None:
    again = await call(client, CONFIRM, inputResponses={"confirm": accept(ok=True)})
    assert again["result"]["resultType"] == "input_required"
    assert "requestState" in again["result"]


async def test_a_request_that_is_not_sealed_needs_no_state(client: Client) -> None:
    paused = (await call(client, UNSEALED))["result"]
    assert "requestState" not in paused
    done = await call(client, UNSEALED, inputResponses={"user_name": accept(name="Ada")})
    assert done["result"]["content"][0]["text"] == "Hello, Ada!"


@pytest.mark.parametrize("alter", [lambda s: s + "AAAA", lambda s: s[:60] + "A" + s[61:]])
async def test_a_state_with_altered_answers_is_refused(client: Client, alter: Any) -> None:
    state = alter((await call(client, CONFIRM))["result"]["requestState"])
    responses = {"confirm": accept(ok=True)}
    refused = await call(client, CONFIRM, inputResponses=responses, requestState=state)
    assert refused["error"]["code"] == -32602


@pytest.mark.parametrize(
    "responses",
    [
        None,
        [],
        {"user_name": 12345},
        {"user_name": {"action": "agree"}},
        {"user_name": {"action": "accept", "content": "Ada"}},
        {"user_name": {"action": "accept", "content": {}}},
        {"user_name": {"action": "accept", "content": {"name": 1}}},
    ],
)
async def test_an_ill_formed_answer_is_invalid_params(client: Client, responses: Any) -> None:
    refused = await call(client, UNSEALED, inputResponses=responses)
    assert refused["error"]["code"] == -32602


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_user_may_decline(client: Client, action: str) -> None:
    done = await call(client, UNSEALED, inputResponses={"user_name": {"action": action}})
    assert done["result"]["content"][0]["text"] == "Hello!"


async def test_every_capability_that_is_missing_is_named(client: Client) -> None:
    refused = await call(client, THREE, {"elicitation": {}})
    assert refused["error"]["code"] == -32021
    missing = refused["error"]["data"]["requiredCapabilities"]
    assert missing == {"sampling": {}, "roots": {}}
    refused = await call(client, THREE, ALL | {"elicitation": {"url": {}}})
    missing = refused["error"]["data"]["requiredCapabilities"]
    assert missing == {"elicitation": {"form": {}}}


# clause: CW-MRT-003
@pytest.mark.parametrize(
    ("capabilities", "methods"),
    [
        ({"sampling": {}}, {"sampling/createMessage"}),
        ({"roots": {}, "elicitation": {"form": {}}}, {"roots/list", "elicitation/create"}),
    ],
)
async def test_a_tool_may_ask_only_what_the_client_can_answer(
    client: Client, capabilities: Json, methods: set[str]
) -> None:
    paused = (await call(client, OFFERED, capabilities))["result"]
    assert {asked["method"] for asked in paused["inputRequests"].values()} == methods
    assert (await call(client, OFFERED, {}))["result"]["resultType"] == "complete"


async def test_a_prompt_may_ask_as_well(client: Client) -> None:
    params = {"name": PROMPT, "_meta": capable({"elicitation": {}})}
    paused = (await client.modern("prompts/get", params)).result
    retry = {
        "inputResponses": {"user_context": accept(context="a test")},
        "requestState": paused["requestState"],
    }
    done = (await client.modern("prompts/get", params | retry)).result
    assert done["messages"][0]["content"]["text"] == "Context: a test"


async def legacy_call(url: str, params: Json, answers: list[Json]) -> tuple[list[Json], Json]:
    """What a legacy client is asked during tools/call, answering in turn, and the response."""
    async with connect(url) as client, connect(url) as tool:
        headers = await open_session(client, ALL)
        message = json.dumps(legacy_message("tools/call", params, "call")).encode()
        await tool.send("POST", {**MEDIA, **headers}, message)
        await tool.head()
        asked = []
        for answer in answers:
            asked.append(await tool.event())
            reply = {"jsonrpc": "2.0", "id": asked[-1]["id"], **answer}
            assert (await client.post(reply, headers)).status == 202
        return asked, await tool.event()


async def test_a_legacy_client_is_asked_one_thing_after_the_other(url: str) -> None:
    answers = [{"result": answer} for answer in ANSWERS.values()]
    asked, response = await legacy_call(url, {"name": THREE}, answers)
    assert [message["method"] for message in asked] == [
        "elicitation/create",
        "sampling/createMessage",
        "roots/list",
    ]
    assert len({message["id"] for message in asked}) == 3
    assert json.loads(response["result"]["content"][0]["text"]) == ANSWERS


async def test_sampling_gives_the_text_of_every_text_block(url: str) -> None:
    blocks = [{"type": "text", "text": "Par"}, {"type": "text", "text": "is"}]
    answer = {"role": "assistant", "content": blocks, "model": "m"}
    params = {"name": "test_sampling", "arguments": {"prompt": "The capital of France?"}}
    (asked,), response = await legacy_call(url, params, [{"result": answer}])
    assert asked["params"]["messages"][0]["content"]["text"] == "The capital of France?"
    assert response["result"]["content"][0]["text"] == "LLM response: Paris"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"error": {"code": -1, "message": "rejected"}}, -32603),
        ({"result": {"action": "accept", "content": {"age": "thirty"}}}, -32602),
        ({"result": {}}, -32602),
    ],
)
async def test_a_legacy_answer_that_is_none_ends_the_request_in_an_error(
    url: str, answer: Json, code: int
) -> None:
    (asked,), response = await legacy_call(url, {"name": PROFILE}, [answer])
    defaults = {
        name: schema["default"]
        for name, schema in asked["params"]["requestedSchema"]["properties"].items()
    }
    assert defaults == {
        "name": "John Doe",
        "age": 30,
        "score": 95.5,
        "status": "active",
        "verified": True,
    }
    assert response["error"]["code"] == code


@pytest.mark.parametrize("name", [THREE, PROFILE, "test_missing_capability"])
async def test_a_legacy_client_is_not_asked_what_it_did_not_declare(
    client: Client, name: str
) -> None:
    headers = await open_session(client)
    answer = await client.post(legacy_message("tools/call", {"name": name}), headers)
    assert answer.error["code"] == -32600
