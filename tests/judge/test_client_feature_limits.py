"""What the checks of elicitation and sampling remember is bounded, and forgetting is no verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Outcome
from clausewise.judge.checks import elicitation_url, sampling_tool_messages
from clausewise.judge.engine import judge
from clausewise.judge.subjects import tasks
from clausewise.judge.subjects.urls import is_url
from tests.judge.notation import read_cases

CAPABILITIES = (
    '{"elicitation":{"url":{}},"sampling":{"tools":{}},'
    '"tasks":{"requests":{"sampling":{"createMessage":{}}}}}'
)


class Trace:
    """A session on stdio, line by line."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "trace.md"
        self._lines = [f"handshake client={CAPABILITIES}"]

    def server(self, message: dict[str, Any]) -> None:
        self._lines.append(f"server: {json.dumps(message)}")

    def client(self, message: dict[str, Any]) -> None:
        self._lines.append(f"client: {json.dumps(message)}")

    def verdict(self, clause: str) -> Verdict:
        text = "\n".join(self._lines)
        self._path.write_text(f"## a trace\n\n```trace\n{text}\n```\n", encoding="utf-8")
        (case,) = read_cases(self._path)
        verdicts = judge(case.events, trace="trace").verdicts
        return next(verdict for verdict in verdicts if verdict.id == clause)


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    return Trace(tmp_path)


def elicit(number: int) -> dict[str, Any]:
    params = {"mode": "url", "message": "Log in", "url": "https://a.example/", "elicitationId": ""}
    params["elicitationId"] = f"e{number}"
    return {"id": number, "method": "elicitation/create", "params": params}


def complete(number: int) -> dict[str, Any]:
    return {
        "method": "notifications/elicitation/complete",
        "params": {"elicitationId": f"e{number}"},
    }


def test_the_completion_of_a_forgotten_elicitation_is_undecided(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elicitation_url, "MAX_ELICITATIONS", 4)
    for number in range(5):
        trace.server(elicit(number))
    trace.server(complete(0))
    verdict = trace.verdict("ELIC-014")
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.reason == "more than 4 elicitations; the oldest are forgotten"


def test_the_completion_of_a_remembered_elicitation_is_known_by_the_last_of_many(
    trace: Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elicitation_url, "MAX_ELICITATIONS", 4)
    for number in range(5):
        trace.server(elicit(number))
    trace.server(complete(4))
    assert trace.verdict("ELIC-014").outcome is Outcome.PASS


def sample(number: int, text: str) -> dict[str, Any]:
    use = {"type": "tool_use", "id": "c1", "name": "t", "input": {"text": text}}
    messages = [{"role": "assistant", "content": use}]
    params = {"messages": messages, "maxTokens": 1}
    return {"id": number, "method": "sampling/createMessage", "params": params}


@pytest.mark.parametrize(("limit", "findings"), [(4, 3), (1, 4)])
def test_a_turn_that_was_forgotten_is_judged_again(
    trace: Trace, monkeypatch: pytest.MonkeyPatch, limit: int, findings: int
) -> None:
    monkeypatch.setattr(sampling_tool_messages, "MAX_MESSAGES", limit)
    for number, text in enumerate(("a", "b", "c", "a")):
        trace.server(sample(number, text))
    assert len(trace.verdict("SAMP-009").findings) == findings


def sample_as_task(number: int) -> dict[str, Any]:
    params = {
        "messages": [],
        "maxTokens": 1,
        "tools": [{"name": "t", "inputSchema": {"type": "object"}}],
        "toolChoice": {"mode": "none"},
        "task": {},
    }
    return {"id": number, "method": "sampling/createMessage", "params": params}


def created_task(number: int) -> dict[str, Any]:
    task = {"taskId": f"t{number}", "status": "working", "ttl": None}
    return {"id": number, "result": {"task": task}}


@pytest.mark.parametrize(("asked", "outcome"), [("t0", Outcome.NOT_OBSERVED), ("t4", Outcome.PASS)])
def test_the_result_of_a_forgotten_task_belongs_to_no_request(
    trace: Trace, monkeypatch: pytest.MonkeyPatch, asked: str, outcome: Outcome
) -> None:
    monkeypatch.setattr(tasks, "MAX_TASKS", 4)
    for number in range(5):
        trace.server(sample_as_task(number))
        trace.client(created_task(number))
    trace.server({"id": 9, "method": "tasks/result", "params": {"taskId": asked}})
    text = {"type": "text", "text": "Hello"}
    trace.client({"id": 9, "result": {"role": "assistant", "content": text, "model": "m"}})
    assert trace.verdict("SAMP-011").outcome is outcome


def test_a_task_of_one_side_is_not_found_by_the_other(trace: Trace) -> None:
    trace.server(sample_as_task(1))
    trace.client(created_task(1))
    trace.client({"id": 2, "method": "tasks/result", "params": {"taskId": "t1"}})
    use = {"type": "tool_use", "id": "c1", "name": "t", "input": {}}
    trace.server({"id": 2, "result": {"role": "assistant", "content": use, "model": "m"}})
    assert trace.verdict("SAMP-011").outcome is Outcome.NOT_OBSERVED


def test_a_task_id_that_is_no_string_belongs_to_no_request(trace: Trace) -> None:
    trace.server({"id": 2, "method": "tasks/result", "params": {"taskId": ["t1"]}})
    trace.client({"id": 2, "result": {}})
    assert trace.verdict("SAMP-011").outcome is Outcome.NOT_OBSERVED


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("https://a.example/b?c#d", True),
        ("HTTP://user:pass@a.example:8080", True),
        ("https://[2001:db8::1]/", True),
        ("https://bücher.example/", True),
        ("mailto:a@b.example", True),
        ("https://:80/", False),
        ("https://user@", False),
        ("https:a.example", False),
        ("https://a.example/#b#c", False),
        ("https://a.example/b\\c", False),
        ("https://a.example/\n", False),
        ("https://a.example/\udc80", False),
        ("a.example", False),
    ],
)
def test_urls_are_read_strictly(text: str, valid: bool) -> None:
    assert is_url(text) is valid
