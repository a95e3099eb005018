"""The SARIF report."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.conftest import finding, rule
from tests.report.hostile import HOSTILE, saying
from tests.report.sarif_structure import LOG

from clausewise.core.results import Place, RunResult, SubjectKind, Target, Verdict
from clausewise.core.vocabulary import Outcome, Revision
from clausewise.report import sarif
from clausewise.report.options import DEFAULTS, ReportOptions

VALIDATOR = jsonschema_rs.Draft202012Validator(LOG, offline=True, validate_formats=True)


def titles(verdict: Verdict) -> str:
    return f"The sentence of {verdict.id}"


def run_of(result: RunResult, options: ReportOptions = DEFAULTS) -> dict[str, Any]:
    log = json.loads(sarif.render(result, options, titles))
    VALIDATOR.validate(log)
    (run,) = log["runs"]
    found: dict[str, Any] = run
    return found


def test_each_finding_is_a_result_of_its_rule(result: RunResult) -> None:
    run = run_of(result)
    rules = run["tool"]["driver"]["rules"]
    shown = [(rules[r["ruleIndex"]]["id"], r["ruleId"], r["level"]) for r in run["results"]]
    assert shown == [
        ("ZZZ-BBB-001", "ZZZ-BBB-001", "warning"),
        ("ZZZ-BBB-002", "ZZZ-BBB-002", "error"),
        ("ZZZ-001", "ZZZ-001", "note"),
    ]
    assert rules[1]["helpUri"] == "https://spec.example/page#anchor:~:text=First,last"
    assert rules[1]["shortDescription"] == {"text": "The sentence of ZZZ-BBB-002"}
    assert rules[1]["properties"] == {"kind": "rule", "revision": "2026-07-28", "level": "MUST"}
    assert rules[0]["defaultConfiguration"]["level"] == "warning"
    text = run["results"][1]["message"]["text"]
    assert text.startswith("server: answered an unknown method with -32602\nseen: {{")
    assert text.endswith("\nfix: Answer -32601.")


def test_a_rule_with_several_findings_stands_once(result: RunResult) -> None:
    twice = rule("ZZZ-BBB-001", Outcome.FAIL, finding("one"), finding("two"))
    run = run_of(dataclasses.replace(result, verdicts=(twice,)))
    assert len(run["tool"]["driver"]["rules"]) == 1
    assert [r["ruleIndex"] for r in run["results"]] == [0, 0]


def test_the_same_id_in_two_revisions_is_two_rules(result: RunResult) -> None:
    both = tuple(
        Verdict(
            SubjectKind.CLAUSE, "ZZZ-001", revision, rule("X-1", Outcome.FAIL).level, Outcome.FAIL,
            1, None, (finding("broken"),),
        )
        for revision in Revision
    )  # fmt: skip
    run = run_of(dataclasses.replace(result, verdicts=both))
    revisions = [r["properties"]["revision"] for r in run["tool"]["driver"]["rules"]]
    assert revisions == ["2025-11-25", "2026-07-28"]
    assert [r["ruleIndex"] for r in run["results"]] == [0, 1]


def test_a_finding_in_a_trace_is_located_by_file_and_event(result: RunResult) -> None:
    placed = dataclasses.replace(finding("broken"), at=Place("runs/näh 1%.jsonl", 12))
    run = run_of(dataclasses.replace(result, verdicts=(rule("ZZZ-A-1", Outcome.FAIL, placed),)))
    (location,) = run["results"][0]["locations"]
    uri = location["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "runs/n%C3%A4h%201%25.jsonl"
    assert location["logicalLocations"] == [
        {"name": "seq 12", "fullyQualifiedName": "runs/näh 1%.jsonl seq 12", "kind": "event"}
    ]


@pytest.mark.parametrize(
    ("target", "member", "said"),
    [
        ("http://127.0.0.1:3001/mcp", "physicalLocation", "http://127.0.0.1:3001/mcp"),
        ("python 'my server.py'", "message", "python 'my server.py'"),
    ],
)
def test_without_a_saved_trace_it_is_located_at_the_target(
    result: RunResult, target: str, member: str, said: str
) -> None:
    placed = dataclasses.replace(finding("broken"), at=Place("check", 12))
    changed = dataclasses.replace(
        result,
        target=Target("streamable-http", target),
        verdicts=(rule("ZZZ-A-1", Outcome.FAIL, placed),),
    )
    (location,) = run_of(changed)["results"][0]["locations"]
    assert said in json.dumps(location[member])
    assert location["logicalLocations"][0]["name"] == "seq 12"


def test_crashes_and_open_ends_are_notifications_not_findings(result: RunResult) -> None:
    (invocation,) = run_of(result)["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["startTimeUtc"] == "2026-08-01T12:00:00Z"
    told = [(n["level"], n["descriptor"]["id"]) for n in invocation["toolExecutionNotifications"]]
    assert told == [("warning", "ZZZ-AAA-002"), ("error", "ZZZ-CCC-001")]


def test_a_run_without_a_finding_is_an_empty_list_not_an_absent_one(result: RunResult) -> None:
    run = run_of(dataclasses.replace(result, verdicts=(rule("ZZZ-A-1", Outcome.PASS),)))
    assert run["results"] == []
    assert run["invocations"][0]["executionSuccessful"] is True


def test_findings_of_the_baseline_are_suppressed(result: RunResult) -> None:
    known = frozenset((v.id, f) for v in result.verdicts for f in v.findings if v.id == "ZZZ-001")
    run = run_of(result, ReportOptions(known=known))
    suppressed = [r["ruleId"] for r in run["results"] if "suppressions" in r]
    assert suppressed == ["ZZZ-001"]


def test_the_fingerprint_outlives_places_and_what_was_seen(result: RunResult) -> None:
    def fingerprint(message: str, seq: int, seen: str) -> str:
        at = dataclasses.replace(finding(message, seen=seen), at=Place("t.jsonl", seq))
        run = run_of(dataclasses.replace(result, verdicts=(rule("ZZZ-A-1", Outcome.FAIL, at),)))
        return str(run["results"][0]["partialFingerprints"]["clausewise/1"])

    assert fingerprint("broken", 1, "id 3") == fingerprint("broken", 2, "id 4")
    assert fingerprint("broken", 1, "id 3") != fingerprint("otherwise", 1, "id 3")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(result: RunResult, text: str) -> None:
    run = run_of(saying(result, text))
    (found,) = run["results"]
    message = found["message"]["text"]
    assert len(message) < 10_000
    assert not re.search(r"(?<!\\)\[|(?<!\\)\]", message)
    assert not re.search(r"(?<!\{)\{(\{\{)*(?!\{)", message.replace("{{", ""))
    assert not re.search("[\x00-\x09\x0b-\x1f\u202e\u2028\ud800]", message)
    assert "helpUri" not in run["tool"]["driver"]["rules"][0]


@given(st.text())
def test_any_text_makes_a_valid_log(text: str) -> None:
    verdict = rule("ZZZ-A-1", Outcome.FAIL, finding(text or "x", seen=text, expected=text))
    target = Target("stdio", text or "x")
    run_of(RunResult("check", target, None, (), (verdict,)))
