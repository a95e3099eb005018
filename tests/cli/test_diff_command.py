"""`clausewise diff`: what it prints, and how it exits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import jsonschema_rs
import pytest

from clausewise.report.comparison import schema

Clausewise = Callable[..., CompletedProcess[str]]


@pytest.fixture
def results(clausewise: Clausewise, sound_trace: Path, broken_trace: Path) -> tuple[str, str]:
    """Stored results of a sound session and of a faulty one."""
    for name, trace in (("sound", sound_trace), ("faulty", broken_trace)):
        clausewise("validate", str(trace), "--report", f"json={name}.json", "-q")
    return "sound.json", "faulty.json"


def test_what_broke_is_shown_and_exits_with_1(
    clausewise: Clausewise, results: tuple[str, str]
) -> None:
    sound, faulty = results
    done = clausewise("diff", sound, faulty)
    assert done.returncode == 1
    assert "Broke\n  BASE-003  MUST NOT  pass → fail" in done.stdout
    assert "      now: base.request-id-unique: " in done.stdout


def test_what_was_fixed_is_shown_and_exits_with_0(
    clausewise: Clausewise, results: tuple[str, str]
) -> None:
    sound, faulty = results
    done = clausewise("diff", faulty, sound)
    assert done.returncode == 0
    assert "Fixed\n  BASE-003  MUST NOT  fail → pass" in done.stdout
    assert "      no more: base.request-id-unique: " in done.stdout
    assert done.stdout.rstrip().endswith("nothing broke")


def test_the_json_fits_the_shipped_schema_and_the_format_does_not_change_the_code(
    clausewise: Clausewise, results: tuple[str, str]
) -> None:
    done = clausewise("diff", *results, "--format", "json")
    assert done.returncode == 1
    record = json.loads(done.stdout)
    jsonschema_rs.Draft202012Validator(schema(), offline=True).validate(record)
    broke = [each for each in record["differences"] if each["change"] == "broke"]
    assert {"BASE-003"} <= {each["id"] for each in broke}


def test_the_markdown_is_a_table_of_before_and_after(
    clausewise: Clausewise, results: tuple[str, str]
) -> None:
    lines = clausewise("diff", *results, "--format", "markdown").stdout.splitlines()
    assert lines[:2] == ["| | before | after |", "|---|---|---|"]
    assert any(line.startswith("| broken MUST | 0 | ") for line in lines)


def test_text_of_the_target_cannot_act_on_a_terminal(
    clausewise: Clausewise, results: tuple[str, str]
) -> None:
    sound, faulty = results
    text = Path(faulty).read_text()
    record = json.loads(text)
    for verdict in record["results"]:
        for finding in verdict["findings"]:
            finding["message"] = "\x1b[31m<b>@all"
    Path(faulty).write_text(json.dumps(record))
    assert "\x1b" not in clausewise("diff", sound, faulty).stdout
    assert "\\<b\\>@<!-- -->all" in clausewise("diff", sound, faulty, "--format", "markdown").stdout


def test_a_missing_file_is_a_usage_error(clausewise: Clausewise, results: tuple[str, str]) -> None:
    done = clausewise("diff", results[0], "missing.json")
    assert done.returncode == 2
    assert "cannot read missing.json" in done.stderr
