"""The audit: a configuration and evidence of four kinds, in files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clausewise.app import audit, audit_config
from clausewise.app.audit_config import AuditConfig
from clausewise.app.audit_page import Page
from clausewise.app.exit import matrix_exit_code
from clausewise.core.errors import ClausewiseError, ConfigError, ExitCode, UsageError
from clausewise.core.matrix import Matrix, Row
from clausewise.core.results import Finding, RunResult, SubjectKind, Target, Verdict
from clausewise.core.vocabulary import FailOn, Level, Outcome, Party, Revision
from clausewise.report.json import render

CONFIG = """
[audit]
title = "notes"
revisions = ["2025-11-25"]
[[audit.tests]]
sources = ["tests/**/*.py"]
reports = ["build/junit.xml"]
[[audit.official]]
results = ["build/official"]
revision = "2025-11-25"
[[audit.probe]]
results = ["build/check.json"]
[[audit.replay]]
traces = ["sessions"]
[[audit.deviations]]
clauses = ["RES-008"]
reason = "the next revision wants it so"
"""
JUNIT = '<testsuite><testcase classname="tests.test_ids" name="test_unique"/></testsuite>'
TAGGED = "# clause: PING-001\ndef test_unique(): ...\n"


def message(seq: int, direction: str, payload: dict[str, Any]) -> str:
    event = {"seq": seq, "direction": direction, "transport": "stdio", "kind": "message"}
    return json.dumps({**event, "payload": {"jsonrpc": "2.0", **payload}}) + "\n"


def session() -> str:
    up, down = "client-to-server", "server-to-client"
    who = {"name": "x", "version": "1"}
    begin = {"protocolVersion": "2025-11-25", "capabilities": {}}
    return "".join(
        [
            message(
                0, up, {"id": 1, "method": "initialize", "params": {**begin, "clientInfo": who}}
            ),
            message(1, down, {"id": 1, "result": {**begin, "serverInfo": who}}),
            message(2, up, {"method": "notifications/initialized"}),
            message(3, up, {"id": 2, "method": "ping"}),
            message(4, down, {"id": 2, "result": {"late": True}}),
            message(5, up, {"id": 2, "method": "ping"}),
            message(6, down, {"id": 2, "result": {}}),
        ]
    )


def fault(severity: Outcome) -> Finding:
    return Finding(
        "base.x", Party.SERVER, severity, "broken", "seen", "due", None, "https://x.example", ""
    )


def stored(*verdicts: tuple[str, Outcome]) -> str:
    made = (
        Verdict(
            SubjectKind.CLAUSE,
            id_,
            Revision.LEGACY,
            Level.MUST,
            outcome,
            1,
            findings=() if outcome is Outcome.PASS else (fault(outcome),),
        )
        for id_, outcome in verdicts
    )
    return render(RunResult("check", Target("stdio", "x"), None, (), tuple(made)))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with evidence of all four kinds about PING-001."""
    files = {
        "clausewise.toml": CONFIG,
        "tests/test_ids.py": TAGGED,
        "build/junit.xml": JUNIT,
        "build/official/server-ping-2026-01-02T03-04-05-678Z/checks.json": json.dumps(
            [{"id": "ping", "status": "SUCCESS"}]
        ),
        "build/check.json": stored(("PING-001", Outcome.PASS), ("BASE-004", Outcome.PASS)),
        "sessions/one.jsonl": session(),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def load(project: Path) -> AuditConfig:
    return audit_config.load(project / "clausewise.toml", project)


def row(matrix: Matrix, id_: str) -> Row:
    return next(row for row in matrix.rows if row.id == id_)


def test_all_four_kinds_of_evidence_meet_in_one_row(project: Path) -> None:
    found = row(audit.run(load(project)), "PING-001")
    assert found.verdict == "non-conformant"
    assert [(e.kind, e.outcome, e.pointer) for e in found.evidence] == [
        ("replay", "fail", "sessions/one.jsonl seq 4"),
        ("test", "pass", "tests/test_ids.py:1"),
        ("official", "pass", "ping/ping"),
        ("probe", "pass", "build/check.json"),
    ]
    assert found.notes[0].startswith("contradicting evidence: replay sessions/one.jsonl seq 4")


def test_only_the_audited_partys_duties_are_judged_in_a_recording(project: Path) -> None:
    # The client uses an id twice, which is no fault of the server.
    assert row(audit.run(load(project)), "BASE-003").verdict == "unproven"
    text = CONFIG.replace("[[audit.tests]]", 'party = "client"\n[[audit.tests]]')
    text = text[: text.index("[[audit.official]]")] + '[[audit.replay]]\ntraces = ["sessions"]\n'
    (project / "clausewise.toml").write_text(text)
    as_client = audit.run(load(project))
    assert as_client.party is Party.CLIENT
    found = row(as_client, "BASE-003")
    assert (found.verdict, found.evidence[0].pointer) == (
        "non-conformant",
        "sessions/one.jsonl seq 5",
    )


def test_nothing_depends_on_where_the_project_is_or_when(project: Path, tmp_path: Path) -> None:
    moved = tmp_path.parent / f"{tmp_path.name}-moved"
    project.rename(moved)
    first = audit.run(load(moved))
    moved.rename(project)
    assert first == audit.run(load(project))
    assert str(tmp_path.parent) not in repr(first)


def test_a_pattern_that_fits_nothing_is_an_error(project: Path) -> None:
    (project / "build" / "check.json").unlink()
    with pytest.raises(ConfigError, match=r"audit.probe: no file fits 'build/check.json'"):
        audit.run(load(project))


BREAKS: dict[str, Callable[[Path], object]] = {
    "build/junit.xml": lambda path: path.write_text("<testsuite>"),
    "build/check.json": lambda path: path.write_text("{"),
    "tests/test_ids.py": lambda path: path.write_bytes(b"\xff\xfe\xfa"),
    "sessions/one.jsonl": lambda path: path.write_text("no json\n"),
    "build/official": lambda path: shutil.rmtree(path / "server-ping-2026-01-02T03-04-05-678Z"),
}


@pytest.mark.parametrize("name", BREAKS)
def test_broken_evidence_is_an_error_and_with_keep_going_the_rest_is_not_lost(
    project: Path, name: str
) -> None:
    BREAKS[name](project / name)
    with pytest.raises(ClausewiseError) as caught:
        audit.run(load(project))
    assert Path(name).name in str(caught.value)
    matrix = audit.run(load(project), keep_going=True)
    unreadable = [p.where for p in matrix.problems if p.kind == "unreadable"]
    assert unreadable == [name]
    assert len(row(matrix, "PING-001").evidence) == 3


def test_a_huge_result_is_refused(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "MAX_RESULT_BYTES", 10)
    with pytest.raises(ConfigError, match="longer than 10 bytes"):
        audit.run(load(project))


def test_the_page_is_fresh_once_written_and_stale_when_something_changed(project: Path) -> None:
    page = Page(project, "docs/CONFORMANCE.md")
    matrix = audit.run(load(project))
    missing = page.compare(matrix)
    assert missing.stale == (page.path, page.record)
    page.write(matrix)
    assert page.compare(audit.run(load(project))).stale == ()
    page.path.write_text(page.path.read_text() + "edited by hand\n")
    assert page.compare(matrix).stale == (page.path,)
    page.write(matrix)
    (project / "build" / "check.json").write_text(stored(("BASE-004", Outcome.FAIL)))
    changed = page.compare(audit.run(load(project)))
    assert changed.stale == (page.path, page.record)
    assert changed.changed == ("BASE-004", "PING-001")
    assert [(fall.id, fall.was, fall.now) for fall in changed.falls] == [
        ("BASE-004", "conformant", "non-conformant")
    ]


def test_a_tag_on_a_deleted_line_and_a_deleted_source_are_told(project: Path) -> None:
    page = Page(project, "docs/CONFORMANCE.md")
    page.write(audit.run(load(project)))
    source = project / "tests" / "test_ids.py"
    source.write_text("\n\n" + TAGGED)
    assert page.compare(audit.run(load(project))).lost == ()
    source.write_text(TAGGED.split("\n", 1)[1])
    (lost,) = page.compare(audit.run(load(project))).lost
    assert (lost.id, lost.pointer, lost.test) == ("PING-001", "tests/test_ids.py:1", "test_unique")


def test_a_new_untagged_test_makes_no_page_stale(project: Path) -> None:
    page = Page(project, "docs/CONFORMANCE.md")
    page.write(audit.run(load(project)))
    more = JUNIT.replace("<testcase", '<testcase classname="tests.b" name="test_b"/><testcase')
    (project / "build" / "junit.xml").write_text(more)
    matrix = audit.run(load(project))
    assert [p.kind for p in matrix.problems] == ["run-without-tag"]
    assert page.compare(matrix).stale == ()


def test_a_record_that_is_none_is_an_error(project: Path) -> None:
    page = Page(project, "page.md")
    page.record.write_text("{}")
    with pytest.raises(UsageError, match="is no clausewise.matrix/1"):
        page.compare(audit.run(load(project)))


def test_the_exit_code_counts_rows_by_level(project: Path) -> None:
    matrix = audit.run(load(project))
    assert matrix_exit_code(matrix) is ExitCode.FINDINGS
    assert matrix_exit_code(matrix, FailOn.NEVER) is ExitCode.OK
    (project / "sessions" / "one.jsonl").write_text(session().replace('{"late": true}', "{}"))
    assert matrix_exit_code(audit.run(load(project)), FailOn.SHOULD) is ExitCode.OK
    (project / "build" / "check.json").write_text(stored(("TOOL-005", Outcome.WARN)))
    assert matrix_exit_code(audit.run(load(project)), FailOn.MUST) is ExitCode.OK


def test_no_evidence_that_decides_anything_is_exit_3(project: Path) -> None:
    (project / "clausewise.toml").write_text(CONFIG[: CONFIG.index("[[audit.tests]]")])
    assert matrix_exit_code(audit.run(load(project))) is ExitCode.NOTHING_JUDGED


@pytest.mark.parametrize(
    ("text", "words", "hint"),
    [
        ("[other]\n", "unknown key 'other'", ""),
        ("fail-on = 'must'\n", "has no table [audit]", ""),
        ("audit = 1\n", "audit is 1", "[audit]"),
        ("[audit]\nrevision = ['x']\n", "unknown key 'revision'", "Did you mean revisions?"),
        ("[audit]\nrevisions = ['2024']\n", "'2024' is none", "2025-11-25, 2026-07-28."),
        ("[audit]\nparty = 'proxy'\n", "audit.party is 'proxy'", "client or server"),
        ("[audit]\ntitle = 1\n", "audit.title is 1", "a string"),
        ("[audit]\ntests = 1\n", "audit.tests is no table", "[[audit.tests]]"),
        ("[[audit.tests]]\nreports = ['a']\n", "audit.tests has no sources", ""),
        ("[[audit.tests]]\nsources = [1]\n", "audit.tests.sources is [1]", "list of strings"),
        ("[[audit.tests]]\nsources=['a']\nreports=['b']\npattern='('\n", "is no pattern", ""),
        ("[[audit.tests]]\nsource = ['a']\n", "unknown key 'source'", "sources"),
        ("[[audit.official]]\nresults = ['a']\n", "audit.official has no revision", ""),
        ("[[audit.replay]]\nrevision = '2025-11-25'\n", "neither traces nor results", ""),
        ("[[audit.deviations]]\nclauses = ['RES-008']\n", "has no reason", ""),
        ("[[audit.deviations]]\nreason = 'x'\n", "neither clauses nor capabilities", ""),
        (
            "[[audit.deviations]]\nreason = 'x'\nclauses = ['RES-080']\n",
            "no clause or rule is or begins with RES-080",
            "Did you mean ",
        ),
        (
            "[[audit.not-implemented]]\nreason = 'x'\ncapabilities = ['tool']\n",
            "no clause depends on the capability tool",
            "server.tools",
        ),
    ],
)
def test_a_wrong_configuration_is_an_error_that_names_the_key(
    tmp_path: Path, text: str, words: str, hint: str
) -> None:
    path = tmp_path / "clausewise.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        audit_config.load(path, tmp_path)
    assert words in caught.value.message
    assert str(path) in caught.value.message
    assert hint in caught.value.hint


def test_the_configuration_is_found_upward_also_in_pyproject(tmp_path: Path) -> None:
    text = '[tool.clausewise.audit]\ntitle = "x"\nreplay = { traces = "a.jsonl" }\n'
    (tmp_path / "pyproject.toml").write_text(text)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    found = audit_config.load(None, tmp_path / "deep" / "er")
    assert (found.title, found.root, found.replay[0].traces) == ("x", tmp_path, ("a.jsonl",))
    assert (found.party, found.revisions) == (Party.SERVER, (Revision.LEGACY,))


def test_without_a_configuration_the_hint_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        audit_config.load(None, tmp_path)
    assert "[audit]" in caught.value.hint
