"""Markdown for a pull request, an issue or a job summary."""

from __future__ import annotations

from collections.abc import Iterator

from clausewise.core.results import Finding, RunResult, SubjectKind, Totals, Verdict
from clausewise.core.threshold import KnownFindings
from clausewise.core.vocabulary import SEVERITY_ORDER, Outcome
from clausewise.report.markdown_text import address, code, plain
from clausewise.report.next_steps import next_step
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.subjects import (
    Titles,
    by_reason,
    grouped,
    registered_title,
    worst_first,
)
from clausewise.report.text import shortened

_SHOWN_CHARACTERS = 600


def render(
    result: RunResult,
    options: ReportOptions = DEFAULTS,
    titles: Titles = registered_title,
) -> str:
    """The result as Markdown: what was judged, totals, findings, what stayed open.

    The target's text is escaped: it cannot add markup, links or mentions.
    """
    lines = [
        f"# clausewise {result.command}: {result.outcome if result.judged else 'nothing judged'}",
        "",
        *_facts(result),
        "",
        *_totals(result),
        "",
        *_traces(result),
        *_findings(result, options.known, titles),
        *_answers(result),
        *_open(result, Outcome.CRASHED, "Crashed: faults of Clausewise itself"),
        *_open(result, Outcome.INCONCLUSIVE, "Inconclusive"),
    ]
    if result.notes:
        lines += ["## Notes", "", *(f"- {plain(note)}" for note in result.notes), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _facts(result: RunResult) -> Iterator[str]:
    yield f"- target: {code(result.target.name)}"
    if result.target.server is not None:
        server = result.target.server
        yield f"- server: {plain(server.name)} {plain(server.version)}"
    if result.era is not None:
        yield f"- era: {result.era}"
    if result.revisions:
        yield f"- speaks: {', '.join(result.revisions)}"


def _totals(result: RunResult) -> Iterator[str]:
    totals = Totals.of(result.verdicts).counts
    outcomes = [o for o in SEVERITY_ORDER if any(o in numbers for numbers in totals.values())]
    if not outcomes:
        return
    yield f"| | {' | '.join(outcomes)} |"
    yield "|---|" + "---:|" * len(outcomes)
    for kind in SubjectKind:
        if kind in totals:
            cells = " | ".join(str(totals[kind].get(outcome, 0)) for outcome in outcomes)
            yield f"| {kind}s | {cells} |"


def _traces(result: RunResult) -> Iterator[str]:
    if not result.traces:
        return
    yield "## Traces"
    yield ""
    yield "| trace | verdict | events |"
    yield "|---|---|---:|"
    for trace in result.traces:
        yield f"| {plain(trace.name)} | {trace.verdict} | {trace.events} |"
    yield ""


def _answers(result: RunResult) -> Iterator[str]:
    other = [answer for answer in result.answers if answer.differences]
    if not result.answers:
        return
    yield "## Replay"
    yield ""
    yield f"{len(result.answers) - len(other)} of {len(result.answers)} answers are as recorded."
    yield ""
    for answer in other:
        yield f"- seq {answer.seq}, {plain(answer.title)}"
        yield from (f"  - {plain(difference)}" for difference in answer.differences)
    if other:
        yield ""


def _findings(result: RunResult, known: KnownFindings, titles: Titles) -> Iterator[str]:
    found = worst_first(verdict for verdict in result.verdicts if verdict.findings)
    for group, verdicts in grouped(found).items():
        yield f"## {group.heading}"
        yield ""
        for verdict in verdicts:
            yield from _broken(verdict, known, titles(verdict))


def _broken(verdict: Verdict, known: KnownFindings, title: str) -> Iterator[str]:
    yield f"### {verdict.outcome}: {plain(verdict.id)} ({verdict.level})"
    yield ""
    if title:
        yield f"> {plain(shortened(title, _SHOWN_CHARACTERS))}"
        yield ""
    for finding in verdict.findings:
        yield from _finding(finding, " (in the baseline)" if (verdict.id, finding) in known else "")
    yield ""


def _finding(finding: Finding, mark: str) -> Iterator[str]:
    yield f"- **{finding.party}**: {plain(finding.message)}{mark}"
    if finding.seen:
        yield f"  - seen: {code(shortened(finding.seen, _SHOWN_CHARACTERS))}"
    if finding.expected:
        yield f"  - expected: {plain(shortened(finding.expected, _SHOWN_CHARACTERS))}"
    if finding.at is not None:
        yield f"  - at: {code(f'{finding.at.trace} seq {finding.at.seq}')}"
    if finding.fix:
        yield f"  - fix: {plain(finding.fix)}"
    if finding.url:
        yield f"  - [specification](<{address(finding.url)}>)"
    if finding.reproduce:
        yield f"  - reproduce: {code(finding.reproduce)}"


def _open(result: RunResult, outcome: Outcome, heading: str) -> Iterator[str]:
    reasons = by_reason(result.verdicts, outcome)
    if not reasons:
        return
    yield f"## {heading}"
    yield ""
    for reason, verdicts in reasons.items():
        step = next_step(reason) if outcome is Outcome.INCONCLUSIVE else None
        ids = ", ".join(plain(verdict.id) for verdict in verdicts)
        yield f"- {plain(reason)}: {ids}{f' ({plain(step)})' if step else ''}"
    yield ""
