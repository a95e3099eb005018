"""The annotations for GitHub Actions."""

from __future__ import annotations

import dataclasses
import re
from urllib.parse import unquote

import pytest
from tests.report.conftest import finding, rule
from tests.report.hostile import HOSTILE, saying

from clausewise.core.results import Place, RunResult, Verdict
from clausewise.core.vocabulary import FailOn, Outcome
from clausewise.report.github import SHOWN_PER_LEVEL, render
from clausewise.report.options import ReportOptions

COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^:,]*,?)+)::(.*)")


def titles(verdict: Verdict) -> str:
    return f"The sentence of {verdict.id}"


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """The commands as the runner reads them."""
    found = []
    for line in text.splitlines():
        match = COMMAND.fullmatch(line)
        if match is None:
            assert not line.startswith("::")
            continue
        properties = dict(pair.split("=", 1) for pair in match[2].split(","))
        found.append((match[1], {k: unquote(v) for k, v in properties.items()}, unquote(match[3])))
    return found


def test_each_finding_is_an_annotation_worst_first(result: RunResult) -> None:
    text = render(result, titles=titles)
    found = commands(text)
    assert [(name, properties["title"]) for name, properties, _ in found] == [
        ("error", "clausewise crashed"),
        ("error", "ZZZ-BBB-002 MUST: The sentence of ZZZ-BBB-002"),
        ("warning", "ZZZ-BBB-001 SHOULD: The sentence of ZZZ-BBB-001"),
        ("notice", "ZZZ-001 MUST: The sentence of ZZZ-001"),
        ("notice", "clausewise: inconclusive"),
    ]
    lines = found[1][2].splitlines()
    assert lines[0] == "server: answered an unknown method with -32602"
    assert 'expected: "code": -32601' in lines
    assert "fix: Answer -32601." in lines
    assert lines[-1] == "spec: https://spec.example/page#anchor:~:text=First,last"
    assert text.splitlines()[-1] == "clausewise check: fail (1 at or above --fail-on must)"


def test_a_finding_in_a_trace_names_its_file(result: RunResult) -> None:
    placed = dataclasses.replace(finding("broken"), at=Place("a,b:c.jsonl", 12))
    unsaved = dataclasses.replace(finding("broken"), at=Place("check", 12))
    verdict = rule("ZZZ-A-1", Outcome.FAIL, placed, unsaved)
    first, second = commands(render(dataclasses.replace(result, verdicts=(verdict,))))
    assert first[1]["file"] == "a,b:c.jsonl"
    assert "file" not in second[1]
    assert "at: a,b:c.jsonl seq 12" in first[2]


def test_what_is_open_says_what_to_do(result: RunResult) -> None:
    *_, (_, _, message) = commands(render(result))
    assert message.startswith("HTTP 401: the server wants a token: ZZZ-AAA-002 (Give a token")


def test_findings_of_the_baseline_are_left_out(result: RunResult) -> None:
    known = frozenset((v.id, f) for v in result.verdicts for f in v.findings)
    text = render(result, ReportOptions(known=known))
    assert not [c for c in commands(text) if c[1]["title"].startswith("ZZZ")]
    assert text.splitlines()[-1].endswith("(nothing at or above --fail-on must)")


def test_no_more_are_given_than_are_shown_and_the_rest_is_counted(result: RunResult) -> None:
    many = [finding(f"broken {n}") for n in range(SHOWN_PER_LEVEL + 5)]
    few = [finding("bent", Outcome.WARN)]
    verdicts = (rule("ZZZ-A-1", Outcome.FAIL, *many), rule("ZZZ-A-2", Outcome.WARN, *few))
    text = render(dataclasses.replace(result, verdicts=verdicts))
    names = [name for name, _, _ in commands(text)]
    assert names == ["error"] * SHOWN_PER_LEVEL + ["warning"]
    assert "and 5 more errors; a report in another format has all" in text.splitlines()


def test_a_clean_run_is_one_line(result: RunResult) -> None:
    clean = dataclasses.replace(result, verdicts=(rule("ZZZ-A-1", Outcome.PASS),))
    options = ReportOptions(fail_on=FailOn.SHOULD)
    assert render(clean, options) == (
        "clausewise check: pass (nothing at or above --fail-on should)\n"
    )
    nothing = dataclasses.replace(result, verdicts=())
    assert render(nothing).startswith("clausewise check: nothing was judged ")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_begins_no_command_and_no_line(result: RunResult, text: str) -> None:
    def shape(said: str) -> list[tuple[str, list[str]]]:
        rendered = render(saying(result, said), titles=titles)
        assert not set("\r\x1b\u202e\u2028\ud800\x00") & set(rendered)
        found = commands(rendered)
        return [(name, sorted(set(properties) - {"file"})) for name, properties, _ in found]

    assert shape(text) == shape("harmless")


def test_annotations_are_bounded(result: RunResult) -> None:
    text = render(saying(result, "x" * 1_000_000))
    assert max(len(line) for line in text.splitlines()) < 10_000
