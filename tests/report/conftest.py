"""A made-up result that has every outcome and a target that says hostile things."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clausewise.core.results import (
    Finding,
    Implementation,
    Place,
    RunResult,
    SubjectKind,
    Target,
    Verdict,
)
from clausewise.core.vocabulary import Era, Level, Outcome, Party, Revision


def finding(message: str, severity: Outcome = Outcome.FAIL, **others: str | None) -> Finding:
    return Finding(
        check=others.get("check") or "area.check",
        party=Party.SERVER,
        severity=severity,
        message=message,
        seen=others.get("seen") or "",
        expected=others.get("expected") or "",
        at=Place("probe", 12),
        url="https://spec.example/page#anchor:~:text=First,last",
        fix=others.get("fix") or "Do it right.",
        reproduce=others.get("reproduce"),
    )


def rule(id_: str, outcome: Outcome, *findings: Finding, reason: str | None = None) -> Verdict:
    level = Level.SHOULD if outcome is Outcome.WARN else Level.MUST
    occasions = 1 if outcome.is_judgement else 0
    return Verdict(
        SubjectKind.RULE, id_, Revision.MODERN, level, outcome, occasions, reason, findings
    )


def clause(id_: str, outcome: Outcome, *findings: Finding, reason: str | None = None) -> Verdict:
    return Verdict(
        SubjectKind.CLAUSE, id_, Revision.LEGACY, Level.MUST, outcome, 7, reason, findings
    )


@pytest.fixture(name="finding")
def finding_factory() -> Callable[..., Finding]:
    return finding


@pytest.fixture(name="rule")
def rule_factory() -> Callable[..., Verdict]:
    return rule


@pytest.fixture(name="clause")
def clause_factory() -> Callable[..., Verdict]:
    return clause


@pytest.fixture
def result() -> RunResult:
    return RunResult(
        command="check",
        target=Target(
            "streamable-http", "http://127.0.0.1:3001/mcp", Implementation("ever\x1b[31m", "1.0")
        ),
        era=Era.DUAL,
        revisions=(Revision.LEGACY, Revision.MODERN),
        verdicts=(
            rule("ZZZ-AAA-001", Outcome.PASS),
            rule("ZZZ-AAA-002", Outcome.INCONCLUSIVE, reason="HTTP 401: the server wants a token"),
            rule(
                "ZZZ-BBB-001",
                Outcome.WARN,
                finding("the cache hint is missing", Outcome.WARN, fix="Send ttlMs."),
            ),
            rule(
                "ZZZ-BBB-002",
                Outcome.FAIL,
                finding(
                    "answered an unknown method with -32602",
                    seen='{"code":-32602,"message":"\x1b]0;owned\x07\u202e\ud800"}',
                    expected='"code": -32601',
                    fix="Answer -32601.",
                    reproduce="curl -sS http://127.0.0.1:3001/mcp -d '{}'",
                ),
            ),
            rule("ZZZ-CCC-001", Outcome.CRASHED, reason="ValueError: <oops> & ]]>"),
            clause("ZZZ-001", Outcome.INFO, finding("says little", Outcome.INFO)),
            clause("ZZZ-002", Outcome.NOT_OBSERVED, reason="no request was seen"),
            clause("ZZZ-005", Outcome.NOT_OBSERVED, reason="no check yet: planned"),
            clause("ZZZ-003", Outcome.NOT_APPLICABLE, reason="tools are not declared"),
            clause("ZZZ-004", Outcome.EXCLUDED, reason="ui: It is about what a user sees."),
        ),
        notes=("the server spoke a\nnew dialect",),
        started="2026-08-01T12:00:00Z",
        duration_s=1.25,
    )
