"""Reading JUnit reports: the shapes that tools write, and what must not be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from clausewise.core.errors import UsageError
from clausewise.matrix.evidence import junit
from clausewise.matrix.evidence.junit import TestRun, read_junit


def read(tmp_path: Path, text: str | bytes) -> list[TestRun]:
    path = tmp_path / "junit.xml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return list(read_junit(path))


def test_passed_failed_broken_and_skipped_runs_are_told_apart(tmp_path: Path) -> None:
    runs = read(
        tmp_path,
        """<?xml version="1.0"?><testsuites><testsuite name="pytest">
        <testcase classname="tests.test_ids" name="test_unique" time="0.1"/>
        <testcase classname="tests.test_ids" name="test_bad"><failure message="no"/></testcase>
        <testcase classname="tests.test_ids" name="test_error"><error>boom</error></testcase>
        <testcase classname="tests.test_ids" name="test_skip"><skipped message="later"/></testcase>
        <testcase classname="tests.test_ids" name="test_out"><system-out>…</system-out></testcase>
        </testsuite></testsuites>""",
    )
    assert [(run.name, run.outcome) for run in runs] == [
        ("test_unique", "pass"),
        ("test_bad", "fail"),
        ("test_error", "fail"),
        ("test_skip", "not-observed"),
        ("test_out", "pass"),
    ]
    assert {run.classname for run in runs} == {"tests.test_ids"}


def test_a_failure_counts_whatever_else_stands_beside_it(tmp_path: Path) -> None:
    (run,) = read(
        tmp_path,
        '<testsuite><testcase name="t"><failure/><skipped/><rerunFailure/></testcase></testsuite>',
    )
    assert run.outcome == "fail"


def test_a_flaky_test_that_passed_in_the_end_passed(tmp_path: Path) -> None:
    text = '<testsuite><testcase name="t"><flakyFailure/></testcase></testsuite>'
    assert read(tmp_path, text)[0].outcome == "pass"


def test_a_test_that_was_not_run_did_not_pass(tmp_path: Path) -> None:
    text = '<testsuite><testcase name="t" status="notrun"/></testsuite>'
    assert read(tmp_path, text)[0].outcome == "not-observed"


def test_nested_suites_and_files_are_kept(tmp_path: Path) -> None:
    runs = read(
        tmp_path,
        """<testsuites><testsuite name="outer" file="test/a.ts"><testsuite name="inner">
        <testcase name="one" line="12"/></testsuite><testcase name="two" file="b.ts" line="x"/>
        </testsuite><testcase name="three"/></testsuites>""",
    )
    assert [(run.suites, run.file, run.line) for run in runs] == [
        (("outer", "inner"), "test/a.ts", 12),
        (("outer",), "b.ts", None),
        ((), None, None),
    ]


def test_an_empty_report_has_no_runs(tmp_path: Path) -> None:
    assert read(tmp_path, "<testsuites/>") == []


def test_other_encodings_are_read(tmp_path: Path) -> None:
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><testsuite><testcase name="é"/></testsuite>'
    assert read(tmp_path, text.encode("latin-1"))[0].name == "é"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no element found"),
        ("not xml", "syntax error"),
        ("<testsuite>\n<testcase>", ":2 is no XML"),
        ("<html><body/></html>", "its root is <html>"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><testsuite/>', "document type"),
        ('<!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>', "document type"),
    ],
)
def test_what_is_no_report_is_an_error_that_names_the_line(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert words in caught.value.message
    assert "junit.xml:" in caught.value.message


def test_entities_are_never_expanded(tmp_path: Path) -> None:
    bomb = '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    with pytest.raises(UsageError, match="document type"):
        read(tmp_path, f'{bomb}<testsuite><testcase name="&b;"/></testsuite>')


def test_a_report_that_nests_too_deep_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nests deeper than 64"):
        read(tmp_path, "<testsuites>" + "<testsuite>" * 64)


def test_bytes_and_runs_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "<testsuite>" + '<testcase name="t"/>' * 50 + "</testsuite>"
    monkeypatch.setattr(junit, "MAX_RUNS", 49)
    with pytest.raises(UsageError, match="more than 49 test cases"):
        read(tmp_path, text)
    monkeypatch.setattr(junit, "MAX_BYTES", 100)
    with pytest.raises(UsageError, match="longer than 100 bytes"):
        read(tmp_path, text)


def test_runs_come_as_they_are_read_and_those_before_a_break_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "junit.xml"
    path.write_text("<testsuite>" + '<testcase name="t"/>' * 20_000 + "<testcase")
    runs = read_junit(path)
    assert next(runs).name == "t"
    with pytest.raises(UsageError, match="is no XML"):
        list(runs)


def test_a_missing_report_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read"):
        list(read_junit(tmp_path / "absent.xml"))
