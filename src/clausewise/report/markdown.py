"""Markdown for a pull request, an issue or a job summary."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clausewise.core.results import Finding, RunResult, SubjectKind, Totals, Verdict
from clausewise.core.threshold import KnownFindings
from clausewise.core.vocabulary import SEVERITY_ORDER, Outcome
from clausewise.report.next_steps import next_step
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.subjects import (
    Titles,
    by_reason,
    grouped,
    registered_title,
    worst_first,
)
from clausewise.report.text import shortened, visible

_SPECIAL = re.compile(
    r"[\\`*_{}\[\]<>()#+!|~&]|:(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.", re.IGNORECASE
)
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
        *_open(result, Outcome.CRASHED, "Crashed: faults of Clausewise itself"),
        *_open(result, Outcome.INCONCLUSIVE, "Inconclusive"),
    ]
    if result.notes:
        lines += ["## Notes", "", *(f"- {_plain(note)}" for note in result.notes), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _facts(result: RunResult) -> Iterator[str]:
    yield f"- target: {_code(result.target.name)}"
    if result.target.server is not None:
        server = result.target.server
        yield f"- server: {_plain(server.name)} {_plain(server.version)}"
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
        yield f"| {_plain(trace.name)} | {trace.verdict} | {trace.events} |"
    yield ""


def _findings(result: RunResult, known: KnownFindings, titles: Titles) -> Iterator[str]:
    found = worst_first(verdict for verdict in result.verdicts if verdict.findings)
    for group, verdicts in grouped(found).items():
        yield f"## {group.heading}"
        yield ""
        for verdict in verdicts:
            yield from _broken(verdict, known, titles(verdict))


def _broken(verdict: Verdict, known: KnownFindings, title: str) -> Iterator[str]:
    yield f"### {verdict.outcome}: {_plain(verdict.id)} ({verdict.level})"
    yield ""
    if title:
        yield f"> {_plain(shortened(title, _SHOWN_CHARACTERS))}"
        yield ""
    for finding in verdict.findings:
        yield from _finding(finding, " (in the baseline)" if (verdict.id, finding) in known else "")
    yield ""


def _finding(finding: Finding, mark: str) -> Iterator[str]:
    yield f"- **{finding.party}**: {_plain(finding.message)}{mark}"
    if finding.seen:
        yield f"  - seen: {_code(shortened(finding.seen, _SHOWN_CHARACTERS))}"
    if finding.expected:
        yield f"  - expected: {_plain(shortened(finding.expected, _SHOWN_CHARACTERS))}"
    if finding.at is not None:
        yield f"  - at: {_code(f'{finding.at.trace} seq {finding.at.seq}')}"
    if finding.fix:
        yield f"  - fix: {_plain(finding.fix)}"
    if finding.url:
        yield f"  - [specification](<{_address(finding.url)}>)"
    if finding.reproduce:
        yield f"  - reproduce: {_code(finding.reproduce)}"


def _open(result: RunResult, outcome: Outcome, heading: str) -> Iterator[str]:
    reasons = by_reason(result.verdicts, outcome)
    if not reasons:
        return
    yield f"## {heading}"
    yield ""
    for reason, verdicts in reasons.items():
        step = next_step(reason) if outcome is Outcome.INCONCLUSIVE else None
        ids = ", ".join(_plain(verdict.id) for verdict in verdicts)
        yield f"- {_plain(reason)}: {ids}{f' ({_plain(step)})' if step else ''}"
    yield ""


def _plain(text: str) -> str:
    # An empty comment after @ keeps a forge from reading a mention; a backslash would not.
    return _SPECIAL.sub(r"\\\g<0>", visible(text)).replace("@", "@<!-- -->")


def _code(text: str) -> str:
    """A code span that `text` cannot leave, whatever runs of backticks it has."""
    shown = visible(text)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _address(url: str) -> str:
    return visible(url).replace("\\", "%5C").replace("<", "%3C").replace(">", "%3E")
