"""Messages that miss their shape are told as remarks, where no clause tells of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clausewise.core.vocabulary import Outcome, Party
from clausewise.judge import shapes
from clausewise.judge.engine import JudgeOptions, judge
from clausewise.judge.session.messages import Message
from tests.judge.notation import events_of

SESSION = """
handshake: client={} server={"tools": {}, "logging": {}}
"""


def notes(lines: str, party: Party | None = None) -> tuple[str, ...]:
    return judge(events_of(SESSION + lines), trace="t", options=JudgeOptions(party=party)).notes


def test_a_fault_that_no_clause_judges_is_told_with_its_place_and_seq() -> None:
    lines = 'client: {"id": 1, "method": "logging/setLevel", "params": {"level": "warn"}}'
    (note,) = notes(lines)
    assert note.startswith("shape: logging/setLevel: /params/level must be ")
    assert note.endswith("(seq 3)")


def test_the_same_fault_again_is_counted() -> None:
    request = 'client: {"id": %d, "method": "logging/setLevel", "params": {"level": "warn"}}\n'
    (note,) = notes(request % 1 + request % 2 + request % 3)
    assert note.endswith("(seq 3 and 2 more messages)")


def test_a_fault_that_a_clause_has_told_is_not_told_again() -> None:
    lines = """
client: {"id": 1, "method": "tools/list"}
server: {"id": 1, "result": {"tools": [{"name": "t", "inputSchema": 5}]}}
"""
    result = judge(events_of(SESSION + lines), trace="t")
    assert any(verdict.outcome is Outcome.FAIL for verdict in result.verdicts)
    assert result.notes == ()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"content": []}, None),
        ({"content": [{"type": "text"}]}, 'shape: result of tools/call: /content/0 lacks "text"'),
        ({"content": "x"}, "shape: result of tools/call: /content must be array"),
        ({}, 'shape: result of tools/call: it lacks "content"'),
    ],
)
def test_results_have_the_shape_of_the_request_that_they_answer(
    answer: dict[str, Any], told: str | None
) -> None:
    found = called({}, answer)
    assert [note.startswith(told or "") for note in found] == ([True] if told else [])


def called(params: dict[str, Any], answer: dict[str, Any]) -> tuple[str, ...]:
    params = {"name": "t", **params}
    return notes(
        f'client: {{"id": 1, "method": "tools/call", "params": {json.dumps(params)}}}\n'
        f'server: {{"id": 1, "result": {json.dumps(answer)}}}\n'
    )


TASK = {
    "taskId": "1",
    "status": "working",
    "createdAt": "2026-01-05T10:30:00Z",
    "lastUpdatedAt": "2026-01-05T10:30:00Z",
    "ttl": None,
}


def test_a_request_for_a_task_may_be_answered_by_a_task_or_as_usual() -> None:
    asking = {"task": {"ttl": 1}}
    assert not shape_notes(called(asking, {"task": TASK}))
    assert not shape_notes(called(asking, {"content": []}))
    assert shape_notes(called(asking, {"task": {**TASK, "status": "idle"}}))
    assert shape_notes(called({}, {"task": TASK}))


def shape_notes(found: tuple[str, ...]) -> list[str]:
    return [note for note in found if note.startswith("shape: ")]


def test_an_error_owes_the_data_of_its_code() -> None:
    error = {"code": -32042, "message": "m", "data": {"elicitations": 5}}
    faults = shapes.ShapeFaults()
    (event,) = events_of(f'server: {{"id": 1, "error": {json.dumps(error)}}}')
    faults.look(Message(event), has_finding=False)
    (note,) = faults.notes
    assert note.startswith("shape: error -32042: /data/elicitations must be array")


def test_only_the_wanted_party_is_told_of() -> None:
    lines = 'client: {"id": 1, "method": "logging/setLevel", "params": {"level": "warn"}}'
    assert notes(lines, Party.SERVER) == ()
    assert len(notes(lines, Party.CLIENT)) == 1


def test_deliberate_faults_and_unknown_methods_have_no_shape() -> None:
    assert notes('client!: {"id": 1, "method": "logging/setLevel", "params": {}}') == ()
    assert notes('client: {"id": 1, "method": "vendor/anything", "params": {"level": 1}}') == ()


def test_of_many_different_faults_the_rest_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shapes, "MAX_KINDS", 2)
    methods = ("tools/list", "tools/list", "logging/setLevel", "tools/call", "ping")
    asked = "".join(
        f'client: {{"id": {n}, "method": "{method}", "params": {{"_meta": 5}}}}\n'
        for n, method in enumerate(methods)
    )
    found = shape_notes(notes(asked))
    assert [note.split(":")[1] for note in found[:2]] == [" tools/list", " logging/setLevel"]
    assert found[2:] == ["shape: 2 further messages with other faults"]


def test_a_lone_surrogate_stops_nothing() -> None:
    lines = 'client: {"id": 1, "method": "tools/call", "params": {"name": "\\ud800"}}'
    result = judge(events_of(SESSION + lines), trace="t")
    assert Outcome.CRASHED not in {verdict.outcome for verdict in result.verdicts}
