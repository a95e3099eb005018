from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from clausewise.core.errors import InternalError
from clausewise.core.vocabulary import Direction, Revision
from clausewise.wire import methods, shapes
from clausewise.wire.shapes.catalogue import definitions, self_contained
from clausewise.wire.shapes.notation import ref

UP, DOWN = Direction.CLIENT_TO_SERVER, Direction.SERVER_TO_CLIENT
LEGACY, MODERN = Revision.LEGACY, Revision.MODERN
TASK = {
    "taskId": "t",
    "status": "working",
    "createdAt": "2025-11-25T00:00:00Z",
    "lastUpdatedAt": "2025-11-25T00:00:00Z",
    "ttl": None,
}


def _annotations(schema: Any, *, named: bool = False) -> Iterator[str]:
    """The annotation keywords in a schema; in `properties` and `$defs` keys are names."""
    if isinstance(schema, dict):
        for keyword, part in schema.items():
            if not named and keyword in ("description", "title", "$comment", "examples"):
                yield keyword
            yield from _annotations(part, named=not named and keyword in ("properties", "$defs"))
    elif isinstance(schema, list):
        for part in schema:
            yield from _annotations(part)


@pytest.mark.parametrize("revision", Revision)
def test_no_shape_carries_a_description(revision: Revision) -> None:
    assert list(_annotations({"properties": {"a": {"description": "x"}}})) == ["description"]
    for name in definitions(revision):
        assert not list(_annotations(self_contained(revision, ref(name)))), name


def test_a_shape_carries_only_the_definitions_it_reaches() -> None:
    assert set(self_contained(LEGACY, ref("ListRootsResult"))["$defs"]) == {
        "ListRootsResult",
        "Root",
        "MetaObject",
    }


@pytest.mark.parametrize("revision", Revision)
def test_every_definition_compiles_and_is_built_once(revision: Revision) -> None:
    for name in definitions(revision):
        assert shapes.validator(revision, name) is shapes.validator(revision, name)


def test_an_unknown_definition_is_a_fault_of_ours() -> None:
    with pytest.raises(InternalError, match="no definition 'Taskk'"):
        shapes.validator(LEGACY, "Taskk")


@pytest.mark.parametrize("revision", Revision)
@pytest.mark.parametrize("method", ["", "tools", "notifications/initialised", "toString"])
def test_unknown_methods_have_no_shape(revision: Revision, method: str) -> None:
    for direction in Direction:
        assert shapes.request_shape(revision, method, direction) is None
        assert shapes.notification_shape(revision, method, direction) is None
        assert shapes.result_shape(revision, method, direction) is None
        assert shapes.task_answer_shape(method, direction) is None
    assert shapes.input_request_shape(method) is None
    assert shapes.input_response_shape(method) is None


def test_a_method_has_no_shape_in_the_direction_it_does_not_travel() -> None:
    assert shapes.request_shape(LEGACY, "tools/call", DOWN) is None
    assert shapes.result_shape(LEGACY, "tools/call", DOWN) is None
    assert shapes.request_shape(LEGACY, "roots/list", UP) is None
    assert shapes.request_shape(MODERN, "roots/list", DOWN) is None
    assert shapes.notification_shape(LEGACY, "notifications/initialized", DOWN) is None
    assert shapes.request_shape(LEGACY, "ping", UP) is not None
    assert shapes.request_shape(LEGACY, "ping", DOWN) is not None


def test_a_request_shape_leaves_the_envelope_alone() -> None:
    shape = shapes.request_shape(LEGACY, "tools/list", UP)
    assert shape is not None
    assert shape.is_valid({"jsonrpc": 1, "id": None, "result": 0, "method": "tools/list"})
    assert not shape.is_valid({"method": "tools/list", "params": None})
    assert not shape.is_valid({"method": "tools/call"})


def test_a_task_request_may_be_answered_by_a_task_or_by_the_ordinary_result() -> None:
    shape = shapes.task_answer_shape("tools/call", UP)
    assert shape is not None
    assert shape.is_valid({"task": TASK})
    assert shape.is_valid({"content": []})
    assert not shape.is_valid({"task": {**TASK, "ttl": "1"}})
    assert not shape.is_valid({})
    assert shapes.task_answer_shape("tools/list", UP) is None
    assert shapes.task_answer_shape("tools/call", DOWN) is None


def test_an_error_owes_the_data_of_its_code() -> None:
    error: dict[str, Any] = {"code": -32022, "message": "no such version"}
    assert shapes.error_shape(MODERN).is_valid(error)
    assert shapes.error_shape(LEGACY, -32022).is_valid(error)
    assert not shapes.error_shape(MODERN, -32022).is_valid(error)
    assert not shapes.error_shape(MODERN, -32022.0).is_valid(error)
    error["data"] = {"supported": ["2026-07-28"], "requested": "1999"}
    assert shapes.error_shape(MODERN, -32022).is_valid(error)


@pytest.mark.parametrize("code", [None, True, "x", [], {}, 2**80, 1.5])
def test_any_code_gets_at_least_the_shape_of_an_error(code: Any) -> None:
    assert shapes.error_shape(MODERN, code).is_valid({"code": 1, "message": ""})
    assert not shapes.error_shape(MODERN, code).is_valid({"code": 1})


@pytest.mark.parametrize("method", methods.input_requests())
def test_input_requests_and_responses_have_shapes(method: str) -> None:
    request, response = shapes.input_request_shape(method), shapes.input_response_shape(method)
    assert request is not None
    assert response is not None
    assert not request.is_valid({"method": "tools/call", "params": {}})
    assert not response.is_valid({"resultType": "complete"})


def test_integers_are_exact_and_numbers_compare_by_value() -> None:
    shape = shapes.validator(LEGACY, "RequestId")
    assert all(map(shape.is_valid, (1.0, 2**64, -(2**70), 1e300, "")))
    assert not any(map(shape.is_valid, (1.5, True, None, [], {})))


def test_deep_and_ill_formed_values_are_judged_all_the_same() -> None:
    shape = shapes.request_shape(LEGACY, "tools/call", UP)
    assert shape is not None
    deep: Any = None
    for _ in range(20_000):
        deep = [deep]
    for arguments in ({"a": deep}, {"\ud800": 1}, {"a": "\ud800"}):
        good = {"method": "tools/call", "params": {"name": "a", "arguments": arguments}}
        assert shape.is_valid(good)
        assert not shape.is_valid({**good, "params": {"arguments": arguments}})


def test_member_names_that_are_not_unicode_hide_no_other_member() -> None:
    shape = shapes.request_shape(LEGACY, "prompts/get", UP)
    assert shape is not None
    for name in ("?", "\\ud800", "\ufffd"):
        arguments = {name: 1, "\ud800": "a"}
        assert not shape.is_valid(
            {"method": "prompts/get", "params": {"name": "", "arguments": arguments}}
        )


@pytest.mark.parametrize("revision", Revision)
def test_no_definition_is_recursive(revision: Revision) -> None:
    known = definitions(revision)
    reached = {name: set(self_contained(revision, known[name])["$defs"]) for name in known}
    assert not [name for name in known if name in reached[name]]


def test_importing_the_shapes_compiles_none() -> None:
    program = (
        "import clausewise.wire.shapes as shapes; from clausewise.wire.shapes import catalogue;"
        "assert catalogue.definitions.cache_info().misses == 0;"
        "assert shapes.validator.cache_info().misses == 0"
    )
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ, timeout=60)
