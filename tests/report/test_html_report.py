"""The page of HTML."""

from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import pytest
from tests.report.conftest import finding, rule
from tests.report.hostile import HOSTILE, saying

from clausewise.core.results import ReplayedAnswer, RunResult, TraceSummary, Verdict
from clausewise.core.vocabulary import Outcome, Party
from clausewise.report.html import render
from clausewise.report.options import ReportOptions

VOID = frozenset({"meta", "input", "br", "img", "link"})
FETCHING = frozenset({"src", "srcset", "data", "action", "formaction", "poster", "background"})


def titles(verdict: Verdict) -> str:
    return f"The sentence of {verdict.id}"


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text; every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self.text += " "

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.text += data

    def every(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


def page(result: RunResult, options: ReportOptions | None = None) -> Page:
    return Page(render(result, options or ReportOptions(), titles))


def test_the_verdict_and_the_totals_come_first(result: RunResult) -> None:
    text = " ".join(page(result).text.split())
    body = text.partition("clausewise check · http://127.0.0.1:3001/mcp ")[2]
    assert body.startswith(
        "clausewise check · http://127.0.0.1:3001/mcp fail 1 at or above --fail-on must "
        "server ever\\x1b[31m 1.0 era dual speaks 2025-11-25 and 2026-07-28 "
        "started 2026-08-01T12:00:00Z took 1.25 s "
        "fail crashed warn inconclusive info pass not-observed not-applicable excluded "
        "rules 1 1 1 1 0 1 0 0 0 clauses 0 0 0 0 1 0 2 1 1 "
    )
    assert text.index("rules 1 1 1 1") < text.index("answered an unknown method")


def test_a_finding_has_all_that_helps(result: RunResult) -> None:
    text = page(result).text
    for said in (
        "The sentence of ZZZ-BBB-002",
        "server: answered an unknown method with -32602",
        "\\x1b]0;owned\\x07\\u202e\\ud800",
        "probe seq 12",
        "curl -sS http://127.0.0.1:3001/mcp -d '{}'",
        "Answer -32601.",
        "HTTP 401: the server wants a token",
        "next: Give a token",
        "the server spoke a\\nnew dialect",
    ):
        assert said in text
    links = [attributes["href"] for attributes in page(result).every("a")]
    assert set(links) == {"https://spec.example/page#anchor:~:text=First,last"}


def test_boxes_filter_by_outcome_and_hide_what_needs_no_attention_at_first(
    result: RunResult,
) -> None:
    html = render(result, titles=titles)
    boxes = {a["id"]: "checked" in a for a in Page(html).every("input")}
    outcomes = {str(verdict.outcome) for verdict in result.verdicts}
    assert set(boxes) == {f"show-{outcome}" for outcome in outcomes}
    shown = {name.removeprefix("show-") for name, on in boxes.items() if name and on}
    assert shown == {"fail", "crashed", "warn", "info", "inconclusive"}
    classes = {str(a["class"]) for a in Page(html).every("details")}
    assert classes == {f"is-{outcome}" for outcome in outcomes}
    for outcome in outcomes:
        rule_ = f"body:has(#show-{outcome}:not(:checked)) .is-{outcome} {{ display: none }}"
        assert rule_ in html


def test_every_clause_and_rule_stands_once_under_an_address_of_its_own(result: RunResult) -> None:
    anchors = [a["id"] for a in page(result).every("details")]
    assert len(set(anchors)) == len(anchors) == len(result.verdicts)
    assert "rule-2026-07-28-ZZZ-BBB-002" in anchors


def test_the_page_fetches_nothing_and_runs_nothing(result: RunResult) -> None:
    shown = page(result)
    tags = {tag for tag, _ in shown.elements}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "base", "video"})
    for _, attributes in shown.elements:
        assert attributes.keys().isdisjoint(FETCHING)
        assert not [name for name in attributes if name.startswith("on")]
    policy = next(a["content"] for a in shown.every("meta") if "http-equiv" in a)
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"
    style = render(result).partition("<style>")[2].partition("</style>")[0]
    assert not re.search(r"url\(|@import|expression\(", style)


def test_dark_and_light_are_both_there(result: RunResult) -> None:
    html = render(result)
    assert "@media (prefers-color-scheme: dark)" in html
    assert 'name="color-scheme" content="light dark"' in html
    light, dark = (part.partition("}")[0] for part in html.split(":root {")[1:3])
    names = [set(re.findall(r"--[a-z]+", part)) for part in (light, dark)]
    assert names[0] == names[1]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_markup(result: RunResult, text: str) -> None:
    def shape(said: str) -> list[tuple[str, list[str], str | None]]:
        shown = page(saying(result, said))
        return [
            (tag, sorted(attributes), attributes.get("href")) for tag, attributes in shown.elements
        ]

    assert shape(text) == shape("harmless")
    assert not set("\x1b\u202e\u2028\ud800\x00") & set(render(saying(result, text)))


def test_hostile_text_is_shown_as_what_it_is(result: RunResult) -> None:
    shown = page(saying(result, HOSTILE[0]))
    assert shown.text.count("server: <script>alert(1)</script>") == 1


def test_only_web_addresses_become_links(result: RunResult) -> None:
    for url, linked in (
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("https://spec.example/a#b", True),
    ):
        found = dataclasses.replace(finding("broken"), url=url)
        changed = dataclasses.replace(result, verdicts=(rule("ZZZ-A-1", Outcome.FAIL, found),))
        assert bool(page(changed).every("a")) is linked


def test_the_page_is_bounded(result: RunResult) -> None:
    assert len(render(saying(result, "x" * 1_000_000))) < 100_000
    many = rule("ZZZ-A-1", Outcome.FAIL, *(finding(f"broken {n}") for n in range(1000)))
    shown = page(dataclasses.replace(result, verdicts=(many,)))
    assert shown.text.count("server: broken") == 50
    assert "and 950 more findings" in shown.text


def test_findings_of_the_baseline_are_marked(result: RunResult) -> None:
    known = frozenset((v.id, f) for v in result.verdicts for f in v.findings if v.id == "ZZZ-001")
    shown = page(result, ReportOptions(known=known))
    assert shown.text.count("(in the baseline)") == 1


def test_several_traces_have_a_table(result: RunResult) -> None:
    traces = (TraceSummary("a<b>.jsonl", Outcome.FAIL, 7), TraceSummary("c", Outcome.PASS, 8))
    text = " ".join(page(dataclasses.replace(result, traces=traces)).text.split())
    assert "trace verdict events a<b>.jsonl fail 7 c pass 8" in text


def test_the_answers_of_a_replay_that_differ_are_listed(result: RunResult) -> None:
    same = ReplayedAnswer(3, "ping", ())
    other = ReplayedAnswer(5, "tools/list", ("<b>one</b> tool more",))
    replayed = dataclasses.replace(result, answers=(same, other), party=Party.SERVER)
    text = " ".join(page(replayed).text.split())
    assert "judged the duties of the server answers 1 of 2 as recorded" in text
    assert "seq 5 tools/list: <b>one</b> tool more" in text
    assert "ping:" not in text


def test_a_run_that_judged_nothing_says_so(result: RunResult) -> None:
    shown = page(dataclasses.replace(result, verdicts=(), notes=()))
    assert "nothing judged" in shown.text
    assert not shown.every("form")
