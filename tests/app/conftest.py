"""Makers of verdicts and findings about real rules and clauses."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clausewise.core.results import Finding, RunResult, SubjectKind, Target, Verdict
from clausewise.core.vocabulary import Level, Outcome, Party, Revision


def _finding(message: str, severity: Outcome = Outcome.FAIL) -> Finding:
    return Finding("a.check", Party.SERVER, severity, message, "", "", None, "https://x", "")


def _verdict(
    id_: str, outcome: Outcome, *findings: Finding, revision: Revision = Revision.MODERN
) -> Verdict:
    kind = SubjectKind.RULE if id_.startswith("MCP-") else SubjectKind.CLAUSE
    return Verdict(kind, id_, revision, Level.MUST, outcome, 1, f"why {id_}", findings)


def _run(*verdicts: Verdict) -> RunResult:
    return RunResult("check", Target("stdio", "server"), None, (), verdicts)


@pytest.fixture
def finding() -> Callable[..., Finding]:
    return _finding


@pytest.fixture
def verdict() -> Callable[..., Verdict]:
    return _verdict


@pytest.fixture
def run_of() -> Callable[..., RunResult]:
    return _run
