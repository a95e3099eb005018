"""Recorded sessions with known verdicts: what is expected is found, and nothing else."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from clausewise.core.vocabulary import Outcome, Revision
from clausewise.judge.engine import JudgeResult, judge
from clausewise.judge.registration import checks
from clausewise.trace.reader import read_events

_FAILING = re.compile(r"([A-Z]+-\d+)=(fail|warn)@([\d,]+)\[([a-z0-9.-]+)\]")

_WITH_LEGACY_SIGNS = frozenset(
    {
        "draft/captured/probe-2026-07-28-http.jsonl",
        "draft/violations/base-032-invalid-params-not-http-400.jsonl",
        "draft/violations/disc-001-server-discover-method-not-found.jsonl",
        "draft/violations/vers-008-initialize-error-without-versions.jsonl",
    }
)
"""Traces of 2026-07-28 with an initialize for 2025-11-25, or without a sign of any revision."""

_TWINS = {"TRAN-017": ("LIFE-018",)}
"""Clauses that say the same as another one, which the index leaves out."""

_RENAMED = {"transport.client-accept-header": "transport.client-post-accept-header"}
"""What the index calls some checks, and their names here."""

_WITHOUT_GET = frozenset({"TRAN-039", "TRAN-040"})
"""Clauses about a GET, which the index lists for POSTs too; no trace of 2025-11-25 has one."""

Expected = set[tuple[str, str, int]]

_BEYOND: dict[str, Expected] = {
    "violations/prom-001-capability-undeclared.jsonl": {("PROM-010", "warn", 3)}
}
"""True findings about clauses that the index does not judge."""


def judged(path: Path) -> JudgeResult:
    with path.open("rb") as lines:
        return judge(read_events(lines, path.name), trace=path.name)


def found(result: JudgeResult) -> Expected:
    return {
        (verdict.id, finding.severity.value, finding.at.seq if finding.at else -1)
        for verdict in result.verdicts
        for finding in verdict.findings
        if finding.severity is not Outcome.INFO
    }


def rows(shared: Path, revision: str) -> Iterator[dict[str, str]]:
    with (shared / "corpus" / "index.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["revision"] == revision:
                yield row


def expected(row: dict[str, str]) -> Expected:
    """What the index lists, of the checks that exist."""
    failing = next(value for name, value in row.items() if name.startswith("failing"))
    known = checks()
    return {
        (clause, severity, int(seq))
        for clause, severity, seqs, check in _FAILING.findall(failing or "")
        if _RENAMED.get(check, check) in known and clause not in _WITHOUT_GET
        for seq in seqs.split(",")
        for clause in (clause, *_TWINS.get(clause, ()))
    } | _BEYOND.get(row["path"], set())


@pytest.fixture
def corpus(shared: Path) -> Path:
    folder = shared / "corpus"
    if not folder.is_dir():
        pytest.skip(f"no corpus at {folder}")
    return folder


def test_good_sessions_give_no_finding(corpus: Path) -> None:
    paths = sorted(corpus.glob("good/*.jsonl"))
    assert paths
    for path in paths:
        result = judged(path)
        assert found(result) == set(), path.name
        assert result.revisions == (Revision.LEGACY,)


def test_each_trace_gives_the_findings_that_the_index_lists(corpus: Path) -> None:
    differing = {}
    for row in rows(corpus.parent, "2025-11-25"):
        seen = found(judged(corpus / row["path"]))
        if seen != expected(row):
            differing[row["path"]] = (sorted(seen), sorted(expected(row)))
    assert differing == {}


def test_each_violated_clause_is_found(corpus: Path) -> None:
    targets = [r for r in rows(corpus.parent, "2025-11-25") if r["kind"] == "violation"]
    ours = [r for r in targets if r["target_clause"].startswith(("BASE-", "LIFE-", "TRAN-"))]
    assert len(ours) == 15
    for row in ours:
        clauses = {clause for clause, _, _ in found(judged(corpus / row["path"]))}
        assert row["target_clause"] in clauses, row["path"]


def test_sessions_of_the_next_revision_are_recognised_and_not_judged(corpus: Path) -> None:
    paths = sorted(corpus.glob("draft/**/*.jsonl"))
    assert paths
    for path in paths:
        result = judged(path)
        name = path.relative_to(corpus).as_posix()
        assert found(result) == set(), name
        if name in _WITH_LEGACY_SIGNS:
            continue
        judgements = [v.id for v in result.verdicts if v.outcome.is_judgement]
        assert judgements == [], name
        assert Revision.LEGACY not in result.revisions, name
        assert result.notes, name
