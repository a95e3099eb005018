from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from clausewise.core.vocabulary import Party, Revision
from clausewise.wire import methods
from clausewise.wire.methods import NotificationMethod, RequestMethod

UNIONS = {Party.CLIENT: "Client", Party.SERVER: "Server"}


@pytest.fixture(scope="module", params=list(Revision))
def revision(request: pytest.FixtureRequest) -> Revision:
    return Revision(request.param)


@pytest.fixture
def published(shared: Path, revision: Revision) -> dict[str, Any]:
    text = (shared / "spec/schema" / revision / "schema.json").read_text()
    definitions: dict[str, Any] = json.loads(text)["$defs"]
    return definitions


def _members(published: dict[str, Any], union: str) -> set[str]:
    """The names of a union's members; a union of one is written as that member itself."""
    schema = published.get(union, {"anyOf": []})
    if "anyOf" in schema:
        return {part["$ref"].removeprefix("#/$defs/") for part in schema["anyOf"]}
    method = schema["properties"]["method"]["const"]
    return {
        name
        for name, part in published.items()
        if name != union and part.get("properties", {}).get("method", {}).get("const") == method
    }


def _definitions(rows: Iterable[RequestMethod | NotificationMethod], sender: Party) -> set[str]:
    return {row.definition for row in rows if sender in row.senders}


@pytest.mark.parametrize("sender", Party)
def test_each_party_sends_what_the_official_unions_list(
    published: dict[str, Any], revision: Revision, sender: Party
) -> None:
    requests = methods.requests(revision).values()
    notifications = methods.notifications(revision).values()
    union = UNIONS[sender]
    assert _definitions(requests, sender) == _members(published, f"{union}Request")
    assert _definitions(notifications, sender) == _members(published, f"{union}Notification")


def test_input_requests_are_those_of_the_official_union(shared: Path) -> None:
    text = (shared / "spec/schema" / Revision.MODERN / "schema.json").read_text()
    rows = methods.input_requests().values()
    assert {row.definition for row in rows} == _members(json.loads(text)["$defs"], "InputRequest")


def test_each_result_is_one_that_the_answering_party_may_give(
    published: dict[str, Any], revision: Revision
) -> None:
    for row in methods.requests(revision).values():
        for sender in row.senders:
            answering = Party.SERVER if sender is Party.CLIENT else Party.CLIENT
            known = _members(published, f"{UNIONS[answering]}Result") | {"EmptyResult"}
            assert row.result in known, row


def test_the_methods_that_may_carry_a_task_are_those_whose_params_have_one(
    published: dict[str, Any], revision: Revision
) -> None:
    for row in methods.requests(revision).values():
        params = published.get(row.params, {})
        branches = [published[part["$ref"].split("/")[-1]] for part in params.get("anyOf", [])]
        takes_task = [
            "task" in branch.get("properties", {}) for branch in (*branches, params) if branch
        ]
        assert row.taskable == any(takes_task), row


def test_the_methods_that_may_ask_for_input_are_those_whose_response_says_so(
    published: dict[str, Any], revision: Revision
) -> None:
    for row in methods.requests(revision).values():
        response = published.get(f"{row.stem}ResultResponse", {})
        asks = "InputRequiredResult" in re.findall(r"\w+", json.dumps(response.get("properties")))
        assert row.may_ask_input == asks, row
