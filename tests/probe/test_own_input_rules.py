"""Our rules about input requests: elicitation, sampling, and what holds them."""

from __future__ import annotations

from typing import Any

import pytest

from clausewise.core.vocabulary import Outcome
from tests.probe.crafted import asking, call, judged, result, seen

FAIL, PASS, NOT_OBSERVED = Outcome.FAIL, Outcome.PASS, Outcome.NOT_OBSERVED
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
FORM = {"mode": "form", "message": "Who?", "requestedSchema": SCHEMA}
VISIT = {"mode": "url", "message": "Sign in.", "url": "https://example.com/s/7f3a"}
USE = {"type": "tool_use", "id": "1", "name": "t", "input": {}}
OUTCOME = {"type": "tool_result", "toolUseId": "1", "content": []}
TEXT = {"type": "text", "text": "hello"}


def elicited(**params: Any) -> Any:
    kept = {name: value for name, value in params.items() if value is not ...}
    return call(asking({"q": {"method": "elicitation/create", "params": kept}}))


def sampled(*messages: dict[str, Any]) -> Any:
    params = {"messages": list(messages), "maxTokens": 1}
    return call(asking({"q": {"method": "sampling/createMessage", "params": params}}))


@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        (asking({"q": {"method": "roots/list"}}), PASS),
        (asking(None, requestState="s"), PASS),
        (asking({}), PASS),
        (asking(None), FAIL),
        (result(), NOT_OBSERVED),
    ],
)
def test_a_result_that_asks_holds_something(message: dict[str, Any], outcome: Outcome) -> None:
    assert judged("CW-MRT-002", call(message)).outcome is outcome


@pytest.mark.parametrize(
    ("request_", "outcome"),
    [
        ({"method": "roots/list"}, PASS),
        ({"method": "elicitation/create", "params": FORM}, PASS),
        ({"method": "user/ask"}, FAIL),
        ({"params": {}}, FAIL),
        ("elicitation/create", FAIL),
    ],
)
def test_an_input_request_is_one_of_three(request_: Any, outcome: Outcome) -> None:
    assert judged("CW-MRT-004", call(asking({"q": request_}))).outcome is outcome


def test_a_key_given_twice_is_found_in_the_text() -> None:
    head = b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":'
    twice = head + b'{"q":{"method":"roots/list"},"q":{"method":"roots/list"}}}}'
    once = head + b'{"q":{"method":"roots/list"},"r":{"q":1,"q":2}}}}'
    assert seen(judged("CW-MRT-005", call(twice))) == ['the key "q" twice']
    assert judged("CW-MRT-005", call(once)).outcome is PASS


@pytest.mark.parametrize(
    ("params", "broken"),
    [
        (FORM, set()),
        (FORM | {"mode": ...}, set()),
        (VISIT, set()),
        (FORM | {"message": ...}, {"CW-ELI-002"}),
        (FORM | {"mode": "page"}, {"CW-ELI-002"}),
        (FORM | {"requestedSchema": ...}, {"CW-ELI-003"}),
        (VISIT | {"mode": ...}, {"CW-ELI-004"}),
        (VISIT | {"url": ...}, {"CW-ELI-004"}),
        (VISIT | {"url": "/sign-in"}, {"CW-ELI-005"}),
        (VISIT | {"url": "javascript:alert(1)"}, {"CW-ELI-005"}),
        (VISIT | {"url": "https:///x"}, {"CW-ELI-005"}),
    ],
)
def test_a_fault_of_an_elicitation_is_told_by_one_rule(
    params: dict[str, Any], broken: set[str]
) -> None:
    rules = [f"CW-ELI-00{number}" for number in range(2, 8)] + ["CW-MRT-004"]
    assert {rule for rule in rules if judged(rule, elicited(**params)).faults} == broken


@pytest.mark.parametrize(
    ("name", "field", "outcome"),
    [
        ("name", {}, PASS),
        ("compass", {}, PASS),
        ("pinned", {}, PASS),
        ("password", {}, FAIL),
        ("api_key", {}, FAIL),
        ("value", {"title": "Credit card"}, FAIL),
        ("pin", {}, FAIL),
    ],
)
def test_a_form_that_seems_to_ask_for_a_secret_is_told(
    name: str, field: dict[str, Any], outcome: Outcome
) -> None:
    schema = {"type": "object", "properties": {name: {"type": "string", **field}}}
    assert judged("CW-ELI-006", elicited(**FORM | {"requestedSchema": schema})).outcome is outcome


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("https://example.com/s/7f3a?state=xyz", PASS),
        ("https://example.com/?next=%2Fhome", PASS),
        ("https://joe:pw@example.com/", FAIL),
        ("https://example.com/?access=1&token=abc", FAIL),
        ("https://example.com/?to=joe%40example.com", FAIL),
        ("https://example.com/u/joe@example.com", FAIL),
    ],
)
def test_a_url_that_seems_to_hold_personal_data_is_told(url: str, outcome: Outcome) -> None:
    assert judged("CW-ELI-007", elicited(**VISIT | {"url": url})).outcome is outcome


@pytest.mark.parametrize(
    ("rule", "message", "outcome"),
    [
        ("CW-SMP-003", {"role": "user", "content": TEXT}, PASS),
        ("CW-SMP-003", {"role": "assistant", "content": [USE]}, PASS),
        ("CW-SMP-003", {"role": "system", "content": TEXT}, FAIL),
        ("CW-SMP-003", {"role": "user"}, FAIL),
        ("CW-SMP-003", {"role": "user", "content": "hello"}, FAIL),
        ("CW-SMP-002", {"role": "user", "content": [OUTCOME]}, PASS),
        ("CW-SMP-002", {"role": "user", "content": [OUTCOME, TEXT]}, FAIL),
        ("CW-SMP-002", {"role": "user", "content": [TEXT]}, NOT_OBSERVED),
    ],
)
def test_sampling_messages(rule: str, message: dict[str, Any], outcome: Outcome) -> None:
    assert judged(rule, sampled(message)).outcome is outcome


def test_what_nobody_asked_is_not_observed() -> None:
    for number in range(2, 8):
        assert judged(f"CW-ELI-00{number}", call(result())).outcome is NOT_OBSERVED
    for rule in ("CW-MRT-002", "CW-MRT-004", "CW-MRT-005", "CW-SMP-002", "CW-SMP-003"):
        assert judged(rule, call(result())).outcome is NOT_OBSERVED
