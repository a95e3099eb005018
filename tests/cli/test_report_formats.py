"""Every format for every command that judges: on standard output, to a file, and again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import TypeAlias
from xml.etree import ElementTree as ET

import pytest
from tests.cli.test_check_list import reference

from clausewise.report.formats import Format

Run: TypeAlias = Callable[..., CompletedProcess[str]]

STORED = [format_ for format_ in Format if format_ is not Format.HUMAN]
BEGINS = {
    Format.JSON: '{\n  "schema": "clausewise.result/1"',
    Format.JSONL: '{"',
    Format.JUNIT: "<?xml ",
    Format.MARKDOWN: "# clausewise validate: fail",
    Format.SARIF: '{\n  "$schema": "https://docs.oasis-open.org/sarif/',
    Format.GITHUB: "::error file=",
    Format.HTML: "<!doctype html>\n",
}


@pytest.mark.parametrize("format_", STORED)
def test_validate_writes_it_alike_to_output_and_file(
    clausewise: Run, broken_trace: Path, tmp_path: Path, format_: Format
) -> None:
    path = tmp_path / "out"
    ran = clausewise(
        "validate", str(broken_trace), "--format", format_.value, "--report", f"{format_}={path}"
    )
    assert ran.returncode == 1
    assert ran.stdout.startswith(BEGINS[format_])
    assert path.read_text("utf-8") == ran.stdout
    assert "BASE-003" in ran.stdout


@pytest.mark.parametrize("format_", STORED)
def test_a_stored_result_is_rendered_as_by_the_run_itself(
    clausewise: Run, broken_trace: Path, format_: Format
) -> None:
    first = clausewise(
        "validate", str(broken_trace), "--report", "json=r.json", "--format", format_.value
    )
    again = clausewise("report", "r.json", "--format", format_.value)
    assert (again.returncode, again.stdout) == (1, first.stdout)


def test_check_writes_all_formats_at_once(clausewise: Run, tmp_path: Path) -> None:
    reports = [f"--report={format_}={tmp_path / format_}" for format_ in STORED]
    with reference() as url:
        ran = clausewise("check", url, "--select", "MCP-DSC", *reports, "--format", "github")
    assert ran.returncode == 0
    assert ran.stdout == (tmp_path / "github").read_text()
    log = json.loads((tmp_path / "sarif").read_text())
    assert log["runs"][0]["results"] == []
    assert log["runs"][0]["properties"]["era"] == "dual"
    assert len(ET.parse(tmp_path / "junit").getroot()) > 0
    assert url in (tmp_path / "html").read_text()
