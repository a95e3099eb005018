"""Our shapes agree with the published schema.json of each revision, departures aside."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from tests.wire.shape_departures import DEPARTURES, NAMED_BY_US, NOT_CARRIED, Departure
from tests.wire.shape_instances import REPLACEMENTS, Maker, variants
from tests.wire.shape_structure import same_structure

from clausewise.core.vocabulary import Direction, Party, Revision
from clausewise.wire import methods, shapes
from clausewise.wire.jsonrpc import valid_id
from clausewise.wire.shapes.catalogue import definitions

Official = Mapping[Revision, Mapping[str, Any]]

MOST_ALTERNATIVES = 8
"""As many as the largest union and the longest enum of the schema have."""

CARRIED = [
    pytest.param(revision, name, id=f"{revision}-{name}")
    for revision in Revision
    for name in definitions(revision)
    if name not in NAMED_BY_US[revision]
]


@pytest.fixture(scope="module")
def published(shared: Path) -> Official:
    """The definitions of the published schema.json files, as they are."""
    return {revision: _load(shared, revision) for revision in Revision}


@pytest.fixture(scope="module")
def official(published: Official) -> Official:
    """The published definitions with every listed departure applied."""
    amended = copy.deepcopy(published)
    for departure in DEPARTURES:
        container, place = _locate(amended, departure)
        container[place] = departure.ours
    return amended


def _load(shared: Path, revision: Revision) -> Any:
    return json.loads((shared / "spec/schema" / revision / "schema.json").read_text())["$defs"]


def _locate(documents: Official, departure: Departure) -> tuple[Any, Any]:
    """The container that a departure's pointer leads into, and the place in it."""
    container: Any = documents[departure.revision][departure.definition]
    *steps, last = departure.pointer.removeprefix("/").split("/")
    for step in steps:
        container = container[int(step) if isinstance(container, list) else step]
    return container, int(last) if isinstance(container, list) else last


def _oracle(known: Mapping[str, Any], schema: Mapping[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "$defs": known}, validate_formats=True, offline=True)


def _instances(known: Mapping[str, Any], name: str) -> Iterator[Any]:
    """Lean and full instances, and some between; the same ones in every run."""
    for turn, optional in enumerate((0.0, 1.0, 0.3, 0.7)):
        yield _instance(known, name, optional, turn)


def _instance(known: Mapping[str, Any], name: str, optional: float, turn: int) -> Any:
    maker = Maker(known, Random(f"{name} {turn}"), optional, turn)
    return maker.make({"$ref": f"#/$defs/{name}"})


def test_each_official_definition_has_a_shape_or_a_reason(published: Official) -> None:
    for revision in Revision:
        ours, theirs = set(definitions(revision)), set(published[revision])
        assert theirs - ours == set(NOT_CARRIED[revision])
        assert ours - theirs == NAMED_BY_US[revision]


@pytest.mark.parametrize("departure", DEPARTURES, ids=lambda d: f"{d.revision}-{d.definition}")
def test_each_departure_is_from_what_the_schema_really_says(
    published: Official, departure: Departure
) -> None:
    container, place = _locate(published, departure)
    assert container[place] == departure.published
    ours = definitions(departure.revision)
    whole = {"$ref": f"#/$defs/{departure.definition}"}
    assert not same_structure(whole, published[departure.revision], ours)


@pytest.mark.parametrize(("revision", "name"), CARRIED)
def test_a_definition_is_built_like_the_official_one(
    official: Official, revision: Revision, name: str
) -> None:
    assert same_structure({"$ref": f"#/$defs/{name}"}, official[revision], definitions(revision))


