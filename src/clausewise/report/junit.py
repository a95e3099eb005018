"""JUnit XML: one test case for each clause and rule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from xml.sax.saxutils import escape, quoteattr

from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.threshold import counts
from clausewise.core.vocabulary import Outcome
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.subjects import Group, Titles, grouped, registered_title

_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(
    result: RunResult,
    options: ReportOptions = DEFAULTS,
    titles: Titles = registered_title,
) -> str:
    """The result as JUnit XML.

    A case fails when its verdict is at or above `options.fail_on`; a finding below that is
    its output. What was not judged is skipped with the reason, what crashed is an error.
    """
    suites = [
        _suite(group, verdicts, options, titles)
        for group, verdicts in grouped(result.verdicts).items()
    ]
    name = quoteattr(_scrub(f"clausewise {result.command} {result.target.name}"))
    numbers = _numbers(result.verdicts, options)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites name={name} {numbers}>"]
    return "\n".join([*lines, *suites, "</testsuites>"]) + "\n"


class _Status(StrEnum):
    """What became of a case; the value is the element that says so."""

    PASSED = ""
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"
    TOLD = "system-out"


def _status(verdict: Verdict, options: ReportOptions) -> _Status:
    if counts(verdict, options.fail_on, options.known):
        return _Status.FAILED
    if verdict.outcome is Outcome.CRASHED:
        return _Status.ERROR
    if verdict.findings:
        return _Status.TOLD
    return _Status.PASSED if verdict.outcome is Outcome.PASS else _Status.SKIPPED


def _numbers(verdicts: Sequence[Verdict], options: ReportOptions) -> str:
    found = Counter(_status(verdict, options) for verdict in verdicts)
    failed, errors, skipped = (
        found[status] for status in (_Status.FAILED, _Status.ERROR, _Status.SKIPPED)
    )
    return f'tests="{len(verdicts)}" failures="{failed}" errors="{errors}" skipped="{skipped}"'


def _suite(group: Group, verdicts: list[Verdict], options: ReportOptions, titles: Titles) -> str:
    name = quoteattr(_scrub(group.heading))
    head = f"  <testsuite name={name} {_numbers(verdicts, options)}>"
    cases = [_case(group, verdict, options, titles) for verdict in verdicts]
    return "\n".join([head, *cases, "  </testsuite>"])


def _case(group: Group, verdict: Verdict, options: ReportOptions, titles: Titles) -> str:
    name = quoteattr(_scrub(f"{verdict.id} {titles(verdict)}".strip()))
    start = f'    <testcase classname="clausewise.{group.kind}.{group.revision}" name={name}'
    content = _content(verdict, _status(verdict, options))
    return f"{start}>{content}</testcase>" if content else f"{start}/>"


def _content(verdict: Verdict, status: _Status) -> str:
    details = "\n\n".join(_details(finding) for finding in verdict.findings)
    reason = verdict.reason or ""
    match status:
        case _Status.PASSED:
            return ""
        case _Status.TOLD:
            return f"<system-out>{escape(_scrub(details))}</system-out>"
        case _Status.SKIPPED:
            return f"<skipped message={quoteattr(_scrub(f'{verdict.outcome}: {reason}'))}/>"
        case _Status.FAILED | _Status.ERROR:
            message = verdict.findings[0].message if verdict.findings else reason
            return _element(status, verdict.outcome, message, details)


def _element(tag: str, kind: str, message: str, details: str) -> str:
    attributes = f'type="{kind}" message={quoteattr(_scrub(message))}'
    return f"<{tag} {attributes}>{escape(_scrub(details))}</{tag}>"


def _details(finding: Finding) -> str:
    place = finding.at
    parts = {
        str(finding.severity): f"{finding.party}: {finding.message}",
        "check": finding.check,
        "seen": finding.seen,
        "expected": finding.expected,
        "at": f"{place.trace} seq {place.seq}" if place else "",
        "spec": finding.url,
        "fix": finding.fix,
        "reproduce": finding.reproduce or "",
    }
    return "\n".join(f"{label}: {text}" for label, text in parts.items() if text)


def _scrub(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\x{ord(match.group()):02x}", text)
