from __future__ import annotations

from typing import Any

import pytest

from clausewise.core.vocabulary import Direction, Revision
from clausewise.wire import shapes
from clausewise.wire.shapes import Fault, Shape

UP = Direction.CLIENT_TO_SERVER


def _result(revision: Revision, method: str) -> Shape:
    shape = shapes.result_shape(revision, method, UP)
    assert shape is not None
    return shape


def _only(shape: Shape, value: Any) -> tuple[str, str, str, str]:
    (fault,) = shapes.faults(shape, value)
    assert shapes.first_fault(shape, value) == fault
    return fault.path, fault.keyword, fault.message, fault.seen


def test_a_good_value_has_no_fault() -> None:
    shape = _result(Revision.LEGACY, "tools/call")
    assert shapes.faults(shape, {"content": []}) == ()
    assert shapes.first_fault(shape, {"content": []}) is None


@pytest.mark.parametrize(
    ("definition", "value", "expected"),
    [
        ("Role", "robot", ("", "enum", 'must be "user" or "assistant"', '"robot"')),
        ("Root", None, ("", "type", "must be object, not null", "null")),
        ("Root", {}, ("", "required", 'lacks "uri"', "{}")),
        ("Root", {"uri": "a b"}, ("/uri", "format", "is no URI (RFC 3986)", '"a b"')),
        ("RequestId", True, ("", "type", "must be integer or string, not boolean", "true")),
        ("RequestId", 1.5, ("", "type", "must be integer or string, not number", "1.5")),
        (
            "Annotations",
            {"priority": 2},
            ("/priority", "maximum", "must not be above 1", "2"),
        ),
        (
            "Annotations",
            {"priority": -1},
            ("/priority", "minimum", "must not be below 0", "-1"),
        ),
        (
            "PromptReference",
            {"type": "prompt", "name": "a"},
            ("/type", "const", 'must be "ref/prompt"', '"prompt"'),
        ),
        (
            "ResourceTemplateReference",
            {"type": "ref/resource", "uri": "{"},
            ("/uri", "format", "is no URI template (RFC 6570)", '"{"'),
        ),
    ],
)
def test_a_fault_says_where_what_and_why(
    definition: str, value: Any, expected: tuple[str, str, str, str]
) -> None:
    assert _only(shapes.validator(Revision.MODERN, definition), value) == expected


def test_too_many_items_are_counted() -> None:
    values = ["a"] * 101
    path, keyword, message, seen = _only(
        _result(Revision.MODERN, "completion/complete"),
        {"resultType": "complete", "completion": {"values": values}},
    )
    assert (path, keyword) == ("/completion/values", "maxItems")
    assert message == "has more than 100 items"
    assert len(seen) == 80
    assert seen.endswith("…")


@pytest.mark.parametrize(
    ("block", "path", "message"),
    [
        ({"type": "text"}, "/content/0", 'lacks "text"'),
        ({"type": "text", "text": None}, "/content/0/text", "must be string, not null"),
        ({}, "/content/0", 'lacks "type"'),
        (3, "/content/0", "must be object, not integer"),
        (
            {"type": "txt", "text": "a"},
            "/content/0/type",
            'must be "text", "image", "audio", "resource_link" or "resource"',
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///a"}},
            "/content/0/resource",
            'lacks "text" or "blob"',
        ),
        (
            {"type": "resource", "resource": {"uri": "a", "text": "b"}},
            "/content/0/resource/uri",
            "is no URI (RFC 3986)",
        ),
    ],
)
def test_of_a_union_only_the_alternative_that_was_meant_is_reported(
    block: Any, path: str, message: str
) -> None:
    found = _only(_result(Revision.LEGACY, "tools/call"), {"content": [block]})
    assert (found[0], found[2]) == (path, message)


def test_the_mode_decides_which_elicitation_was_meant() -> None:
    shape = shapes.input_request_shape("elicitation/create")
    assert shape is not None
    request = {"method": "elicitation/create", "params": {"mode": "url", "message": "m"}}
    assert _only(shape, request)[2] == 'lacks "url"'
    request["params"] = {"message": "m"}
    assert _only(shape, request)[2] == 'lacks "requestedSchema"'
    request["params"] = {"mode": "voice", "message": "m"}
    assert _only(shape, request)[::2] == ("/params/mode", 'must be "form" or "url"')


def test_paths_are_json_pointers() -> None:
    shape = shapes.validator(Revision.MODERN, "InputRequests")
    assert _only(shape, {"a/b~c": 1})[0] == "/a~1b~0c"


def test_every_fault_is_listed_once_and_no_more_than_wanted() -> None:
    shape = shapes.validator(Revision.LEGACY, "GetTaskResult")
    value = {"taskId": 1, "_meta": None, "status": "done", "createdAt": "", "lastUpdatedAt": ""}
    found = shapes.faults(shape, value)
    assert {fault.path for fault in found} == {"/taskId", "/_meta", "/status", ""}
    assert len(found) == 4
    assert shapes.faults(shape, value, at_most=2) == found[:2]


def test_a_fault_beside_a_deep_or_ill_formed_part_is_told() -> None:
    shape = shapes.request_shape(Revision.LEGACY, "tools/call", UP)
    assert shape is not None
    deep: Any = None
    for _ in range(20_000):
        deep = {"": [deep]}
    for arguments in (deep, {"\ud800": {"\udfff": 1}}):
        message = {"method": "tools/call", "params": {"name": 3, "arguments": arguments}}
        assert _only(shape, message) == (
            "/params/name",
            "type",
            "must be string, not integer",
            "3",
        )
        lacking = {"method": "tools/call", "params": {"arguments": arguments}}
        fault = shapes.first_fault(shape, lacking)
        assert isinstance(fault, Fault)
        assert fault.message == 'lacks "name"'
        assert fault.seen.encode("utf-8")