@pytest.mark.parametrize(("revision", "name"), CARRIED)
def test_a_definition_takes_and_refuses_what_the_official_one_does(
    official: Official, revision: Revision, name: str
) -> None:
    known = official[revision]
    oracle, shape = _oracle(known, known[name]), shapes.validator(revision, name)
    for instance in _instances(known, name):
        assert oracle.is_valid(instance), instance
        assert shape.is_valid(instance), instance
        for variant in variants(instance):
            assert shape.is_valid(variant) == oracle.is_valid(variant), variant
    for turn in range(MOST_ALTERNATIVES):
        assert shape.is_valid(_instance(known, name, 1.0, turn))
    for value in REPLACEMENTS:
        assert shape.is_valid(value) == oracle.is_valid(value), value


@pytest.mark.parametrize("revision", Revision)
def test_the_official_examples_pass(shared: Path, official: Official, revision: Revision) -> None:
    known, seen = official[revision], 0
    for path in sorted((shared / "spec/schema/2026-07-28/examples").glob("*/*.json")):
        name, example = path.parent.name, json.loads(path.read_text())
        if name not in definitions(revision) or name not in known:
            continue
        oracle, shape = _oracle(known, known[name]), shapes.validator(revision, name)
        seen += 1
        assert shape.is_valid(example) == oracle.is_valid(example), path
        assert shape.is_valid(example) or revision is not Revision.MODERN, path
        for variant in variants(example):
            assert shape.is_valid(variant) == oracle.is_valid(variant), (path, variant)
    assert seen > 50


@pytest.mark.parametrize("revision", Revision)
def test_a_request_shape_is_the_official_one_without_its_envelope(
    official: Official, revision: Revision
) -> None:
    known = official[revision]
    for row in methods.requests(revision).values():
        oracle = _oracle(known, known[row.definition])
        for sender in row.senders:
            shape = shapes.request_shape(revision, row.method, _from(sender))
            assert shape is not None
            for instance in _instances(known, row.definition):
                for variant in variants(instance):
                    split = shape.is_valid(variant) and _request_envelope(variant)
                    assert split == oracle.is_valid(variant), variant


@pytest.mark.parametrize("revision", Revision)
def test_a_notification_shape_is_the_official_one_without_its_envelope(
    official: Official, revision: Revision
) -> None:
    known = official[revision]
    for row in methods.notifications(revision).values():
        oracle = _oracle(known, known[row.definition])
        for sender in row.senders:
            shape = shapes.notification_shape(revision, row.method, _from(sender))
            assert shape is not None
            for instance in _instances(known, row.definition):
                for variant in variants(instance):
                    split = shape.is_valid(variant) and variant.get("jsonrpc") == "2.0"
                    assert split == oracle.is_valid(variant), variant


def test_a_modern_result_shape_follows_the_result_type(official: Official) -> None:
    known = official[Revision.MODERN]
    for row in methods.requests(Revision.MODERN).values():
        shape = shapes.result_shape(Revision.MODERN, row.method, Direction.CLIENT_TO_SERVER)
        assert shape is not None
        for name, result_type in (
            (row.result, "complete"),
            ("InputRequiredResult", "input_required"),
            ("Result", "org.example/task"),
        ):
            oracle = _oracle(known, known[name])
            for instance in _instances(known, name):
                instance["resultType"] = result_type
                assert shape.is_valid(instance)
                for variant in variants(instance):
                    if isinstance(variant, dict) and variant.get("resultType") == result_type:
                        assert shape.is_valid(variant) == oracle.is_valid(variant), variant


def test_a_legacy_result_shape_is_the_definition_of_the_result(official: Official) -> None:
    known = official[Revision.LEGACY]
    for row in methods.requests(Revision.LEGACY).values():
        oracle = _oracle(known, known[row.result])
        for sender in row.senders:
            shape = shapes.result_shape(Revision.LEGACY, row.method, _from(sender))
            assert shape is not None
            for instance in _instances(known, row.result):
                for variant in variants(instance):
                    assert shape.is_valid(variant) == oracle.is_valid(variant), variant


def _from(sender: Party) -> Direction:
    return next(direction for direction in Direction if direction.sender is sender)


def _request_envelope(message: Any) -> bool:
    return message.get("jsonrpc") == "2.0" and valid_id(message.get("id"))
