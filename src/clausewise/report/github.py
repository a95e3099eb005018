"""Workflow commands of GitHub Actions: an annotation for each finding, within bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.threshold import counts
from clausewise.core.vocabulary import Outcome
from clausewise.report.next_steps import next_step
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.subjects import Titles, by_reason, registered_title, worst_first
from clausewise.report.text import count, shortened, visible

SHOWN_PER_LEVEL = 10
"""The annotations of one level that GitHub keeps of a step; it drops what comes later."""

_COMMANDS = {Outcome.FAIL: "error", Outcome.WARN: "warning", Outcome.INFO: "notice"}
_SHOWN_CHARACTERS = 300
_SHOWN_ADDRESS = 1000
_SHOWN_IDS = 20


def render(
    result: RunResult,
    options: ReportOptions = DEFAULTS,
    titles: Titles = registered_title,
) -> str:
    """Annotations: a finding is an error, a warning or a notice; a crash is an error.

    Findings of the baseline are left out. Text of the target cannot begin another command.
    """
    lines = list(_annotations(result, options, titles))
    counting = sum(counts(v, options.fail_on, options.known) for v in result.verdicts)
    verdict = result.outcome if result.judged else "nothing was judged"
    lines.append(
        f"clausewise {result.command}: {verdict} "
        f"({counting or 'nothing'} at or above --fail-on {options.fail_on})"
    )
    return "\n".join(lines) + "\n"


def _annotations(result: RunResult, options: ReportOptions, titles: Titles) -> Iterator[str]:
    for reason, verdicts in by_reason(result.verdicts, Outcome.CRASHED).items():
        yield _command("error", "clausewise crashed", f"{_short(reason)}\n{_ids(verdicts)}")
    shown: Counter[Outcome] = Counter()
    for verdict in worst_first(v for v in result.verdicts if v.findings):
        for finding in verdict.findings:
            if (verdict.id, finding) in options.known:
                continue
            shown[finding.severity] += 1
            if shown[finding.severity] <= SHOWN_PER_LEVEL:
                yield _annotation(verdict, finding, titles(verdict))
    for severity, command in _COMMANDS.items():
        if shown[severity] > SHOWN_PER_LEVEL:
            more = count(shown[severity] - SHOWN_PER_LEVEL, f"more {command}")
            yield f"and {more}; a report in another format has all"
    yield from _inconclusive(result)


def _annotation(verdict: Verdict, finding: Finding, title: str) -> str:
    lines = [f"{finding.party}: {_short(finding.message)}"]
    for label, text in (("seen", finding.seen), ("expected", finding.expected)):
        if text:
            lines.append(f"{label}: {_short(text)}")
    if finding.fix:
        lines.append(f"fix: {_short(finding.fix)}")
    if finding.at is not None:
        lines.append(f"at: {_short(finding.at.trace)} seq {finding.at.seq}")
    lines.append(f"spec: {shortened(visible(finding.url), _SHOWN_ADDRESS)}")
    heading = f"{verdict.id} {verdict.level}"
    if title:
        heading += f": {_short(title)}"
    file = finding.at.file if finding.at is not None else None
    return _command(_COMMANDS[finding.severity], heading, "\n".join(lines), file)


def _inconclusive(result: RunResult) -> Iterator[str]:
    lines = []
    for reason, verdicts in by_reason(result.verdicts, Outcome.INCONCLUSIVE).items():
        step = next_step(reason)
        lines.append(f"{_short(reason)}: {_ids(verdicts)}{f' ({step})' if step else ''}")
    if lines:
        yield _command("notice", "clausewise: inconclusive", "\n".join(lines[:SHOWN_PER_LEVEL]))


def _ids(verdicts: list[Verdict]) -> str:
    named = ", ".join(visible(verdict.id) for verdict in verdicts[:_SHOWN_IDS])
    more = len(verdicts) - _SHOWN_IDS
    return f"{named} and {more} more" if more > 0 else named


def _short(text: str) -> str:
    return shortened(visible(text), _SHOWN_CHARACTERS)


def _command(name: str, title: str, message: str, file: str | None = None) -> str:
    """One workflow command on one line; the runner turns the escapes back."""
    properties = [f"title={_property(title)}"]
    if file is not None and len(file) <= _SHOWN_ADDRESS:
        properties.insert(0, f"file={_property(visible(file))}")
    return f"::{name} {','.join(properties)}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
