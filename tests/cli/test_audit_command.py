"""`clausewise audit` as a person and a pipeline run it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Run = Callable[..., CompletedProcess[str]]

CONFIG = """
[audit]
title = "notes"
[[audit.tests]]
sources = ["test_ids.py"]
reports = ["junit.xml"]
[[audit.replay]]
traces = ["sound.jsonl"]
"""


@pytest.fixture
def project(tmp_path: Path, sound_trace: Path) -> Path:
    assert sound_trace.parent == tmp_path
    (tmp_path / "clausewise.toml").write_text(CONFIG)
    (tmp_path / "test_ids.py").write_text("# clause: BASE-013\ndef test_schemas(): ...\n")
    report(tmp_path, "")
    return tmp_path


def report(project: Path, inside: str) -> None:
    case = f'<testcase classname="test_ids" name="test_schemas">{inside}</testcase>'
    (project / "junit.xml").write_text(f"<testsuite>{case}</testsuite>")


def test_it_prints_the_tally_and_exits_with_0(clausewise: Run, project: Path) -> None:
    run = clausewise("audit")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("clausewise audit · notes\nserver · 2025-11-25\n")
    assert "verdict: 0 non-conformant" in run.stdout


def test_a_failing_test_of_a_must_exits_with_1(clausewise: Run, project: Path) -> None:
    report(project, "<failure/>")
    run = clausewise("audit")
    assert run.returncode == 1
    assert "NON-CONFORMANT BASE-013  MUST" in run.stdout
    assert "fail  test test_ids.py:1" in run.stdout
    assert clausewise("audit", "--fail-on", "never").returncode == 0


def test_the_page_is_written_checked_and_found_stale(clausewise: Run, project: Path) -> None:
    stale = clausewise("audit", "--check", "-q")
    assert stale.returncode == 1
    assert "stale: " in stale.stderr
    written = clausewise("audit", "--write")
    assert written.returncode == 0
    assert "docs/CONFORMANCE.md and " in written.stderr
    assert (project / "docs" / "CONFORMANCE.json").is_file()
    assert clausewise("audit", "--check").returncode == 0
    report(project, "<failure/>")
    fallen = clausewise("audit", "--check", "-q")
    assert fallen.returncode == 1
    assert "fell: BASE-013 was conformant, is non-conformant" in fallen.stderr


def test_a_known_fault_does_not_fail_the_check(clausewise: Run, project: Path) -> None:
    report(project, "<failure/>")
    assert clausewise("audit", "--write").returncode == 1
    assert clausewise("audit", "--check").returncode == 0


def test_the_page_may_be_elsewhere(clausewise: Run, project: Path) -> None:
    assert clausewise("audit", "--write", "PAGE.md").returncode == 0
    assert (project / "PAGE.md").read_text().startswith("# Conformance: notes\n")
    assert json.loads((project / "PAGE.json").read_text())["schema"] == "clausewise.matrix/1"


def test_a_lost_test_is_told(clausewise: Run, project: Path) -> None:
    clausewise("audit", "--write")
    (project / "test_ids.py").write_text("def test_schemas(): ...\n")
    told = clausewise("audit", "-q").stderr
    assert "lost: BASE-013 was shown by test_schemas at test_ids.py:1" in told


def test_much_that_fell_is_told_in_part(clausewise: Run, project: Path) -> None:
    clausewise("audit", "--write")
    (project / "clausewise.toml").write_text(CONFIG[: CONFIG.index("[[audit.replay]]")])
    record = json.loads((project / "docs" / "CONFORMANCE.json").read_text())
    for row in record["rows"]:
        row["verdict"] = "conformant"
    (project / "docs" / "CONFORMANCE.json").write_text(json.dumps(record))
    lines = clausewise("audit", "-q").stderr.splitlines()
    assert lines[-1].endswith("more fell or are lost")
    assert len(lines) == 21


@pytest.mark.parametrize(
    ("format_", "start"),
    [("json", "{"), ("markdown", "# Conformance: notes"), ("html", "<!doctype html>")],
)
def test_other_formats(clausewise: Run, project: Path, format_: str, start: str) -> None:
    assert clausewise("audit", "--format", format_).stdout.startswith(start)


def test_another_configuration_may_be_named(clausewise: Run, project: Path) -> None:
    (project / "clausewise.toml").rename(project / "other.toml")
    assert clausewise("audit", "--config", "other.toml").returncode == 0
    assert clausewise("audit").returncode == 2


def test_nothing_decided_exits_with_3(clausewise: Run, project: Path) -> None:
    (project / "clausewise.toml").write_text("[audit]\n")
    run = clausewise("audit", "--check", "-q")
    assert run.returncode == 3
    assert "no evidence shows anything" in run.stdout


@pytest.mark.parametrize("options", [("-q", "-v"), ("--check", "--write")])
def test_options_that_contradict_each_other(
    clausewise: Run, project: Path, options: tuple[str, ...]
) -> None:
    assert clausewise("audit", *options).returncode == 2


def test_help_teaches_the_configuration_and_the_exit_codes(clausewise: Run) -> None:
    text = clausewise("audit", "--help").stdout
    for words in ("[[audit.tests]]", "[[audit.deviations]]", "clause: BASE-003", "Exit codes"):
        assert words in text


def test_the_help_configuration_is_valid(clausewise: Run, tmp_path: Path) -> None:
    text = clausewise("audit", "--help").stdout
    lines = text[text.index("  [audit]\n") : text.index("Examples:")].splitlines()
    (tmp_path / "clausewise.toml").write_text("\n".join(line.strip() for line in lines))
    run = clausewise("audit")
    assert run.returncode == 2
    assert "no file fits" in run.stderr, "it is read, and only its files are missing"
