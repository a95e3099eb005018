"""The JUnit XML report."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from xml.etree import ElementTree as ET

import pytest

from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.vocabulary import FailOn, Outcome
from clausewise.report.junit import render
from clausewise.report.options import ReportOptions


def titles(verdict: Verdict) -> str:
    return f'The <sentence> "of" {verdict.id}\x00'


def cases(text: str) -> dict[str, ET.Element]:
    root = ET.fromstring(text.encode("utf-8"))
    return {case.attrib["name"].split()[0]: case for case in root.iter("testcase")}


def children(case: ET.Element) -> list[str]:
    return [child.tag for child in case]


def test_each_clause_and_rule_is_one_case(result: RunResult) -> None:
    assert list(cases(render(result, titles=titles))) == [v.id for v in result.verdicts]


def test_outcomes_become_failure_error_skipped_or_output(result: RunResult) -> None:
    found = {name: children(case) for name, case in cases(render(result, titles=titles)).items()}
    assert found == {
        "ZZZ-AAA-001": [],
        "ZZZ-AAA-002": ["skipped"],
        "ZZZ-BBB-001": ["system-out"],
        "ZZZ-BBB-002": ["failure"],
        "ZZZ-CCC-001": ["error"],
        "ZZZ-001": ["system-out"],
        "ZZZ-002": ["skipped"],
        "ZZZ-005": ["skipped"],
        "ZZZ-003": ["skipped"],
        "ZZZ-004": ["skipped"],
    }


def test_skipped_cases_tell_the_reason(result: RunResult) -> None:
    skipped = cases(render(result, titles=titles))["ZZZ-002"].find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == "not-observed: no request was seen"


def test_suites_count_their_cases(result: RunResult) -> None:
    root = ET.fromstring(render(result, titles=titles).encode())
    numbers = [
        tuple(suite.attrib[name] for name in ("tests", "failures", "errors", "skipped"))
        for suite in (root, *root.iter("testsuite"))
    ]
    assert numbers == [
        ("10", "1", "1", "5"),
        ("2", "0", "0", "1"),
        ("2", "1", "0", "0"),
        ("1", "0", "1", "0"),
        ("5", "0", "0", "4"),
    ]


def test_the_threshold_decides_what_is_a_failure(result: RunResult) -> None:
    text = render(result, ReportOptions(fail_on=FailOn.INCONCLUSIVE), titles)
    found = cases(text)
    assert children(found["ZZZ-BBB-001"]) == ["failure"]
    assert children(found["ZZZ-AAA-002"]) == ["failure"]
    assert children(found["ZZZ-002"]) == ["skipped"]


def test_a_known_finding_is_no_failure(result: RunResult) -> None:
    known = frozenset((v.id, f) for v in result.verdicts for f in v.findings)
    text = render(result, ReportOptions(known=known), titles)
    assert children(cases(text)["ZZZ-BBB-002"]) == ["system-out"]


@pytest.mark.parametrize("hostile", ["\x00\x1b", "\ud800", "\uffff", "]]>", "<!--", "&x;", "'\""])
def test_any_text_of_the_target_gives_well_formed_xml(
    result: RunResult, hostile: str, finding: Callable[..., Finding], rule: Callable[..., Verdict]
) -> None:
    said = finding(f"m{hostile}", seen=hostile, check=f"c{hostile}")
    nasty = dataclasses.replace(
        result,
        verdicts=(
            rule(f"ZZZ-{hostile}-1", Outcome.FAIL, said),
            rule("ZZZ-X-2", Outcome.INCONCLUSIVE, reason=hostile),
            rule("ZZZ-X-3", Outcome.CRASHED, reason=hostile),
        ),
        target=dataclasses.replace(result.target, name=hostile),
    )
    root = ET.fromstring(render(nasty, titles=titles).encode("utf-8"))
    assert len(list(root.iter("testcase"))) == 3
