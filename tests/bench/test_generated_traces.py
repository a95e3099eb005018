"""The traces that the benchmark times: both sides keep the specification in them."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from bench.recording import Http, Stdio, mixed_sessions
from bench.suspects import SUSPECTS

from clausewise.core.vocabulary import Outcome, Revision
from clausewise.judge.engine import JudgeResult, judge
from clausewise.registry import clauses
from clausewise.trace.reader import read_events

EVENTS = 6000

UNSEEN = {
    "AUTH": "no authorization",
    "ELIC-021": "needs a server that asks in an undeclared mode",
    "LIFE-004": "nothing is sent during the handshake",
    "LIFE-005": "nothing is sent during the handshake",
    "PAGE-003": "no cursor is made up",
    "PROG-014": "tasks report no progress",
    "PROG-015": "tasks report no progress",
    "PROG-016": "tasks report no progress",
    "ROOT-004": "every client declares roots",
    "SAMP-007": "no deprecated context",
    "SAMP-012": "no malformed tool messages",
    "TRAN-004": "files hold no source text",
    "TRAN-005": "files hold no source text",
    "TRAN-020": "every version is supported",
}
"""Clauses without an occasion in the mixed traces, by id or area, and why."""


def judged(lines: Iterable[bytes]) -> JudgeResult:
    return judge(read_events(lines, "t"), trace="t")


def findings(result: JudgeResult) -> list[str]:
    return [f.message for verdict in result.verdicts for f in verdict.findings]


@pytest.mark.parametrize("recorder", [Stdio, Http])
def test_mixed_sessions_give_no_finding(recorder: type[Stdio | Http]) -> None:
    result = judged(mixed_sessions(recorder(), EVENTS))
    assert findings(result) == []
    assert result.revisions == (Revision.LEGACY,)
    assert Outcome.CRASHED not in {verdict.outcome for verdict in result.verdicts}


def test_mixed_sessions_give_occasions_to_nearly_every_core_clause() -> None:
    results = [judged(mixed_sessions(recorder(), EVENTS)) for recorder in (Stdio, Http)]
    passed = {v.id for result in results for v in result.verdicts if v.outcome is Outcome.PASS}
    areas = ("BASE", "CANC", "COMP", "LOGG", "PING", "PROM", "RESO", "TOOL")
    core = {
        "BASE-001", "BASE-002", "BASE-003", "BASE-004", "BASE-005", "BASE-008",
        "LIFE-001", "LIFE-002", "LIFE-003",
    }  # fmt: skip
    assert core <= passed
    judged_clauses = {c.id for c in clauses(Revision.LEGACY).values() if c.checks}
    reached = {clause for clause in judged_clauses if clause.startswith(areas)} & passed
    assert len(reached) >= 20
    assert not passed & UNSEEN.keys()


@pytest.mark.parametrize("name", list(SUSPECTS))
def test_the_suspects_of_quadratic_cost_give_no_finding(name: str) -> None:
    lines = list(SUSPECTS[name](1500, 1))
    assert len(lines) == 1500
    assert findings(judged(lines)) == []


@pytest.mark.parametrize("recorder", [Stdio, Http])
def test_the_same_seed_gives_the_same_trace(recorder: type[Stdio | Http]) -> None:
    one, other = (list(mixed_sessions(recorder(), 500)) for _ in range(2))
    assert one == other
    assert one != list(mixed_sessions(recorder(), 500, seed=2))
