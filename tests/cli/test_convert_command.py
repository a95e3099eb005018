"""`clausewise convert`: traces made of HAR files and Inspector exports."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest
from tests.trace.har_notation import STREAM, URL, entry, events, handshake, har
from tests.trace.test_inspector import OPENING

Run: TypeAlias = Callable[..., CompletedProcess[str]]
STREAMING = entry(
    *(10, {"id": 1, "method": "ping"}), kind=STREAM, answer=events({"id": 1, "result": {}})
)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """A HAR of a short session."""
    path = tmp_path / "s.har"
    path.write_bytes(har(*handshake(), STREAMING))
    return path


def verdicts(clausewise: Run, name: str) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = json.loads(
        clausewise("validate", name, "--format", "json").stdout
    )["results"]
    return [{**result, "findings": len(result["findings"])} for result in results]


def test_a_converted_recording_is_judged_as_the_recording_itself(
    clausewise: Run, archive: Path
) -> None:
    ran = clausewise("convert", "s.har", "-o", "s.jsonl")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr.startswith("note: a HAR does not show when the events of a stream came")
    assert ran.stderr.endswith("wrote 12 events to s.jsonl\n")
    assert verdicts(clausewise, "s.jsonl") == verdicts(clausewise, "s.har")


def test_the_first_line_tells_where_the_trace_comes_from(clausewise: Run, archive: Path) -> None:
    ran = clausewise("convert", "s.har")
    header, first, *_ = map(json.loads, ran.stdout.splitlines())
    assert (header["kind"], header["source"]) == ("trace", "har")
    assert (first["seq"], first["method"], first["exchange"]) == (0, "POST", 0)


def test_the_same_recording_gives_the_same_bytes(clausewise: Run, archive: Path) -> None:
    assert clausewise("convert", "s.har").stdout == clausewise("convert", "s.har").stdout


def test_standard_input_and_compressed_files_are_read(
    clausewise: Run, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = clausewise("convert", "s.har").stdout
    Path("s.har.gz").write_bytes(gzip.compress(archive.read_bytes()))
    assert clausewise("convert", "s.har.gz").stdout == plain
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(archive.read_bytes())))
    assert clausewise("convert", "-", "-q").stdout == plain


def test_an_inspector_export_is_converted(clausewise: Run) -> None:
    Path("p.json").write_text(json.dumps(OPENING))
    ran = clausewise("convert", "p.json", "--transport", "stdio")
    lines = [json.loads(line) for line in ran.stdout.splitlines()]
    assert lines[0]["source"] == "inspector"
    assert [line["transport"] for line in lines[1:]] == ["stdio"] * 3
    ran = clausewise("convert", "p.json", "-q", "--from", "inspector")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert clausewise("validate", "p.json").returncode == 0


def test_one_endpoint_of_several_is_chosen(clausewise: Run, archive: Path) -> None:
    other = [
        {**made, "request": {**made["request"], "url": "http://b/mcp"}} for made in handshake()
    ]
    archive.write_bytes(har(*handshake(), *other))
    ran = clausewise("convert", "s.har")
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "Choose one with --endpoint URL." in ran.stderr
    assert len(clausewise("convert", "s.har", "--endpoint", URL).stdout.splitlines()) == 8
    assert clausewise("validate", "s.har", "--endpoint", URL).returncode == 0


def test_what_is_no_foreign_recording_is_refused_and_nothing_is_written(
    clausewise: Run, sound_trace: Path
) -> None:
    ran = clausewise("convert", "sound.jsonl", "-o", "out.jsonl")
    assert ran.returncode == 2
    assert "is neither a HAR nor an Inspector export" in ran.stderr
    ran = clausewise("convert", "sound.jsonl", "--from", "har", "-o", "out.jsonl")
    assert (ran.returncode, "no JSON" in ran.stderr) == (3, True)
    assert not Path("out.jsonl").exists()
    assert clausewise("convert", "none.har").returncode == 3


def test_a_trace_that_cannot_be_written_says_why(clausewise: Run, archive: Path) -> None:
    ran = clausewise("convert", "s.har", "-o", "no/such/out.jsonl")
    assert ran.returncode == 2
    assert "cannot write the trace no/such/out.jsonl: No such file" in ran.stderr


def test_a_message_too_deep_to_be_written_is_named(clausewise: Run) -> None:
    deep: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {}}
    text = json.dumps([{**OPENING[0], "message": deep}])
    Path("p.json").write_text(text.replace('"params": {}', '"params": ' + "[" * 985 + "]" * 985))
    ran = clausewise("convert", "p.json", "-o", "out.jsonl")
    assert ran.returncode in (0, 3)
    assert Path("out.jsonl").exists() == (ran.returncode == 0)
    assert "fault of Clausewise" not in ran.stderr
