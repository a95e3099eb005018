"""`clausewise replay`: what it prints, and how it exits."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import jsonschema_rs
import pytest

from clausewise.report.json import schema

Clausewise = Callable[..., CompletedProcess[str]]

SERVER = (sys.executable, "-m", "clausewise", "reference", "server", "--stdio")


@pytest.fixture
def recording(clausewise: Clausewise) -> str:
    """The session of a check of the rules on caching, which needs few requests."""
    clausewise("check", "--select", "MCP-CAC", "--save-trace", "s.jsonl", "-q", "--", *SERVER)
    return "s.jsonl"


def test_a_server_replays_its_own_session_as_recorded(
    clausewise: Clausewise, recording: str
) -> None:
    done = clausewise("replay", recording, "--exact", "--save-trace", "again.jsonl", "--", *SERVER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "answers as recorded" in done.stdout
    assert clausewise("validate", "again.jsonl").returncode == 0


def test_the_json_has_each_answer_and_fits_the_schema(
    clausewise: Clausewise, recording: str
) -> None:
    done = clausewise("replay", recording, "--format", "json", "--", *SERVER)
    record = json.loads(done.stdout)
    jsonschema_rs.Draft202012Validator(schema(), offline=True).validate(record)
    assert record["command"] == "replay"
    assert all(answer["differences"] == [] for answer in record["answers"])
    Path("r.json").write_text(done.stdout)
    again = clausewise("report", "r.json", "--format", "json")
    assert json.loads(again.stdout) == record


def test_a_difference_is_shown_and_counts_only_with_exact(
    clausewise: Clausewise, recording: str
) -> None:
    legacy = (*SERVER, "--era", "legacy")
    done = clausewise("replay", recording, "--", *legacy)
    assert done.returncode == 0
    assert " → " in done.stdout
    assert clausewise("replay", recording, "--exact", "--", *legacy).returncode == 1


def test_a_missing_target_is_a_usage_error(clausewise: Clausewise, recording: str) -> None:
    done = clausewise("replay", recording)
    assert done.returncode == 2
    assert "no target for `clausewise replay`" in done.stderr


def test_a_recording_that_is_not_there_is_exit_3(clausewise: Clausewise) -> None:
    done = clausewise("replay", "missing.jsonl", "--", *SERVER)
    assert done.returncode == 3
    assert "missing.jsonl" in done.stderr


def test_a_recording_beyond_its_bounds_is_refused_with_the_option_that_raises_them(
    clausewise: Clausewise, recording: str
) -> None:
    done = clausewise("replay", recording, "--max-events", "3", "--", *SERVER)
    assert done.returncode == 3
    assert "more than 3 events" in done.stderr
    assert "--max-events" in done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [((), "deeper than 500 levels"), (("--max-depth", "5000"), "nests too deeply")],
)
def test_a_message_that_nests_too_deeply_to_be_sent_again_is_named(
    clausewise: Clausewise, options: tuple[str, ...], told: str
) -> None:
    nested = '{"a":' * 980 + "1" + "}" * 980
    start = '"direction":"client-to-server","transport":"stdio","kind":"message","payload":'
    message = f'{{"jsonrpc":"2.0","id":1,"method":"ping","params":{nested}}}'
    Path("deep.jsonl").write_text(f'{{"seq":0,{start}{message}}}\n')
    done = clausewise("replay", "deep.jsonl", *options, "--", *SERVER)
    assert done.returncode == 3, done.stderr
    assert told in done.stderr
