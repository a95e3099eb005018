"""The report for a terminal."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest

from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.vocabulary import FailOn, Outcome
from clausewise.report.human import render
from clausewise.report.options import Detail, ReportOptions


def titles(verdict: Verdict) -> str:
    return f"The sentence of {verdict.id}"


GOLDEN = r"""clausewise check · http://127.0.0.1:3001/mcp
server ever\x1b[31m 1.0 · dual era · speaks 2025-11-25 and 2026-07-28

ZZZ-BBB (rules of 2026-07-28)
  FAIL  ZZZ-BBB-002  MUST
        The sentence of ZZZ-BBB-002
    server: answered an unknown method with -32602
      seen       {"code":-32602,"message":"\x1b]0;owned\x07\u202e\ud800"}
      expected   "code": -32601
      at         probe seq 12
      fix        Answer -32601.
      spec       https://spec.example/page#anchor:~:text=First,last
      reproduce  curl -sS http://127.0.0.1:3001/mcp -d '{}'
  WARN  ZZZ-BBB-001  SHOULD
        The sentence of ZZZ-BBB-001
    server: the cache hint is missing
      at         probe seq 12
      fix        Send ttlMs.
      spec       https://spec.example/page#anchor:~:text=First,last

ZZZ (clauses of 2025-11-25)
  INFO  ZZZ-001  MUST
        The sentence of ZZZ-001
    server: says little
      at         probe seq 12
      fix        Do it right.
      spec       https://spec.example/page#anchor:~:text=First,last

Crashed: faults of Clausewise itself
  ValueError: <oops> & ]]>
    ZZZ-CCC-001

Inconclusive: something stood in the way
  HTTP 401: the server wants a token
    ZZZ-AAA-002
    next: Give a token: --bearer env:NAME, or another credential with -H 'NAME: env:NAME'.

Notes
  - the server spoke a\nnew dialect

5 rules: 1 pass, 1 fail, 1 crashed, 1 warn, 1 inconclusive
5 clauses: 0 pass, 0 fail, 1 info, 2 not-observed (1 planned), 1 not-applicable, 1 excluded
verdict: fail (1 at or above --fail-on must)
"""


def test_the_report_tells_findings_worst_first_then_what_stayed_open(result: RunResult) -> None:
    assert render(result, titles=titles) == GOLDEN


def test_no_control_character_of_the_target_reaches_the_terminal(result: RunResult) -> None:
    text = render(result, ReportOptions(detail=Detail.EVERYTHING), titles)
    assert not [c for c in text if (ord(c) < 0x20 and c != "\n") or c in "\x7f\u202e"]


def test_colour_adds_escape_sequences_and_nothing_else(result: RunResult) -> None:
    import re

    coloured = render(result, ReportOptions(colour=True), titles)
    assert "\x1b[1;31mFAIL" in coloured
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == render(result, titles=titles)


def test_an_ascii_terminal_gets_ascii(result: RunResult) -> None:
    hostile = dataclasses.replace(result, notes=("naïve … 漢",))
    text = render(hostile, ReportOptions(unicode=False), titles)
    assert text.isascii()
    assert "na\\xefve ... \\u6f22" in text


def test_quiet_gives_totals_and_verdict_only(result: RunResult) -> None:
    text = render(result, ReportOptions(detail=Detail.TOTALS), titles)
    assert text.splitlines() == GOLDEN.splitlines()[-3:]


def test_everything_lists_passes_and_reasons(result: RunResult) -> None:
    text = render(result, ReportOptions(detail=Detail.EVERYTHING), titles)
    assert "Passed\n  ZZZ-AAA-001  1 occasion\n" in text
    assert "Not observed\n  no request was seen\n    ZZZ-002\n" in text
    assert "Excluded (`clausewise explain ID` tells why)\n  ZZZ-004\n" in text


def test_many_findings_of_one_rule_are_cut_unless_everything_is_wanted(
    result: RunResult, finding: Callable[..., Finding], rule: Callable[..., Verdict]
) -> None:
    many = rule("ZZZ-BBB-002", Outcome.FAIL, *(finding(f"fault {n}") for n in range(5)))
    flood = dataclasses.replace(result, verdicts=(many,))
    short = render(flood, titles=titles)
    assert "fault 2" in short
    assert "fault 3" not in short
    assert "and 2 more findings (-v shows all)" in short
    assert short.count("fix  ") == 1
    assert "fault 4" in render(flood, ReportOptions(detail=Detail.EVERYTHING), titles)


def test_findings_in_the_baseline_are_counted_not_told(result: RunResult) -> None:
    known = frozenset((v.id, f) for v in result.verdicts for f in v.findings)
    text = render(result, ReportOptions(known=known), titles)
    assert "answered an unknown method" not in text
    assert "and 1 finding in the baseline" in text
    assert "verdict: fail (nothing at or above --fail-on must)" in text


@pytest.mark.parametrize(
    ("fail_on", "counted"), [(FailOn.SHOULD, "2"), (FailOn.INCONCLUSIVE, "3"), (FailOn.NEVER, "no")]
)
def test_the_verdict_line_counts_by_fail_on(
    result: RunResult, fail_on: FailOn, counted: str
) -> None:
    assert f"({counted}" in render(result, ReportOptions(fail_on=fail_on), titles)


def test_a_run_that_judged_nothing_says_so(result: RunResult) -> None:
    nothing = dataclasses.replace(
        result, verdicts=tuple(v for v in result.verdicts if not v.outcome.is_judgement)
    )
    text = render(nothing, titles=titles)
    assert text.endswith("\nverdict: nothing was judged\n")
    assert "Not applicable\n  tools are not declared\n    ZZZ-003\n" in text


@pytest.mark.parametrize("width", [1, 40, 72])
def test_prose_keeps_within_the_width_while_links_stay_whole(result: RunResult, width: int) -> None:
    lines = render(result, ReportOptions(width=width), titles).splitlines()
    prose = [line for line in lines if line.startswith("    next:")]
    assert prose
    assert all(len(line) <= max(width, 24) for line in prose)
    assert any("https://spec.example/page#anchor:~:text=First,last" in line for line in lines)
