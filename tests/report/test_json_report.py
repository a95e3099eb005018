"""`clausewise.result/1`: the JSON report, its schema, and reading it back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest

from clausewise.core.errors import UsageError
from clausewise.core.results import Finding, Place, RunResult, Target, Verdict
from clausewise.core.vocabulary import Outcome
from clausewise.report import jsonl
from clausewise.report.json import document, render, schema
from clausewise.report.stored import load


def valid(record: Any) -> bool:
    return jsonschema_rs.Draft202012Validator(schema(), offline=True).is_valid(record)


def test_the_schema_is_a_valid_schema() -> None:
    jsonschema_rs.meta.validate(schema())


def test_the_report_fits_the_shipped_schema(result: RunResult) -> None:
    jsonschema_rs.Draft202012Validator(schema(), offline=True).validate(json.loads(render(result)))


def test_the_report_has_the_members_of_version_1(result: RunResult) -> None:
    record = json.loads(render(result))
    assert list(record) == [
        "schema", "tool", "command", "target", "era", "revisions", "started", "duration_s",
        "notes", "results", "totals", "verdict",
    ]  # fmt: skip
    assert record["results"][3]["findings"][0] == {
        "check": "area.check",
        "party": "server",
        "severity": "fail",
        "message": "answered an unknown method with -32602",
        "seen": '{"code":-32602,"message":"\x1b]0;owned\x07\u202e\\ud800"}',
        "expected": '"code": -32601',
        "at": {"trace": "probe", "seq": 12},
        "url": "https://spec.example/page#anchor:~:text=First,last",
        "fix": "Answer -32601.",
        "reproduce": "curl -sS http://127.0.0.1:3001/mcp -d '{}'",
    }
    assert record["totals"]["clause"] == {
        "excluded": 1, "info": 1, "not-applicable": 1, "not-observed": 2,
    }  # fmt: skip
    assert record["verdict"] == "fail"


def test_a_judged_trace_has_no_clock_in_its_report(result: RunResult) -> None:
    judged = dataclasses.replace(result, command="validate", started=None, duration_s=None)
    assert not {"started", "duration_s"} & set(json.loads(render(judged)))


def test_equal_results_give_equal_bytes(result: RunResult) -> None:
    assert render(dataclasses.replace(result)).encode() == render(result).encode()


def test_a_finding_at_a_huge_seq_keeps_every_digit(
    result: RunResult, finding: Callable[..., Finding], rule: Callable[..., Verdict]
) -> None:
    far = dataclasses.replace(finding("x"), at=Place("a.jsonl", 10**30))
    record = document(
        dataclasses.replace(result, verdicts=(rule("ZZZ-AAA-001", Outcome.FAIL, far),))
    )
    assert valid(record)
    assert f"{10**30}" in json.dumps(record)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("results", 0, "outcome"), "fail"),
        (("results", 3, "outcome"), "pass"),
        (("results", 0, "level"), "PERHAPS"),
        (("results", 0, "id"), "\x1b[31m"),
        (("command",), "check\n"),
        (("started",), "yesterday"),
        (("results", 3, "findings", 0, "party"), "proxy"),
        (("results", 3, "findings", 0, "severity"), "pass"),
        (("results", 0, "kind"), "check"),
        (("totals", "rule", "pass"), 0),
        (("schema",), "clausewise.result/2"),
        (("notes",), []),
        (("surplus",), 1),
    ],
)
def test_the_schema_refuses_what_is_no_result(
    result: RunResult, path: tuple[str | int, ...], value: object
) -> None:
    record = json.loads(render(result))
    assert valid(record)
    place: Any = record
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not valid(record)


def test_a_stored_result_is_read_back_and_renders_the_same_bytes(result: RunResult) -> None:
    stored = render(result)
    assert render(load(stored.encode(), "result.json")) == stored


def test_a_result_without_server_era_and_places_is_read_back(
    result: RunResult, finding: Callable[..., Finding], clause: Callable[..., Verdict]
) -> None:
    bare = RunResult(
        command="validate",
        target=Target("trace", "a.jsonl"),
        era=None,
        revisions=(),
        verdicts=(
            clause("ZZZ-001", Outcome.WARN, dataclasses.replace(finding("m"), at=None)),
            clause("ZZZ-002", Outcome.PASS),
        ),
    )
    broken = dataclasses.replace(bare.verdicts[0].findings[0], severity=Outcome.WARN)
    bare = dataclasses.replace(
        bare,
        verdicts=(dataclasses.replace(bare.verdicts[0], findings=(broken,)), bare.verdicts[1]),
    )
    assert load(render(bare).encode(), "result.json") == bare


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"", "r.json is no JSON"),
        (b"\xff", "not UTF-8"),
        (b"[]", "no clausewise.result/1"),
        (b'{"schema": "clausewise.rules/1"}', "its schema is 'clausewise.rules/1'"),
        (b'{"schema": "clausewise.result/1"}', "no valid clausewise.result/1 at the top"),
    ],
)
def test_what_is_no_stored_result_is_a_usage_error(text: bytes, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        load(text, "r.json")


def test_an_invalid_member_is_named_with_its_place(result: RunResult) -> None:
    record = json.loads(render(result))
    record["results"][1]["occasions"] = -1
    with pytest.raises(UsageError, match="at results/1/occasions"):
        load(json.dumps(record).encode(), "r.json")


def test_json_lines_hold_one_verdict_each(result: RunResult) -> None:
    lines = jsonl.render(result).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(render(result))["results"]
