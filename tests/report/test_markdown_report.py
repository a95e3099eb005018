"""The Markdown report."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.vocabulary import Outcome
from clausewise.report.markdown import render
from clausewise.report.options import ReportOptions


def titles(verdict: Verdict) -> str:
    return f"The sentence of {verdict.id}"


def test_the_report_has_totals_findings_and_what_stayed_open(result: RunResult) -> None:
    text = render(result, titles=titles)
    assert text.startswith("# clausewise check: fail\n\n- target: `http://127.0.0.1:3001/mcp`\n")
    assert (
        "| | fail | crashed | warn | inconclusive | info | pass | not-observed "
        "| not-applicable | excluded |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        "| rules | 1 | 1 | 1 | 1 | 0 | 1 | 0 | 0 | 0 |\n"
        "| clauses | 0 | 0 | 0 | 0 | 1 | 0 | 2 | 1 | 1 |\n"
    ) in text
    assert "### fail: ZZZ-BBB-002 (MUST)\n\n> The sentence of ZZZ-BBB-002\n" in text
    assert "  - reproduce: `curl -sS http://127.0.0.1:3001/mcp -d '{}'`\n" in text
    assert "[specification](<https://spec.example/page#anchor:~:text=First,last>)" in text
    assert "- HTTP 401: the server wants a token: ZZZ-AAA-002 (Give a token" in text


def test_findings_in_the_baseline_are_marked(result: RunResult) -> None:
    known = frozenset((v.id, f) for v in result.verdicts for f in v.findings if v.id == "ZZZ-001")
    text = render(result, ReportOptions(known=known), titles)
    assert "says little (in the baseline)\n" in text
    assert text.count("(in the baseline)") == 1


def test_a_run_that_judged_nothing_says_so_in_the_heading(result: RunResult) -> None:
    nothing = dataclasses.replace(result, verdicts=())
    assert render(nothing, titles=titles).startswith("# clausewise check: nothing judged\n")


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        "![x](http://evil.example/p.png)",
        "[x](javascript:alert(1))",
        "**bold** _i_ ~~s~~",
        "line\n# heading\n- item",
        "a | b | c",
        "http://evil.example www.evil.example",
        "``` fence `` `",
        "&lt;b&gt;",
        "\\`code\\`",
    ],
)
def test_the_targets_text_adds_no_markup(
    result: RunResult, hostile: str, finding: Callable[..., Finding], rule: Callable[..., Verdict]
) -> None:
    def structure(text: str) -> list[str]:
        html = MarkdownIt("gfm-like", {"linkify": False}).render(
            render(
                dataclasses.replace(
                    result,
                    verdicts=(
                        rule("ZZZ-BBB-1", Outcome.FAIL, finding(text, seen=text, expected=text)),
                        rule("ZZZ-BBB-2", Outcome.INCONCLUSIVE, reason=text),
                    ),
                    notes=(text,),
                ),
                titles=titles,
            )
        )
        import re

        return re.findall(r"<[/a-z0-9]+", html)

    assert structure(hostile) == structure("harmless")


def test_the_target_cannot_mention_anyone_or_make_a_bare_link(result: RunResult) -> None:
    noted = dataclasses.replace(result, notes=("@octocat http://a.example www.a.example",))
    text = render(noted, titles=titles)
    assert "@octocat" not in text
    assert "http://a.example" not in text
    assert "www.a" not in text
