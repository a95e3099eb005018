"""`clausewise validate` on files of every kind, on many at a time, and within limits."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, TypeAlias

import jsonschema_rs
import pytest
from backports import zstd
from tests.trace.har_notation import entry, handshake, har

from clausewise.report.formats import Format
from clausewise.report.json import schema

Run: TypeAlias = Callable[..., CompletedProcess[str]]


def result_of(ran: CompletedProcess[str]) -> dict[str, Any]:
    result = json.loads(ran.stdout)
    jsonschema_rs.Draft202012Validator(schema(), offline=True).validate(result)
    assert isinstance(result, dict)
    return result


def failing(result: dict[str, Any]) -> list[str]:
    return [r["id"] for r in result["results"] if r["outcome"] == "fail"]


@pytest.fixture
def folder(tmp_path: Path, sound_trace: Path, broken_trace: Path) -> Path:
    """A folder with a sound trace, and a broken one compressed."""
    place = tmp_path / "recordings"
    (place / "deep").mkdir(parents=True)
    sound_trace.rename(place / "sound.jsonl")
    (place / "deep" / "broken.jsonl.gz").write_bytes(gzip.compress(broken_trace.read_bytes()))
    broken_trace.unlink()
    return place


@pytest.mark.parametrize("compress", [gzip.compress, zstd.compress])
def test_a_compressed_trace_is_judged_as_the_plain_one(
    clausewise: Run, broken_trace: Path, compress: Callable[[bytes], bytes]
) -> None:
    plain = clausewise("validate", str(broken_trace), "--format", "json").stdout
    broken_trace.write_bytes(compress(broken_trace.read_bytes()))
    ran = clausewise("validate", str(broken_trace), "--format", "json")
    assert (ran.returncode, ran.stdout) == (1, plain)


def test_a_folder_gives_one_result_with_each_trace_summed_up(clausewise: Run, folder: Path) -> None:
    ran = clausewise("validate", "recordings", "--format", "json")
    result = result_of(ran)
    assert (ran.returncode, failing(result)) == (1, ["BASE-003"])
    assert result["target"]["name"] == "recordings"
    names = ["recordings/deep/broken.jsonl.gz", "recordings/sound.jsonl"]
    assert result["traces"] == [
        {"name": names[0], "verdict": "fail", "events": 7, "notes": []},
        {"name": names[1], "verdict": "pass", "events": 7, "notes": []},
    ]
    found = [f["at"]["trace"] for r in result["results"] for f in r["findings"]]
    assert found == [names[0]]
    pattern = clausewise("validate", "recordings/**/*.jsonl*", "--format", "json")
    assert result_of(pattern)["traces"] == result["traces"]


def test_one_trace_has_no_table(clausewise: Run, sound_trace: Path) -> None:
    assert "traces" not in result_of(clausewise("validate", "sound.jsonl", "--format", "json"))
    assert "Traces" not in clausewise("validate", "sound.jsonl").stdout


@pytest.mark.parametrize("format_", list(Format))
def test_the_table_is_in_the_report_and_in_the_stored_result(
    clausewise: Run, folder: Path, format_: Format
) -> None:
    arguments = ("validate", "recordings", "--report", "json=r.json", "--format", format_.value)
    ran, again = clausewise(*arguments), clausewise(*arguments)
    assert ran.stdout == again.stdout
    assert "recordings/deep/broken.jsonl.gz" in ran.stdout
    rendered = clausewise("report", "r.json", "--format", format_.value)
    assert rendered.stdout == ran.stdout


def test_people_see_a_verdict_for_each_trace(clausewise: Run, folder: Path) -> None:
    lines = clausewise("validate", "recordings").stdout.splitlines()
    at = lines.index("Traces")
    assert lines[at + 1 : at + 3] == [
        "  fail  7 events  recordings/deep/broken.jsonl.gz",
        "  pass  7 events  recordings/sound.jsonl",
    ]


def test_of_many_traces_only_those_that_do_not_pass_are_listed(
    clausewise: Run, folder: Path
) -> None:
    sound = (folder / "sound.jsonl").read_bytes()
    for number in range(30):
        (folder / f"{number:02}.jsonl").write_bytes(sound)
    shown = clausewise("validate", "recordings").stdout
    assert "  and 31 more pass (-v shows all)\n" in shown
    assert "recordings/07.jsonl" not in shown
    assert "recordings/07.jsonl" in clausewise("validate", "recordings", "-v").stdout


def test_the_table_keeps_to_the_selection(clausewise: Run, folder: Path) -> None:
    ran = clausewise("validate", "recordings", "--ignore", "BASE-003", "--format", "json")
    assert [trace["verdict"] for trace in result_of(ran)["traces"]] == ["pass", "pass"]


def test_an_archive_that_is_cut_off_is_judged_up_to_there_when_it_is_to_keep_going(
    clausewise: Run, broken_trace: Path
) -> None:
    archive = gzip.compress(broken_trace.read_bytes())
    broken_trace.write_bytes(archive[:-8])
    stopped = clausewise("validate", str(broken_trace))
    assert stopped.returncode == 3
    assert f"{broken_trace}: the compressed data is cut off" in stopped.stderr
    assert "--keep-going" in stopped.stderr
    going = clausewise("validate", str(broken_trace), "--keep-going", "--format", "json")
    result = result_of(going)
    assert (going.returncode, failing(result)) == (1, ["BASE-003"])
    assert result["notes"] == [
        f"{broken_trace}: the compressed data is cut off; what came before is judged"
    ]


def test_an_archive_of_which_nothing_can_be_read_is_exit_3(clausewise: Run, tmp_path: Path) -> None:
    for name, data in (("a.jsonl.gz", b"\x1f\x8b"), ("b.jsonl.zst", b"\x28\xb5\x2f\xfdxxxx")):
        (tmp_path / name).write_bytes(data)
        ran = clausewise("validate", name, "--keep-going")
        assert (ran.returncode, ran.stdout) == (3, "")
        assert f"error: {name}: the " in ran.stderr


def test_a_trace_that_cannot_be_read_has_a_line_of_its_own_in_the_table(
    clausewise: Run, folder: Path
) -> None:
    (folder / "torn.jsonl.gz").write_bytes(b"\x1f\x8b\x08")
    assert clausewise("validate", "recordings").returncode == 3
    ran = clausewise("validate", "recordings", "--keep-going", "--format", "json")
    torn = result_of(ran)["traces"][-1]
    assert (torn["name"], torn["verdict"], torn["events"]) == (
        *("recordings/torn.jsonl.gz", "not-observed", 0),
    )
    assert torn["notes"][0].startswith("not judged: recordings/torn.jsonl.gz: the compressed")


def test_no_more_is_read_than_allowed(clausewise: Run, broken_trace: Path) -> None:
    ran = clausewise("validate", str(broken_trace), "--max-total-bytes", "600")
    assert ran.returncode == 3
    assert f"{broken_trace}: more than 600 bytes" in ran.stderr
    broken_trace.write_bytes(gzip.compress(broken_trace.read_bytes()))
    bound = ("--max-total-bytes", "600", "--keep-going", "--format", "json")
    ran = clausewise("validate", str(broken_trace), *bound)
    assert ran.returncode == 0
    assert result_of(ran)["notes"] == [
        f"{broken_trace}: more than 600 bytes; what came before is judged",
    ]


def test_a_line_that_nests_too_deep_is_a_bad_line_and_only_that(
    clausewise: Run, sound_trace: Path
) -> None:
    lines = sound_trace.read_text().splitlines(keepends=True)
    deep = lines[0].replace(
        '"capabilities": {}', '"capabilities": ' + '{"a":' * 40 + "1" + "}" * 40
    )
    sound_trace.write_text("".join([deep, *lines[1:]]))
    bound = ("--max-depth", "30")
    stopped = clausewise("validate", str(sound_trace), *bound)
    assert stopped.returncode == 3
    assert f"{sound_trace}:1: nested deeper than 30 levels" in stopped.stderr
    going = clausewise("validate", str(sound_trace), *bound, "--keep-going", "--format", "json")
    assert result_of(going)["notes"] == [f"{sound_trace}:1: skipped: nested deeper than 30 levels"]
    assert clausewise("validate", str(sound_trace), "--max-depth", "60").returncode == 0


def test_a_har_is_judged_as_it_is(clausewise: Run, tmp_path: Path) -> None:
    reused = [
        entry(at, {"id": 1, "method": "ping"}, answer={"id": 1, "result": {}}) for at in (10, 20)
    ]
    (tmp_path / "session.har").write_bytes(har(*handshake(), *reused))
    ran = clausewise("validate", "session.har", "--format", "json")
    result = result_of(ran)
    assert (ran.returncode, failing(result)) == (1, ["BASE-003"])
    assert result["target"]["server"] == {"name": "server", "version": "1"}


def test_an_unreadable_har_is_exit_3(clausewise: Run, tmp_path: Path) -> None:
    (tmp_path / "x.har").write_bytes(b'{"log": {"entries": [')
    ran = clausewise("validate", "x.har")
    assert ran.returncode == 3
    assert ran.stderr.startswith("error: x.har: no JSON")
    (tmp_path / "y.har").write_bytes(har(*handshake()))
    assert "more than 3 events" in clausewise("validate", "y.har", "--max-events", "3").stderr
    ran = clausewise("validate", "y.har", "--max-total-bytes", "50")
    assert (ran.returncode, "more than 50 bytes" in ran.stderr) == (3, True)


def test_one_party_of_many_traces_is_judged(clausewise: Run, folder: Path) -> None:
    assert clausewise("validate", "recordings", "--party", "client").returncode == 1
    assert clausewise("validate", "recordings", "--party", "server").returncode == 0
    ran = clausewise("validate", "recordings", "--level", "should", "--format", "json")
    levels = {r["level"] for r in result_of(ran)["results"]}
    assert levels == {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT"}
