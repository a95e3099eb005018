"""`clausewise validate`, `clausewise report`, settings and baselines, from the command line."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any, TypeAlias
from xml.etree import ElementTree as ET

import jsonschema_rs
import pytest

from clausewise.app.config import SETTINGS
from clausewise.cli import check, report, validate
from clausewise.report.formats import Format
from clausewise.report.json import schema

Run: TypeAlias = Callable[..., CompletedProcess[str]]


def failing(text: str) -> list[str]:
    return [r["id"] for r in json.loads(text)["results"] if r["outcome"] == "fail"]


def test_a_sound_trace_passes(clausewise: Run, sound_trace: Path) -> None:
    ran = clausewise("validate", str(sound_trace))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.endswith("verdict: pass (nothing at or above --fail-on must)\n")


def test_a_broken_trace_fails_and_names_clause_party_and_place(
    clausewise: Run, broken_trace: Path
) -> None:
    ran = clausewise("validate", str(broken_trace), "--format", "json")
    assert (ran.returncode, ran.stderr) == (1, "")
    result = json.loads(ran.stdout)
    jsonschema_rs.Draft202012Validator(schema(), offline=True).validate(result)
    assert failing(ran.stdout) == ["BASE-003"]
    (found,) = [f for r in result["results"] if r["id"] == "BASE-003" for f in r["findings"]]
    assert (found["party"], found["at"]) == ("client", {"trace": str(broken_trace), "seq": 6})
    assert "started" not in result
    assert result["target"] == {
        "kind": "trace",
        "name": str(broken_trace),
        "server": {"name": "server", "version": "1"},
    }


@pytest.mark.parametrize("format_", list(Format))
def test_the_format_never_changes_the_exit_code(
    clausewise: Run, sound_trace: Path, broken_trace: Path, format_: Format
) -> None:
    assert clausewise("validate", str(sound_trace), "--format", format_.value).returncode == 0
    assert clausewise("validate", str(broken_trace), "--format", format_.value).returncode == 1


@pytest.mark.parametrize("format_", list(Format))
def test_the_same_trace_gives_the_same_bytes(
    clausewise: Run, broken_trace: Path, format_: Format
) -> None:
    arguments = ("validate", str(broken_trace), "--format", format_.value)
    first, second = clausewise(*arguments), clausewise(*arguments)
    assert first.stdout
    assert first.stdout == second.stdout


def test_several_traces_are_one_result_whose_findings_name_their_trace(
    clausewise: Run, sound_trace: Path, broken_trace: Path
) -> None:
    def reused(*traces: Path) -> dict[str, Any]:
        ran = clausewise("validate", *map(str, traces), "--format", "jsonl")
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        assert len({line["id"] for line in lines}) == len(lines)
        (found,) = [line for line in lines if line["id"] == "BASE-003"]
        assert isinstance(found, dict)
        return found

    both = reused(sound_trace, broken_trace)
    assert both["outcome"] == "fail"
    assert both["occasions"] == sum(reused(t)["occasions"] for t in (sound_trace, broken_trace))
    assert [f["at"]["trace"] for f in both["findings"]] == [str(broken_trace)]


def test_a_trace_is_read_from_standard_input(
    clausewise: Run, broken_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = SimpleNamespace(buffer=io.BytesIO(broken_trace.read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    ran = clausewise("validate", "-", "--format", "json")
    assert (ran.returncode, failing(ran.stdout)) == (1, ["BASE-003"])


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "has no events"),
        (b"\n\n", "has no events"),
        (b'{"kind":"trace","version":1}\n', "has no events"),
        (b"nonsense\n", ":1: no JSON"),
        (b"[" * 100_000 + b"\n", ":1: no JSON: nested too deeply"),
    ],
)
def test_a_trace_without_anything_to_judge_is_exit_3(
    clausewise: Run, tmp_path: Path, content: bytes, complaint: str
) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    ran = clausewise("validate", str(path))
    assert (ran.returncode, ran.stdout) == (3, "")
    assert complaint in ran.stderr


def test_a_trace_that_cannot_be_opened_is_exit_3(clausewise: Run, tmp_path: Path) -> None:
    ran = clausewise("validate", "none.jsonl")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "cannot read none.jsonl: No such file" in ran.stderr
    assert "no recording in the folder" in clausewise("validate", str(tmp_path)).stderr
    assert "no file fits the pattern" in clausewise("validate", "*.jsonl").stderr


def test_selecting_what_was_not_observed_is_exit_3(clausewise: Run, sound_trace: Path) -> None:
    ran = clausewise("validate", str(sound_trace), "--revision", "2026-07-28")
    assert ran.returncode == 3
    assert "nothing was judged" in ran.stderr


def test_a_bad_line_ends_the_run_unless_it_is_to_keep_going(
    clausewise: Run, broken_trace: Path
) -> None:
    lines = broken_trace.read_text().splitlines(keepends=True)
    broken_trace.write_text("".join([*lines[:5], "{nonsense\n", *lines[5:]]))
    stopped = clausewise("validate", str(broken_trace))
    assert stopped.returncode == 3
    assert f"{broken_trace}:6: no JSON" in stopped.stderr
    assert "--keep-going" in stopped.stderr
    going = clausewise("validate", str(broken_trace), "--keep-going", "--format", "json")
    assert (going.returncode, failing(going.stdout)) == (1, ["BASE-003"])
    assert f"{broken_trace}:6: skipped: no JSON" in json.loads(going.stdout)["notes"][0]


def test_an_unreadable_file_among_others_is_skipped_when_it_is_to_keep_going(
    clausewise: Run, sound_trace: Path
) -> None:
    assert clausewise("validate", str(sound_trace), "none").returncode == 3
    ran = clausewise("validate", str(sound_trace), "none", "--keep-going")
    assert ran.returncode == 0
    assert "not judged: cannot read none" in ran.stdout
    nothing = clausewise("validate", "none", "neither", "--keep-going")
    assert nothing.returncode == 3
    assert "no trace could be judged" in nothing.stderr


def test_a_recording_cut_off_in_mid_line_is_judged_and_told(
    clausewise: Run, broken_trace: Path
) -> None:
    broken_trace.write_bytes(broken_trace.read_bytes() + b'{"seq": 9, "dir')
    ran = clausewise("validate", str(broken_trace), "--format", "json")
    assert (ran.returncode, failing(ran.stdout)) == (1, ["BASE-003"])
    assert "stops in mid-line" in json.loads(ran.stdout)["notes"][0]


def test_a_line_beyond_the_bound_is_a_bad_line_and_only_that(
    clausewise: Run, sound_trace: Path
) -> None:
    lines = sound_trace.read_bytes()
    sound_trace.write_bytes(b" " * 5000 + b'{"seq": 0}\n' + lines)
    bound = ("--max-line-bytes", "1000")
    assert "longer than 1000 bytes" in clausewise("validate", str(sound_trace), *bound).stderr
    going = clausewise("validate", str(sound_trace), *bound, "--keep-going", "--format", "json")
    assert going.returncode == 0
    assert json.loads(going.stdout)["notes"] == [
        f"{sound_trace}:1: skipped: longer than 1000 bytes"
    ]


def test_more_events_than_allowed_are_refused(clausewise: Run, sound_trace: Path) -> None:
    ran = clausewise("validate", str(sound_trace), "--max-events", "3")
    assert ran.returncode == 3
    assert "more than 3 events" in ran.stderr


def test_the_party_that_is_not_asked_for_is_not_judged(clausewise: Run, broken_trace: Path) -> None:
    assert clausewise("validate", str(broken_trace), "--party", "client").returncode == 1
    assert clausewise("validate", str(broken_trace), "--party", "server").returncode == 0


def test_the_lowest_level_leaves_out_what_is_below(clausewise: Run, sound_trace: Path) -> None:
    ran = clausewise("validate", str(sound_trace), "--level", "must", "--format", "json")
    assert {r["level"] for r in json.loads(ran.stdout)["results"]} == {"MUST", "MUST NOT"}


def test_select_and_ignore_take_ids_with_commas_and_repeated(
    clausewise: Run, broken_trace: Path
) -> None:
    def ids(*options: str) -> list[str]:
        ran = clausewise("validate", str(broken_trace), "--format", "json", *options)
        return [r["id"] for r in json.loads(ran.stdout)["results"]]

    assert ids("--select", "base-001,BASE-003") == ["BASE-001", "BASE-003"]
    assert ids("--select", "BASE-001", "--select", "BASE-003") == ["BASE-001", "BASE-003"]
    assert "BASE-003" not in ids("--ignore", "BASE-003")


def test_reports_go_to_files_beside_standard_output(clausewise: Run, broken_trace: Path) -> None:
    options = [f"--report={format_.value}=report.{format_.value}" for format_ in Format]
    ran = clausewise("validate", str(broken_trace), "--color", "always", "-q", *options)
    assert ran.returncode == 1
    assert len(ran.stdout.splitlines()) == 2
    result = json.loads(Path("report.json").read_text())
    assert len(Path("report.jsonl").read_text().splitlines()) == len(result["results"])
    assert ET.parse("report.junit").getroot().tag == "testsuites"
    assert Path("report.markdown").read_text().startswith("# clausewise validate: fail\n")
    human = Path("report.human").read_text()
    assert "BASE-003" in human
    assert "\x1b" not in human


def test_a_report_that_cannot_be_written_is_a_usage_error(
    clausewise: Run, sound_trace: Path
) -> None:
    ran = clausewise("validate", str(sound_trace), "--report", "json=no/such/folder.json")
    assert ran.returncode == 2
    assert "cannot write the report no/such/folder.json" in ran.stderr


@pytest.mark.parametrize("format_", list(Format))
def test_a_stored_result_renders_as_the_run_did(
    clausewise: Run, broken_trace: Path, format_: Format
) -> None:
    ran = clausewise(
        "validate", str(broken_trace), "--report", "json=r.json", "--format", format_.value
    )
    again = clausewise("report", "r.json", "--format", format_.value)
    assert (again.returncode, again.stdout) == (ran.returncode, ran.stdout)


def test_what_is_no_stored_result_is_a_usage_error(clausewise: Run, sound_trace: Path) -> None:
    assert clausewise("report", "none.json").returncode == 2
    ran = clausewise("report", str(sound_trace))
    assert ran.returncode == 2
    assert "is no JSON" in ran.stderr


@pytest.mark.parametrize(
    ("options", "environ", "coloured"),
    [
        ((), {}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ((), {"CLAUSEWISE_COLOR": "always"}, True),
    ],
)
def test_colours_follow_option_then_no_color_then_force_color(
    clausewise: Run,
    broken_trace: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: tuple[str, ...],
    environ: dict[str, str],
    coloured: bool,
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in clausewise("validate", str(broken_trace), *options).stdout) is coloured


def test_the_command_line_comes_before_variables_and_they_before_the_file(
    clausewise: Run, broken_trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def code(*options: str) -> int:
        return clausewise("validate", str(broken_trace), *options).returncode

    assert code() == 1
    Path("clausewise.toml").write_text('fail-on = "never"\n')
    assert code() == 0
    monkeypatch.setenv("CLAUSEWISE_FAIL_ON", "should")
    assert code() == 1
    assert code("--fail-on", "never") == 0


def test_lists_and_formats_come_from_the_file_too(clausewise: Run, broken_trace: Path) -> None:
    Path("pyproject.toml").write_text(
        '[tool.clausewise]\nselect = ["BASE-001", "BASE-003"]\nformat = "jsonl"\n'
    )
    ran = clausewise("validate", str(broken_trace))
    assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == ["BASE-001", "BASE-003"]


def test_an_unknown_key_is_an_error_but_never_for_help(clausewise: Run, sound_trace: Path) -> None:
    Path("clausewise.toml").write_text('fail_on = "never"\n')
    ran = clausewise("validate", str(sound_trace))
    assert ran.returncode == 2
    assert "unknown key 'fail_on'\nhint: Did you mean fail-on?" in ran.stderr
    assert clausewise("validate", "--help").returncode == 0


def test_every_setting_is_an_option_of_some_command() -> None:
    commands: list[Any] = [check.command, validate.command, report.command]
    options = {
        option.removeprefix("--")
        for command in commands
        for parameter in command.params
        for option in parameter.opts
    }
    assert set(SETTINGS) <= options


def test_a_baseline_lets_known_findings_pass_and_tells_stale_entries(
    clausewise: Run, broken_trace: Path, sound_trace: Path
) -> None:
    written = clausewise("validate", str(broken_trace), "--write-baseline", "known.json")
    assert written.returncode == 0
    assert "wrote 1 entry to known.json" in written.stderr
    known = ("--baseline", "known.json")
    assert clausewise("validate", str(broken_trace)).returncode == 1
    with_it = clausewise("validate", str(broken_trace), *known)
    assert (with_it.returncode, with_it.stderr) == (0, "")
    stale = clausewise("validate", str(sound_trace), *known)
    assert stale.returncode == 0
    assert "stale in the baseline: BASE-003 base.request-id-unique" in stale.stderr


@pytest.mark.parametrize("format_", [Format.HUMAN, Format.JSON])
def test_two_processes_with_other_hash_seeds_give_the_same_bytes(
    broken_trace: Path, format_: Format
) -> None:
    def printed(seed: str) -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "clausewise", "validate", "t.jsonl", "--format", format_.value],
            cwd=broken_trace.parent,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=False,
            capture_output=True,
        )
        assert (done.returncode, done.stderr) == (1, b"")
        return done.stdout

    broken_trace.rename(broken_trace.parent / "t.jsonl")
    assert printed("1") == printed("2")
