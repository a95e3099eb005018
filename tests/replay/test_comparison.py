"""What counts as a difference between answers, and what is rebound in requests."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.replay.bindings import Bindings
from clausewise.replay.differences import differences

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("recorded", "live", "told"),
    [
        ({"a": 1}, {"a": 2}, ("/a: 1 → 2",)),
        ({"a": 1}, {"a": True}, ("/a: 1 → true",)),
        ({"a": 1}, {}, ("/a: 1 → absent",)),
        ({}, {"b": []}, ("/b: absent → []",)),
        ({"a": [1, 2]}, {"a": [1]}, ("/a: 2 items → 1 items",)),
        ({"nextCursor": "x"}, {"nextCursor": "y"}, ()),
        ({"nextCursor": "x"}, {}, ('/nextCursor: "x" → absent',)),
        ({"lastUpdatedAt": "x"}, {"lastUpdatedAt": "y"}, ()),
        ([], {}, ("/: [] → {}",)),
    ],
)
def test_differences_are_told_by_their_path(
    recorded: Any, live: Any, told: tuple[str, ...]
) -> None:
    assert differences(recorded, live) == told


def test_only_so_many_differences_are_told() -> None:
    many = differences(dict.fromkeys(map(str, range(100)), 1), {})
    assert len(many) == 21
    assert many[-1] == "and more"


@pytest.mark.parametrize("depth", [50, 900])
def test_deep_values_are_compared_or_said_to_be_too_deep(depth: int) -> None:
    recorded: Any = 1
    live: Any = 2
    for _ in range(depth):
        recorded, live = [recorded], [live]
    (only,) = differences(recorded, live)
    assert only.endswith("1 → 2" if depth < 100 else "nested too deeply to compare")


@given(json_values)
def test_a_value_does_not_differ_from_itself(value: Any) -> None:
    assert differences(value, value) == ()


@given(json_values)
def test_without_coined_values_a_payload_stays_the_same_object(value: Any) -> None:
    bindings = Bindings()
    bindings.learn({"nextCursor": "one"}, {"nextCursor": "two"})
    assert bindings.rebound([value])[0] is value


def test_a_cursor_is_rebound_only_where_a_cursor_stands() -> None:
    bindings = Bindings()
    bindings.learn({"result": {"nextCursor": "1"}}, {"result": {"nextCursor": "b"}})
    payload = {"params": {"cursor": "1", "name": "1", "list": ["1"]}}
    assert bindings.rebound(payload) == {"params": {"cursor": "b", "name": "1", "list": ["1"]}}


def test_the_request_state_and_the_keys_of_input_requests_are_rebound() -> None:
    bindings = Bindings()
    elicit = {"method": "elicitation/create"}
    roots = {"method": "roots/list"}
    bindings.learn(
        {"requestState": "s1", "inputRequests": {"a": roots, "b": elicit}},
        {"requestState": "s2", "inputRequests": {"x": elicit, "y": roots}},
    )
    retry = {"requestState": "s1", "inputResponses": {"a": {"roots": []}, "b": {"action": "x"}}}
    assert bindings.rebound(retry) == {
        "requestState": "s2",
        "inputResponses": {"y": {"roots": []}, "x": {"action": "x"}},
    }


def test_a_progress_token_of_the_server_is_rebound_in_what_the_client_reports() -> None:
    bindings = Bindings()
    meta = {"params": {"_meta": {"progressToken": 7}}}
    bindings.learn(meta, {"params": {"_meta": {"progressToken": 9}}})
    report = {"method": "notifications/progress", "params": {"progressToken": 7, "progress": 7}}
    assert bindings.rebound(report)["params"] == {"progressToken": 9, "progress": 7}
