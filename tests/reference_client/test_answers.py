"""What the client answers, and what it refuses to answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clausewise.core.vocabulary import Era
from clausewise.reference.client.answering import USER_REJECTED
from clausewise.reference.client.answers import Action, Answers, FormAnswer, SamplingAnswer
from clausewise.reference.client.desk import MAX_QUESTIONS, WINDOW_S, Desk
from clausewise.reference.messages import INVALID_PARAMS, METHOD_NOT_FOUND, JsonObject, RpcError

TOOL: JsonObject = {"name": "add", "inputSchema": {"type": "object"}}
ALL = Answers(
    FormAnswer(Action.ACCEPT, {"name": "Ada", "beside": 1}),
    Action.ACCEPT,
    SamplingAnswer(text="Forty-two, I think.", models=("big-1", "small-2"), tool="add"),
    ({"uri": "file:///srv", "name": "srv"},),
)
NONE = Answers()


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def desk(answers: Answers = ALL) -> Desk:
    return Desk(answers, Clock())


def ask(method: str, params: Any, answers: Answers = ALL) -> JsonObject:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return desk(answers).answer(Era.LEGACY, message)


def refusal(method: str, params: Any, answers: Answers = ALL) -> int:
    with pytest.raises(RpcError) as raised:
        ask(method, params, answers)
    return raised.value.code


def form(properties: JsonObject, *required: str, **more: Any) -> JsonObject:
    schema = {"type": "object", "properties": properties, "required": list(required), **more}
    return {"message": "Please", "requestedSchema": schema}


NAME = {"name": {"type": "string"}}


# clause: ELIC-010
def test_a_form_has_what_was_given_and_the_defaults_of_the_rest() -> None:
    asked = form({**NAME, "n": {"type": "integer", "default": 7}}, "name")
    assert ask("elicitation/create", asked) == {
        "action": "accept",
        "content": {"name": "Ada", "n": 7},
    }


# clause: ELIC-008
def test_a_form_without_a_mode_is_a_form() -> None:
    assert ask("elicitation/create", {"mode": "form", **form(NAME)})["action"] == "accept"
    only_url = replace(ALL, form=None)
    assert refusal("elicitation/create", form(NAME), only_url) == INVALID_PARAMS


# clause: ELIC-049
def test_input_that_does_not_fit_is_not_sent() -> None:
    asked = form({"name": {"type": "string", "maxLength": 2}}, "name")
    assert ask("elicitation/create", asked) == {"action": "cancel"}


@pytest.mark.parametrize("action", [Action.DECLINE, Action.CANCEL])
def test_a_form_that_is_not_accepted_has_no_content(action: Action) -> None:
    answers = replace(ALL, form=FormAnswer(action, {"name": "Ada"}))
    assert ask("elicitation/create", form(NAME), answers) == {"action": action.value}


def test_a_page_is_agreed_to_or_not_and_has_no_content() -> None:
    asked = {"mode": "url", "message": "m", "url": "https://a.example/", "elicitationId": "e"}
    assert ask("elicitation/create", asked) == {"action": "accept"}
    assert refusal("elicitation/create", asked, replace(ALL, url=None)) == INVALID_PARAMS


@pytest.mark.parametrize(
    "asked",
    [
        form(NAME, **{"$schema": "https://example.com/unknown"}),
        {"message": "m", "requestedSchema": {"type": "object", "properties": {"a": {"type": 7}}}},
        {"message": "m"},
        {"requestedSchema": {"type": "object", "properties": {}}},
    ],
)
def test_a_form_that_cannot_be_understood_is_refused(asked: JsonObject) -> None:
    assert refusal("elicitation/create", asked) == INVALID_PARAMS


def test_an_unknown_dialect_is_named_in_the_refusal() -> None:
    with pytest.raises(RpcError, match=r"https://example\.com/unknown"):
        ask("elicitation/create", form(NAME, **{"$schema": "https://example.com/unknown"}))


def prompt(**more: Any) -> JsonObject:
    message = {"role": "user", "content": {"type": "text", "text": "?"}}
    return {"messages": [message], "maxTokens": 100, **more}


def test_the_model_says_its_text() -> None:
    assert ask("sampling/createMessage", prompt()) == {
        "role": "assistant",
        "content": {"type": "text", "text": "Forty-two, I think."},
        "model": "big-1",
        "stopReason": "endTurn",
    }


def test_the_text_stays_within_the_tokens_wanted() -> None:
    answered = ask("sampling/createMessage", prompt(maxTokens=9))
    assert answered["content"]["text"] == "Forty-two"
    assert answered["stopReason"] == "maxTokens"


@pytest.mark.parametrize(
    ("hints", "model"),
    [
        ([{"name": "small"}], "small-2"),
        ([{"name": "none"}, {"name": "big"}], "big-1"),
        ([{"name": "small"}, {"name": "big"}], "small-2"),
        ([{"name": "none"}], "big-1"),
        ([{}], "big-1"),
    ],
)
def test_the_first_hint_that_fits_chooses_the_model(hints: list[JsonObject], model: str) -> None:
    asked = prompt(modelPreferences={"hints": hints, "speedPriority": 1})
    assert ask("sampling/createMessage", asked)["model"] == model


@pytest.mark.parametrize(
    ("mode", "kind"), [("auto", "tool_use"), ("required", "tool_use"), ("none", "text")]
)
def test_the_model_uses_its_tool_as_it_is_told(mode: str, kind: str) -> None:
    asked = prompt(tools=[TOOL], toolChoice={"mode": mode})
    assert ask("sampling/createMessage", asked)["content"]["type"] == kind


def test_the_model_says_something_once_it_has_the_result_of_its_tool() -> None:
    use = {"type": "tool_use", "id": "u", "name": "add", "input": {}}
    result = {"type": "tool_result", "toolUseId": "u", "content": []}
    asked = prompt(tools=[TOOL])
    asked["messages"] += [
        {"role": "assistant", "content": use},
        {"role": "user", "content": [result]},
    ]
    assert ask("sampling/createMessage", asked)["content"]["type"] == "text"


@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        (prompt(tools=[TOOL]), replace(ALL, sampling=SamplingAnswer())),
        (prompt(toolChoice={"mode": "auto"}), replace(ALL, sampling=SamplingAnswer())),
        (prompt(tools=[{**TOOL, "name": "other"}], toolChoice={"mode": "required"}), ALL),
        ({**prompt(), "messages": []}, ALL),
        ({**prompt(), "messages": [{"role": "user", "content": {"type": "smell"}}]}, ALL),
        ({"messages": prompt()["messages"]}, ALL),
        (
            prompt(
                messages=[
                    {
                        "role": "assistant",
                        "content": {"type": "tool_use", "id": "u", "name": "add", "input": {}},
                    }
                ]
            ),
            ALL,
        ),
        (
            prompt(
                tools=[
                    {
                        **TOOL,
                        "inputSchema": {"type": "object", "$schema": "https://example.com/unknown"},
                    }
                ]
            ),
            ALL,
        ),
    ],
)
def test_a_prompt_that_cannot_be_taken_is_refused(asked: JsonObject, answers: Answers) -> None:
    assert refusal("sampling/createMessage", asked, answers) == INVALID_PARAMS


def test_a_user_may_reject_every_prompt() -> None:
    answers = replace(ALL, sampling=SamplingAnswer(refuse=True))
    assert refusal("sampling/createMessage", prompt(), answers) == USER_REJECTED == -1


def test_roots_are_told_as_they_are() -> None:
    assert ask("roots/list", {}) == {"roots": [{"uri": "file:///srv", "name": "srv"}]}
    assert ask("roots/list", {}, replace(NONE, roots=())) == {"roots": []}


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("roots/list", {}),
        ("elicitation/create", form(NAME)),
        ("sampling/createMessage", prompt()),
        ("tasks/list", {}),
        ("no/such/method", None),
    ],
)
def test_what_the_client_does_not_offer_it_does_not_know(method: str, params: Any) -> None:
    assert refusal(method, params, NONE) == METHOD_NOT_FOUND


def test_a_flood_of_questions_is_turned_away_until_it_is_over() -> None:
    clock = Clock()
    flooded = Desk(ALL, clock)
    asked = {"method": "elicitation/create", "params": form(NAME)}
    actions = [flooded.answer(Era.MODERN, asked)["action"] for _ in range(MAX_QUESTIONS + 2)]
    assert actions == ["accept"] * MAX_QUESTIONS + ["cancel"] * 2
    with pytest.raises(RpcError) as raised:
        flooded.answer(Era.MODERN, {"method": "sampling/createMessage", "params": prompt()})
    assert raised.value.code == USER_REJECTED
    assert flooded.answer(Era.MODERN, {"method": "roots/list"})["roots"]
    clock.now = WINDOW_S + 1
    assert flooded.answer(Era.MODERN, asked)["action"] == "accept"


def test_what_was_asked_is_kept_with_its_answer() -> None:
    kept = desk()
    kept.answer(Era.MODERN, {"method": "roots/list", "params": {}})
    with pytest.raises(RpcError):
        kept.answer(Era.MODERN, {"method": "no/such"})
    assert [one["method"] for one in kept.asked] == ["roots/list", "no/such"]
    assert "result" in kept.asked[0]
    assert kept.asked[1]["error"]["code"] == METHOD_NOT_FOUND
