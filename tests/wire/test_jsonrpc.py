from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest

from clausewise.wire.jsonrpc import MessageClass, classify, id_key, same_id, valid_id
from clausewise.wire.jsontext import decode


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"id": 1, "method": "ping"}', MessageClass.REQUEST),
        ('{"id": null, "method": "ping"}', MessageClass.REQUEST),
        ('{"id": 1, "method": 5}', MessageClass.REQUEST),
        ('{"id": 1, "method": "ping", "result": {}}', MessageClass.REQUEST),
        ('{"method": "ping"}', MessageClass.NOTIFICATION),
        ('{"method": "notifications/cancelled"}', MessageClass.NOTIFICATION),
        ('{"method": null}', MessageClass.NOTIFICATION),
        ('{"id": 1, "result": null}', MessageClass.RESULT),
        ('{"result": {}}', MessageClass.RESULT),
        ('{"id": null, "error": {}}', MessageClass.ERROR),
        ('{"error": null}', MessageClass.ERROR),
        ('{"id": 1, "result": {}, "error": null}', MessageClass.MALFORMED),
        ('{"id": 1}', MessageClass.MALFORMED),
        ("{}", MessageClass.MALFORMED),
        ("null", MessageClass.MALFORMED),
        ('"method"', MessageClass.MALFORMED),
        ("7", MessageClass.MALFORMED),
        ("[]", MessageClass.BATCH),
        ('[{"id": 1, "method": "ping"}]', MessageClass.BATCH),
    ],
)
def test_the_members_decide_the_class_of_a_message(text: str, expected: MessageClass) -> None:
    assert classify(json.loads(text)) is expected


@pytest.mark.parametrize("bad_id", [1, "a", None, {}])
def test_a_notification_with_an_id_stays_a_notification(bad_id: Any) -> None:
    message = {"method": "notifications/progress", "id": bad_id}
    assert classify(message) is MessageClass.NOTIFICATION


@pytest.mark.parametrize("value", ["", "a", 0, -1, 2**70, 1.0, -0.0, 1e300])
def test_strings_and_integers_are_ids(value: Any) -> None:
    assert valid_id(value)


@pytest.mark.parametrize(
    "value", [True, False, None, 1.5, float("inf"), float("nan"), [], [1], {}, {"id": 1}]
)
def test_nothing_else_is_an_id(value: Any) -> None:
    assert not valid_id(value)


@pytest.mark.parametrize(
    ("one", "other"), [("1", "1.0"), ("1", "1e0"), ("0", "-0.0"), ('"a"', '"\\u0061"')]
)
def test_spellings_of_one_number_or_string_are_one_id(one: str, other: str) -> None:
    assert same_id(decode(one.encode()), decode(other.encode()))
    assert hash(id_key(json.loads(one))) == hash(id_key(json.loads(other)))


def test_distinct_values_are_distinct_ids() -> None:
    texts = (
        *("0", "1", '"1"', '""', "true", "false", "null", '"null"', '"True"', "1.5", "[1]", "{}"),
        *('["literal", "True"]', "[]", "9007199254740992", "9007199254740993"),
        *("18446744073709551616", "18446744073709551617", '"9007199254740993"'),
    )
    for one, other in combinations([decode(text.encode()) for text in texts], 2):
        assert not same_id(one, other), (one, other)


def test_any_value_in_id_position_has_a_hashable_key() -> None:
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, {"a": [1]}, None, 1.5):
        assert {id_key(value): value}[id_key(value)] is value
