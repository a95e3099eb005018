"""Results of `check` and `validate` as evidence about one party."""

from __future__ import annotations

import dataclasses

from clausewise.core.matrix import EvidenceKind
from clausewise.core.results import Finding, Place, RunResult, SubjectKind, Target, Verdict
from clausewise.core.vocabulary import Level, Outcome, Party, Revision
from clausewise.matrix.assembly import Gathered
from clausewise.matrix.evidence import results

SERVER, CLIENT = Party.SERVER, Party.CLIENT


def finding(party: Party, check: str = "base.x", seq: int = 7, message: str = "broken") -> Finding:
    return Finding(
        check, party, Outcome.FAIL, message, "seen", "due", Place("s.jsonl", seq), "https://x", ""
    )


def verdict(id_: str, outcome: Outcome, *findings: Finding, reason: str | None = None) -> Verdict:
    return Verdict(
        SubjectKind.CLAUSE, id_, Revision.LEGACY, Level.MUST, outcome, 1, reason, findings
    )


def result(*verdicts: Verdict, command: str = "check", party: Party | None = None) -> RunResult:
    return RunResult(command, Target("trace", "x"), None, (), verdicts, party=party)


def gather(found: RunResult, party: Party = SERVER, kind: str = "probe") -> Gathered:
    return results.gather(EvidenceKind(kind), "build/r.json", found, party)


def told(found: Gathered) -> list[tuple[str, str, str, str]]:
    return [
        (s.id, s.evidence.outcome.value, s.evidence.pointer, s.evidence.detail)
        for s in found.statements
    ]


def test_a_pass_and_a_reason_become_evidence() -> None:
    found = gather(
        result(
            verdict("BASE-003", Outcome.PASS),
            verdict("BASE-001", Outcome.INCONCLUSIVE, reason="a token is missing"),
        )
    )
    assert told(found) == [
        ("BASE-003", "pass", "build/r.json", ""),
        ("BASE-001", "inconclusive", "build/r.json", "a token is missing"),
    ]
    assert found.sources[0].counts == {"inconclusive": 1, "pass": 1}


def test_a_finding_of_a_recording_points_to_the_event_and_one_of_a_probe_to_the_result() -> None:
    broken = result(verdict("BASE-003", Outcome.FAIL, finding(SERVER)))
    assert told(gather(broken, kind="replay")) == [("BASE-003", "fail", "s.jsonl seq 7", "broken")]
    assert told(gather(broken)) == [("BASE-003", "fail", "build/r.json", "broken")]


def test_a_fault_that_a_check_finds_often_is_shown_once() -> None:
    faults = [finding(SERVER, seq=n, message=f"at {n}") for n in range(1, 50)]
    other = finding(SERVER, check="base.y", seq=99, message="else")
    found = gather(result(verdict("BASE-003", Outcome.FAIL, *faults, other)), kind="replay")
    assert [row[2] for row in told(found)] == ["s.jsonl seq 1", "s.jsonl seq 99"]


def test_the_faults_of_the_other_party_are_no_evidence() -> None:
    found = gather(result(verdict("BASE-003", Outcome.FAIL, finding(CLIENT))))
    assert told(found) == [
        ("BASE-003", "not-observed", "build/r.json", "only the other party was seen to break it")
    ]


def test_of_faults_of_both_parties_only_ones_own_count() -> None:
    both = verdict("BASE-003", Outcome.FAIL, finding(CLIENT, seq=1), finding(SERVER, seq=2))
    assert [row[2] for row in told(gather(result(both), kind="replay"))] == ["s.jsonl seq 2"]


def test_what_binds_the_other_party_and_what_is_excluded_is_left_out() -> None:
    given = (verdict("LIFE-001", Outcome.PASS), verdict("BASE-003", Outcome.EXCLUDED))
    assert told(gather(result(*given))) == []


def test_a_rule_is_about_servers() -> None:
    rule = dataclasses.replace(
        verdict("MCP-ERR-001", Outcome.PASS), kind=SubjectKind.RULE, revision=Revision.MODERN
    )
    assert [row[0] for row in told(gather(result(rule)))] == ["MCP-ERR-001"]
    assert told(gather(result(rule), CLIENT)) == []


def test_a_pass_of_both_parties_together_is_not_known_to_be_ones_own() -> None:
    given = (verdict("BASE-003", Outcome.PASS), verdict("TRAN-010", Outcome.PASS))
    mixed = told(gather(result(*given, command="validate"), kind="replay"))
    assert [(row[0], row[1]) for row in mixed] == [
        ("BASE-003", "not-observed"),
        ("TRAN-010", "pass"),
    ]
    apart = told(gather(result(*given, command="validate", party=SERVER), kind="replay"))
    assert [row[1] for row in apart] == ["pass", "pass"]
    other = told(gather(result(*given, command="validate", party=CLIENT), kind="replay"))
    assert other[0][1] == "not-observed"


def test_notes_of_a_run_are_told() -> None:
    found = gather(dataclasses.replace(result(), notes=("time ran out",)))
    assert [(p.kind, p.where, p.message) for p in found.problems] == [
        ("note", "build/r.json", "time ran out")
    ]
