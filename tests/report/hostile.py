"""What a target may say to trick a report, and results that say it everywhere."""

from __future__ import annotations

import dataclasses

from tests.report.conftest import rule

from clausewise.core.results import Finding, Implementation, Place, RunResult, Target, Verdict
from clausewise.core.vocabulary import Outcome, Party, Revision

HOSTILE = (
    "<script>alert(1)</script>",
    "</code></dd><img src=x onerror=alert(1)>",
    '"><a href="javascript:alert(1)">x</a>',
    "{{ 7 * 7 }} {% include '/etc/passwd' %} {0}",
    "[x](https://evil.example) [y](0)",
    "a\n::error file=x::owned",
    "a\r\n##[error]owned",
    "%0A::stop-commands::x",
    "\x1b]0;owned\x07\u202e\u2028\ud800\x00",
    "]]> <!-- -->",
    "x" * 100_000,
)


def saying(result: RunResult, text: str) -> RunResult:
    """`result` with `text` wherever a target or a stored result may put text."""
    found = Finding(
        check=text,
        party=Party.SERVER,
        severity=Outcome.FAIL,
        message=text,
        seen=text,
        expected=text,
        at=Place(text, 3),
        url=text,
        fix=text,
        reproduce=text,
    )
    verdicts: tuple[Verdict, ...] = (
        rule("ZZZ-AAA-001", Outcome.FAIL, found),
        rule("ZZZ-AAA-002", Outcome.INCONCLUSIVE, reason=text),
        rule("ZZZ-AAA-003", Outcome.CRASHED, reason=text),
    )
    return dataclasses.replace(
        result,
        target=Target("streamable-http", text, Implementation(text, text)),
        revisions=(Revision.MODERN,),
        verdicts=verdicts,
        notes=(text,),
    )
