"""One page of HTML that needs nothing else: no script, no font, no fetch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from clausewise import __version__
from clausewise.core.results import Finding, RunResult, SubjectKind, Totals, Verdict
from clausewise.core.threshold import KnownFindings, counts
from clausewise.core.vocabulary import SEVERITY_ORDER, Outcome
from clausewise.report.next_steps import next_step
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.pages import template
from clausewise.report.subjects import Group, Titles, grouped, registered_title, worst_first
from clausewise.report.text import count, linkable, shortened, visible

_SHOWN_CHARACTERS = 2000
_SHOWN_FINDINGS = 50
_SHOWN_TRACES = 1000
_SHOWN_AT_FIRST = frozenset(
    {Outcome.FAIL, Outcome.CRASHED, Outcome.WARN, Outcome.INFO, Outcome.INCONCLUSIVE}
)


def render(
    result: RunResult,
    options: ReportOptions = DEFAULTS,
    titles: Titles = registered_title,
) -> str:
    """The result as a page: verdict and totals first, then every clause and rule by area.

    All text is escaped; boxes filter by outcome without a script.
    """
    return template("report.html").render(page=_page(result, options, titles)) + "\n"


@dataclass(frozen=True, slots=True)
class _Finding:
    severity: Outcome
    message: str
    known: bool
    texts: tuple[tuple[str, str], ...]
    fix: str
    link: str


@dataclass(frozen=True, slots=True)
class _Item:
    """A clause or rule with what came of it."""

    id: str
    anchor: str
    outcome: Outcome
    level: str
    occasions: str
    title: str
    reason: str
    step: str
    findings: tuple[_Finding, ...]
    more: str


@dataclass(frozen=True, slots=True)
class _Section:
    heading: str
    items: tuple[_Item, ...]

    @property
    def classes(self) -> str:
        """Hides the section with its items where they all have one outcome."""
        outcomes = {item.outcome for item in self.items}
        return f"is-{outcomes.pop()}" if len(outcomes) == 1 else ""


@dataclass(frozen=True, slots=True)
class _Trace:
    name: str
    verdict: Outcome
    events: int


@dataclass(frozen=True, slots=True)
class _Page:
    """What the template shows; every text is safe to show as text."""

    title: str
    verdict: str
    verdict_class: str
    counting: str
    fail_on: str
    facts: tuple[tuple[str, str], ...]
    outcomes: tuple[Outcome, ...]
    totals: tuple[tuple[SubjectKind, tuple[int, ...]], ...]
    notes: tuple[str, ...]
    traces: tuple[_Trace, ...]
    answers: tuple[str, ...]
    groups: tuple[_Section, ...]
    shown: frozenset[Outcome] = _SHOWN_AT_FIRST
    version: str = field(default=__version__)


def _page(result: RunResult, options: ReportOptions, titles: Titles) -> _Page:
    totals = Totals.of(result.verdicts).counts
    outcomes = tuple(o for o in SEVERITY_ORDER if any(o in numbers for numbers in totals.values()))
    counting = sum(counts(v, options.fail_on, options.known) for v in result.verdicts)
    return _Page(
        title=f"clausewise {result.command} · {_text(result.target.name)}",
        verdict=result.outcome if result.judged else "nothing judged",
        verdict_class=result.outcome if result.judged else Outcome.NOT_OBSERVED,
        counting=str(counting or "nothing"),
        fail_on=options.fail_on,
        facts=tuple(_facts(result)),
        outcomes=outcomes,
        totals=tuple(
            (kind, tuple(totals[kind].get(outcome, 0) for outcome in outcomes))
            for kind in SubjectKind
            if kind in totals
        ),
        notes=tuple(_text(note) for note in result.notes),
        traces=tuple(
            _Trace(_text(t.name), t.verdict, t.events) for t in result.traces[:_SHOWN_TRACES]
        ),
        answers=tuple(
            _text(f"seq {answer.seq} {answer.title}: {'; '.join(answer.differences)}")
            for answer in result.answers[:_SHOWN_TRACES]
            if answer.differences
        ),
        groups=tuple(
            _section(group, verdicts, options.known, titles)
            for group, verdicts in grouped(worst_first(result.verdicts)).items()
        ),
    )


def _facts(result: RunResult) -> Iterator[tuple[str, str]]:
    server = result.target.server
    if server is not None:
        yield "server", f"{_text(server.name)} {_text(server.version)}"
    if result.era is not None:
        yield "era", result.era
    if result.revisions:
        yield "speaks", " and ".join(result.revisions)
    if result.started is not None:
        yield "started", _text(result.started)
    if result.duration_s is not None:
        yield "took", f"{result.duration_s:g} s"
    if result.party is not None:
        yield "judged", f"the duties of the {result.party}"
    if result.answers:
        same = sum(not answer.differences for answer in result.answers)
        yield "answers", f"{same} of {len(result.answers)} as recorded"
    if len(result.traces) > _SHOWN_TRACES:
        yield "traces", f"{len(result.traces)}, of which {_SHOWN_TRACES} are shown"


def _section(
    group: Group, verdicts: list[Verdict], known: KnownFindings, titles: Titles
) -> _Section:
    return _Section(_text(group.heading), tuple(_item(v, known, titles(v)) for v in verdicts))


def _item(verdict: Verdict, known: KnownFindings, title: str) -> _Item:
    step = next_step(verdict.reason or "") if verdict.outcome is Outcome.INCONCLUSIVE else None
    more = len(verdict.findings) - _SHOWN_FINDINGS
    return _Item(
        id=_text(verdict.id),
        anchor=f"{verdict.kind}-{verdict.revision}-{_text(verdict.id)}",
        outcome=verdict.outcome,
        level=verdict.level,
        occasions=count(verdict.occasions, "occasion") if verdict.occasions else "",
        title=_text(title),
        reason=_text(verdict.reason or ""),
        step=step or "",
        findings=tuple(
            _finding(finding, (verdict.id, finding) in known)
            for finding in verdict.findings[:_SHOWN_FINDINGS]
        ),
        more=count(more, "more finding") if more > 0 else "",
    )


def _finding(finding: Finding, known: bool) -> _Finding:
    place = finding.at
    texts = {
        "seen": finding.seen,
        "expected": finding.expected,
        "at": f"{place.trace} seq {place.seq}" if place is not None else "",
        "reproduce": finding.reproduce or "",
    }
    return _Finding(
        severity=finding.severity,
        message=_text(f"{finding.party}: {finding.message}"),
        known=known,
        texts=tuple((label, _text(text)) for label, text in texts.items() if text),
        fix=_text(finding.fix),
        link=finding.url if linkable(finding.url) else "",
    )


def _text(text: str) -> str:
    return shortened(visible(text), _SHOWN_CHARACTERS)
