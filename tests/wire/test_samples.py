"""Arguments that are made up fit their schema, or none are made up."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausewise.probe.offered import (
    completable_argument,
    gettable_prompt,
    harmless_calls,
    readable_uri,
)
from clausewise.wire.samples import sample_arguments

LEAVES: list[dict[str, Any]] = [
    {"type": "string"},
    {"type": "string", "minLength": 5},
    {"type": "integer", "minimum": 3, "maximum": 9},
    {"type": "integer", "maximum": -4},
    {"type": "number", "exclusiveMinimum": 2.5},
    {"type": "boolean"},
    {"type": "null"},
    {"enum": ["a", 2]},
    {"const": {"x": 1}},
    {"type": "string", "default": "d"},
    {"type": ["integer", "null"]},
    {},
]


def arrays(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda items, least: {"type": "array", "items": items, "minItems": least},
        children,
        st.integers(0, 2),
    )


def objects(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from("abc")
    return st.builds(
        lambda properties: {
            "type": "object",
            "properties": properties,
            "required": sorted(properties),
            "additionalProperties": False,
        },
        st.dictionaries(names, children, max_size=3),
    )


schemas = st.recursive(
    st.sampled_from(LEAVES), lambda children: arrays(children) | objects(children), max_leaves=5
)


@settings(deadline=None)
@given(objects(schemas))
def test_what_is_made_up_fits(schema: dict[str, Any]) -> None:
    made = sample_arguments(schema)
    if made is not None:
        assert jsonschema_rs.is_valid(schema, dict(made))


@pytest.mark.parametrize("leaf", LEAVES, ids=str)
def test_plain_members_are_made_up(leaf: dict[str, Any]) -> None:
    made = sample_arguments({"type": "object", "properties": {"a": leaf}, "required": ["a"]})
    assert made is not None
    assert jsonschema_rs.is_valid(leaf, made["a"])


@pytest.mark.parametrize(
    "leaf",
    [
        {"$ref": "#/$defs/x"},
        {"type": "string", "pattern": "^x"},
        {"type": "string", "format": "email"},
        {"allOf": [{"type": "string"}]},
        {"type": "number", "minimum": 5, "maximum": 4},
        {"type": "integer", "multipleOf": 7},
        {"type": "colour"},
        {"type": "string", "minLength": 10**9},
        {"type": "array", "minItems": 10**9},
        False,
        7,
    ],
    ids=str,
)
def test_nothing_is_made_up_where_it_may_not_fit(leaf: Any) -> None:
    schema = {"type": "object", "properties": {"a": leaf}, "required": ["a"]}
    assert sample_arguments(schema) is None


def test_optional_members_are_left_out() -> None:
    assert sample_arguments({"type": "object", "properties": {"a": {"$ref": "#"}}}) == {}


@pytest.mark.parametrize(
    "schema", [None, [], "x", {"properties": []}, {"required": {"a": 1}}, {"required": ["a"]}]
)
def test_an_odd_schema_gives_nothing(schema: Any) -> None:
    assert sample_arguments(schema) is None


def test_only_read_only_and_named_tools_may_be_called() -> None:
    plain = {"name": "write", "inputSchema": {}}
    hinted = {"name": "read", "inputSchema": {}, "annotations": {"readOnlyHint": True}}
    doubtful = {"name": "maybe", "inputSchema": {}, "annotations": {"readOnlyHint": "true"}}
    tools = [hinted, plain, doubtful]
    assert [call.name for call in harmless_calls(tools, frozenset())] == ["read"]
    assert [call.name for call in harmless_calls(tools, frozenset({"write"}))] == ["write", "read"]


def test_what_lists_offer_is_found_among_malformed_entries() -> None:
    prompts: list[dict[str, Any]] = [
        {"name": 7},
        {"name": "needs", "arguments": [{"name": "a", "required": True}, "odd"]},
        {"name": "free", "arguments": {"a": 1}},
    ]
    assert gettable_prompt(prompts) == "free"
    assert completable_argument(prompts) == ("needs", "a")
    assert completable_argument([{"name": "free"}]) is None
    assert readable_uri([{"uri": 7}, {"uri": "file:///a"}]) == "file:///a"
    assert readable_uri([]) is None
