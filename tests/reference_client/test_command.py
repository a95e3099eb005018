"""The command `clausewise reference client`."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema_rs import Draft202012Validator

from clausewise.reference.client.defects import list_defects
from tests.reference_client.workout import ANSWERS, BOTH_ERAS

SERVER = ("--", sys.executable, "-m", "clausewise", "reference", "server", "--stdio")
ECHO = '[[step]]\ndo = "call"\ntool = "echo"\narguments = { text = "hi" }\n'
HI = 'expect = { "/result/content/0/text" = "hi" }\n'
BYE = 'expect = { "/result/content/0/text" = "bye" }\n'


def run(*arguments: str, script: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "clausewise", "reference", "client", *arguments],
        input=script,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_script_is_played_and_a_difference_is_exit_1() -> None:
    right = run("--script", "-", *SERVER, script=ECHO + HI)
    assert (right.returncode, right.stderr) == (0, "")
    first, step, last = right.stdout.splitlines()
    assert first.startswith("connected to clausewise-reference")
    assert step == '  ok   1  call echo  "hi"'
    assert last == "1 step, 0 not as expected"
    wrong = run("--script", "-", *SERVER, script=ECHO + BYE)
    assert wrong.returncode == 1
    assert 'FAIL   1  call echo\n          /result/content/0/text is "hi"; expected "bye"\n' in (
        wrong.stdout
    )


def test_the_tour_names_what_it_used_and_keeps_the_recording(tmp_path: Path) -> None:
    trace = tmp_path / "tour.jsonl"
    toured = run("--era", "legacy", "--save-trace", str(trace), *SERVER)
    assert toured.returncode == 0, toured.stdout
    assert "call echo" in toured.stdout
    assert "touch_counter" not in toured.stdout
    judged = subprocess.run(
        [sys.executable, "-m", "clausewise", "validate", str(trace), "--format", "json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert judged.returncode == 0
    assert json.loads(judged.stdout)["verdict"] == "pass"


def test_a_tool_that_may_change_something_is_called_when_it_is_named() -> None:
    toured = run("--call-tool", "touch_counter", "--arguments", "{}", *SERVER)
    assert "call touch_counter" in toured.stdout


def test_each_line_of_jsonl_fits_the_schema_that_is_shipped() -> None:
    folder = files("clausewise.report") / "schemas"
    schema = json.loads((folder / "client-step-1.schema.json").read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    played = run("--format", "jsonl", "--script", "-", *SERVER, script=ANSWERS + BOTH_ERAS)
    assert played.returncode == 0
    records = [json.loads(line) for line in played.stdout.splitlines()]
    assert [record["step"] for record in records] == list(range(1, len(records) + 1))
    for record in records:
        validator.validate(record)
    assert played.stderr.startswith("connected to clausewise-reference")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--script", "no-such-file.toml", *SERVER), "cannot read the script"),
        (("--arguments", "{}", *SERVER), "--arguments without --call-tool"),
        (("--call-tool", "t", "--arguments", "[]", *SERVER), "no JSON object"),
        (("--call-tool", "t", "--arguments", "{", *SERVER), "--arguments is no JSON"),
        (("--defect", "no-such", *SERVER), "unknown defect 'no-such'"),
        (("--oauth", *SERVER), "--oauth is for a URL"),
        ((), "no target"),
    ],
)
def test_what_cannot_be_used_is_told_and_exit_2(arguments: tuple[str, ...], said: str) -> None:
    refused = run(*arguments)
    assert refused.returncode == 2
    assert said in refused.stderr


def test_a_server_that_is_not_there_is_exit_3() -> None:
    absent = run("http://127.0.0.1:9/mcp")
    assert absent.returncode == 3
    assert "no connection to 127.0.0.1 port 9" in absent.stderr


def test_every_defect_is_listed_with_its_clauses() -> None:
    listed = run("--list-defects").stdout
    for defect in list_defects():
        assert f"{defect.name}  [" in listed
    assert "no-initialized-notification  [LIFE-003]" in listed


def test_a_defect_is_in_the_recording(tmp_path: Path) -> None:
    trace = tmp_path / "faulty.jsonl"
    options = ("--era", "legacy", "--defect", "null-request-id", "--save-trace", str(trace))
    run(*options, "--script", "-", *SERVER, script='[[step]]\ndo = "list"\nwhat = "tools"\n')
    judged = subprocess.run(
        [sys.executable, "-m", "clausewise", "validate", str(trace)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert judged.returncode == 1
    assert "BASE-002" in judged.stdout


def test_the_help_teaches_by_example() -> None:
    told = run("--help").stdout
    for part in ("--script session.toml", "[[step]]", "docs/reference-client.md", "--oauth"):
        assert part in told
