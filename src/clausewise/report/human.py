"""The report for a person at a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator

from clausewise.core.results import (
    Finding,
    RunResult,
    SubjectKind,
    Verdict,
    worst,
)
from clausewise.core.threshold import counts
from clausewise.core.vocabulary import SEVERITY_ORDER, Outcome
from clausewise.report.next_steps import next_step
from clausewise.report.options import DEFAULTS, Detail, ReportOptions
from clausewise.report.style import Style
from clausewise.report.subjects import (
    Titles,
    by_reason,
    grouped,
    registered_title,
    worst_first,
)
from clausewise.report.text import count, in_ascii, shortened, visible

_SHOWN_FINDINGS = 3
_SHOWN_TRACES = 20
_SHOWN_CHARACTERS = 600
_LABEL_COLUMNS = 11
_ALWAYS_COUNTED = (Outcome.PASS, Outcome.FAIL)
_LISTED_REASONS = (Outcome.NOT_OBSERVED, Outcome.NOT_APPLICABLE)


def render(
    result: RunResult,
    options: ReportOptions = DEFAULTS,
    titles: Titles = registered_title,
) -> str:
    """The result as text: findings by area and worst first, what stayed open, totals, verdict.

    The target's own text is escaped, so no byte of it can act on the terminal.
    """
    page = _Page(result, options, titles)
    text = "\n".join(page.lines()) + "\n"
    return text if options.unicode else in_ascii(text)


class _Page:
    """One rendering: the result with the choices that every part needs."""

    def __init__(self, result: RunResult, options: ReportOptions, titles: Titles) -> None:
        self._result = result
        self._options = options
        self._titles = titles
        self._style = Style(options.colour)

    def lines(self) -> Iterator[str]:
        """Every line of the report."""
        if self._options.detail > Detail.TOTALS:
            yield from self._head()
            yield from self._findings()
            yield from self._open()
            yield from self._notes()
            yield from self._traces()
            yield from self._answers()
        if self._options.detail is Detail.EVERYTHING or not self._result.judged:
            yield from self._rest()
        yield from self._totals()
        yield self._verdict()

    def _head(self) -> Iterator[str]:
        result, target = self._result, self._result.target
        title = f"clausewise {result.command} · {visible(target.name)}"
        yield self._style.paint(title, "heading")
        facts = []
        if target.server is not None:
            facts.append(f"server {visible(target.server.name)} {visible(target.server.version)}")
        if result.era is not None:
            facts.append(f"{result.era} era")
        if result.revisions:
            facts.append("speaks " + " and ".join(result.revisions))
        if facts:
            yield " · ".join(facts)
        yield ""

    def _findings(self) -> Iterator[str]:
        found = worst_first(v for v in self._result.verdicts if v.findings)
        for group, verdicts in grouped(found).items():
            yield self._style.paint(group.heading, "heading")
            for verdict in verdicts:
                yield from self._broken(verdict)
            yield ""

    def _broken(self, verdict: Verdict) -> Iterator[str]:
        outcome = verdict.outcome
        if outcome is Outcome.PASS:
            outcome = worst(finding.severity for finding in verdict.findings)
        label = self._style.paint(outcome.upper().ljust(5), outcome)
        yield f"  {label} {self._style.paint(verdict.id, 'heading')}  {verdict.level}"
        title = shortened(visible(self._titles(verdict)), _SHOWN_CHARACTERS)
        yield from self._wrapped(title, "        ")
        everything = self._options.detail is Detail.EVERYTHING
        known = self._options.known
        fresh = [f for f in verdict.findings if everything or (verdict.id, f) not in known]
        shown = fresh if everything else fresh[:_SHOWN_FINDINGS]
        before: Finding | None = None
        for finding in shown:
            yield from self._finding(finding, before)
            before = finding
        if len(fresh) > len(shown):
            yield f"    and {count(len(fresh) - len(shown), 'more finding')} (-v shows all)"
        if len(verdict.findings) > len(fresh):
            yield f"    and {count(len(verdict.findings) - len(fresh), 'finding')} in the baseline"
        if verdict.reason and verdict.outcome.is_judgement:
            yield from self._wrapped(f"note: {visible(verdict.reason)}", "    ")

    def _finding(self, finding: Finding, before: Finding | None) -> Iterator[str]:
        yield from self._wrapped(f"{finding.party}: {visible(finding.message)}", "    ")
        yield from self._field("seen", finding.seen)
        yield from self._field("expected", finding.expected)
        if finding.at is not None:
            yield from self._field("at", f"{finding.at.trace} seq {finding.at.seq}")
        if before is None or before.fix != finding.fix:
            yield from self._field("fix", finding.fix)
        if before is None or before.url != finding.url:
            yield from self._unwrapped("spec", self._style.paint(visible(finding.url), "link"))
        yield from self._unwrapped("reproduce", visible(finding.reproduce or ""))

    def _field(self, label: str, value: str) -> Iterator[str]:
        if not value:
            return
        text = shortened(visible(value), _SHOWN_CHARACTERS)
        indent = " " * (6 + _LABEL_COLUMNS)
        first, *others = list(self._wrapped(text, indent)) or [indent]
        yield from self._unwrapped(label, first[len(indent) :])
        yield from others

    def _unwrapped(self, label: str, text: str) -> Iterator[str]:
        if text:
            yield f"      {self._style.paint(label.ljust(_LABEL_COLUMNS), 'label')}{text}"

    def _wrapped(self, text: str, indent: str) -> list[str]:
        return textwrap.wrap(
            text,
            max(self._options.width, len(indent) + 20),
            initial_indent=indent,
            subsequent_indent=indent,
            break_on_hyphens=False,
        )

    def _open(self) -> Iterator[str]:
        crashed = by_reason(self._result.verdicts, Outcome.CRASHED)
        if crashed:
            yield self._style.paint("Crashed: faults of Clausewise itself", Outcome.CRASHED)
            yield from self._reasons(crashed.items())
        blocked = by_reason(self._result.verdicts, Outcome.INCONCLUSIVE)
        if blocked:
            yield self._style.paint("Inconclusive: something stood in the way", "heading")
            yield from self._reasons(blocked.items())

    def _reasons(self, reasons: Iterable[tuple[str, list[Verdict]]]) -> Iterator[str]:
        for reason, verdicts in reasons:
            yield from self._wrapped(visible(reason), "  ")
            yield from self._wrapped(", ".join(v.id for v in verdicts), "    ")
            step = next_step(reason) if verdicts[0].outcome is Outcome.INCONCLUSIVE else None
            if step is not None:
                yield from self._wrapped(f"next: {step}", "    ")
        yield ""

    def _rest(self) -> Iterator[str]:
        passed = [v for v in self._result.verdicts if v.outcome is Outcome.PASS]
        if passed:
            yield self._style.paint("Passed", Outcome.PASS)
            for verdict in passed:
                yield f"  {verdict.id}  {count(verdict.occasions, 'occasion')}"
            yield ""
        for outcome in _LISTED_REASONS:
            reasons = by_reason(self._result.verdicts, outcome)
            if reasons:
                yield self._style.paint(outcome.replace("-", " ").capitalize(), "heading")
                yield from self._reasons(reasons.items())
        excluded = [v.id for v in self._result.verdicts if v.outcome is Outcome.EXCLUDED]
        if excluded and self._result.judged:
            yield self._style.paint("Excluded (`clausewise explain ID` tells why)", "heading")
            yield from self._wrapped(", ".join(excluded), "  ")
            yield ""

    def _notes(self) -> Iterator[str]:
        if not self._result.notes:
            return
        yield self._style.paint("Notes", "heading")
        for note in self._result.notes:
            first, *others = self._wrapped(visible(note), "    ") or [""]
            yield f"  - {first.strip()}"
            yield from others
        yield ""

    def _traces(self) -> Iterator[str]:
        """A table of the traces; where they are many, without those that pass."""
        traces = self._result.traces
        if not traces:
            return
        everything = self._options.detail is Detail.EVERYTHING or len(traces) <= _SHOWN_TRACES
        shown = [t for t in traces if everything or t.verdict is not Outcome.PASS]
        yield self._style.paint("Traces", "heading")
        width = max((len(trace.verdict) for trace in shown), default=0)
        digits = max((len(str(trace.events)) for trace in shown), default=0)
        for trace in shown:
            verdict = self._style.paint(trace.verdict.ljust(width), trace.verdict)
            yield f"  {verdict}  {trace.events:>{digits}} events  {visible(trace.name)}"
        if len(traces) > len(shown):
            yield f"  and {len(traces) - len(shown)} more pass (-v shows all)"
        yield ""

    def _answers(self) -> Iterator[str]:
        """How the answers of a replay differ from the recorded ones."""
        answers = self._result.answers
        if not answers:
            return
        other = [answer for answer in answers if answer.differences]
        same = f"{len(answers) - len(other)} of {count(len(answers), 'answer')} as recorded"
        yield self._style.paint(f"Replay: {same}", "heading")
        for answer in other:
            yield f"  seq {answer.seq}  {visible(answer.title)}"
            for difference in answer.differences:
                yield from self._wrapped(visible(difference), "      ")
        yield ""

    def _totals(self) -> Iterator[str]:
        for kind in SubjectKind:
            verdicts = [v for v in self._result.verdicts if v.kind is kind]
            if not verdicts:
                continue
            numbers = Counter(verdict.outcome for verdict in verdicts)
            planned = sum(verdict.is_planned for verdict in verdicts)
            others = [o for o in SEVERITY_ORDER if numbers[o] and o not in _ALWAYS_COUNTED]
            tallies = [self._tally(o, numbers[o], planned) for o in (*_ALWAYS_COUNTED, *others)]
            yield f"{count(len(verdicts), kind)}: {', '.join(tallies)}"

    def _tally(self, outcome: Outcome, number: int, planned: int) -> str:
        tally = self._style.paint(f"{number} {outcome}", outcome)
        if outcome is Outcome.NOT_OBSERVED and planned:
            return f"{tally} ({planned} planned)"
        return tally

    def _verdict(self) -> str:
        result, options = self._result, self._options
        if not result.judged:
            return self._style.paint("verdict: nothing was judged", "heading")
        counting = sum(counts(v, options.fail_on, options.known) for v in result.verdicts)
        outcome = self._style.paint(f"verdict: {result.outcome}", result.outcome)
        return f"{outcome} ({counting or 'nothing'} at or above --fail-on {options.fail_on})"
