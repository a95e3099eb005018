"""Opening recordings: files, compressed files, folders, patterns, and what is wrong with them."""

from __future__ import annotations

import gzip
import io
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from clausewise.core.errors import TraceError
from clausewise.trace.reader import BadLine
from clausewise.trace.sources import BrokenSourceError, expanded, opened

LONGEST = 1000
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "zstd": zstd.compress,
}


def lines_of(
    path: Path, *, deepest: int | None = None, total: int | None = None
) -> tuple[list[bytes], list[BadLine]]:
    bad: list[BadLine] = []
    with opened(str(path), total) as source:
        return list(source.lines(LONGEST, deepest, bad.append)), bad


def refuse(bad: BadLine) -> None:
    pytest.fail(bad.why)


def lines_until_broken(path: Path, total: int | None = None) -> tuple[list[bytes], str]:
    found: list[bytes] = []
    with opened(str(path), total) as source, pytest.raises(BrokenSourceError) as caught:
        found.extend(source.lines(LONGEST, None, refuse))
    return found, caught.value.message


@pytest.fixture(params=list(COMPRESSIONS))
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[bytes], Path]:
    """Writes a file in one of the compressions, whatever its name says."""

    def written(data: bytes) -> Path:
        path = tmp_path / "recording"
        path.write_bytes(COMPRESSIONS[request.param](data))
        return path

    return written


def test_lines_are_read_whatever_the_compression(write: Callable[[bytes], Path]) -> None:
    assert lines_of(write(b"one\n\ntwo\r\nthree")) == ([b"one\n", b"\n", b"two\r\n", b"three"], [])
    assert lines_of(write(b"")) == ([], [])


def test_a_line_beyond_the_bound_is_told_and_an_empty_one_stands_for_it(
    write: Callable[[bytes], Path],
) -> None:
    fits = b"x" * LONGEST + b"\n"
    lines, bad = lines_of(write(fits + b"y" * 5000 + b"\nafter\n" + b"z" * (LONGEST + 1)))
    assert lines == [fits, b"\n", b"after\n", b"\n"]
    assert [(line.number, line.why) for line in bad] == [
        (2, "longer than 1000 bytes"),
        (4, "longer than 1000 bytes"),
    ]


def test_a_line_that_nests_too_deep_is_told_and_brackets_in_strings_do_not_count(
    write: Callable[[bytes], Path],
) -> None:
    flat = b'{"a": "[[[[\\"[[[", "b": [1], "c": [2]}\n'
    lines, bad = lines_of(write(flat + b'{"a": [[1]]}\n'), deepest=2)
    assert lines == [flat, b"\n"]
    assert [(line.number, line.why) for line in bad] == [(2, "nested deeper than 2 levels")]


def test_an_endless_string_is_measured_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b'"' + b'\\"' * 100_000 + b"[{" * 10)
    with opened(str(path)) as source:
        assert len(list(source.lines(1_000_000, 5, refuse))) == 1


def test_no_more_is_read_than_allowed_after_decompression(write: Callable[[bytes], Path]) -> None:
    path = write(b"line\n" * 10_000)
    assert lines_of(path, total=50_000)[0] == [b"line\n"] * 10_000
    lines, why = lines_until_broken(path, total=49_998)
    assert lines == [b"line\n"] * 9_999 + [b"lin"]
    assert why == f"{path}: more than 49998 bytes"


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_a_decompression_bomb_takes_little_memory(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(COMPRESSIONS[compression](bytes(64 * 1024 * 1024)))
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        lines, bad = lines_of(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (lines, [line.why for line in bad]) == ([b"\n"], ["longer than 1000 bytes"])
    assert peak < 16 * 1024 * 1024


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_an_archive_that_is_cut_off_gives_what_came_before(
    tmp_path: Path, compression: str
) -> None:
    path = tmp_path / "cut"
    data = b"".join(os.urandom(20).hex().encode() + b"\n" for _ in range(20_000))
    archive = COMPRESSIONS[compression](data)
    path.write_bytes(archive[: len(archive) // 2])
    lines, why = lines_until_broken(path)
    assert why == f"{path}: the compressed data is cut off"
    assert len(lines) > 1000
    assert data.startswith(b"".join(lines))


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
@given(place=st.integers(0, 2000), byte=st.integers(0, 255))
def test_a_corrupt_archive_is_an_error_or_whole_never_anything_else(
    tmp_path_factory: pytest.TempPathFactory, compression: str, place: int, byte: int
) -> None:
    data = b"".join(b"line %d\n" % n for n in range(1000))
    archive = bytearray(COMPRESSIONS[compression](data))
    archive[place % len(archive)] = byte
    path = tmp_path_factory.mktemp("corrupt") / "t"
    path.write_bytes(bytes(archive))
    with opened(str(path)) as source:
        try:
            for _ in source.lines(LONGEST, None, lambda _: None):
                pass
        except BrokenSourceError as error:
            assert error.message.startswith(f"{path}: the ")


def test_two_members_of_an_archive_are_one_recording(tmp_path: Path) -> None:
    for compress in (gzip.compress, zstd.compress):
        path = tmp_path / "t"
        path.write_bytes(compress(b"one\n") + compress(b"two\n"))
        assert lines_of(path)[0] == [b"one\n", b"two\n"]


def test_standard_input_may_be_compressed_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    for compress in COMPRESSIONS.values():
        stream = io.BytesIO(compress(b"one\ntwo\n"))
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=stream))
        with opened("-") as source:
            assert source.beginning == b"one\ntwo\n"
            assert list(source.lines(LONGEST, None, refuse)) == [b"one\n", b"two\n"]
        assert not stream.closed


def test_a_pipe_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    read, write = os.pipe()
    with os.fdopen(write, "wb", buffering=0) as end:
        end.write(gzip.compress(b"one\n"))
    with os.fdopen(read, "rb"), opened(f"/dev/fd/{read}") as source:
        assert list(source.lines(LONGEST, None, refuse)) == [b"one\n"]


def test_a_document_beyond_the_bound_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"[1, 2]")
    with opened(str(path)) as source:
        assert source.whole(6) == b"[1, 2]"
    with opened(str(path)) as source, pytest.raises(TraceError, match="more than 5 bytes"):
        source.whole(5)


def test_what_cannot_be_opened_is_named() -> None:
    with pytest.raises(TraceError, match="cannot read no/such: No such file"), opened("no/such"):
        pass


def test_a_folder_means_the_recordings_in_and_below_it_in_sorted_order(tmp_path: Path) -> None:
    kept = ["a.jsonl", "b/c.jsonl.gz", "b/d.JSONL.ZST", "e.har"]
    for name in [*kept, "notes.txt", "b/result.json", "x.jsonl.bak"]:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    assert expanded([str(tmp_path)]) == tuple(str(tmp_path / name) for name in kept)


def test_links_that_go_round_in_circles_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert expanded([str(tmp_path)]) == (str(tmp_path / "a.jsonl"),)


def test_a_folder_without_recordings_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="no recording in the folder"):
        expanded([str(tmp_path)])


def test_a_pattern_means_the_files_it_fits_and_names_keep_their_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("b.jsonl", "a.jsonl", "in/c.jsonl", "[x].jsonl"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_bytes(b"")
    assert expanded(["?.jsonl"]) == ("a.jsonl", "b.jsonl")
    assert expanded(["**/c.*", "b.jsonl", "*.jsonl", "-"]) == (
        "in/c.jsonl",
        "b.jsonl",
        "[x].jsonl",
        "a.jsonl",
        "-",
    )
    assert expanded(["[x].jsonl"]) == ("[x].jsonl",)
    with pytest.raises(TraceError, match=r"no file fits the pattern \*\.zip"):
        expanded(["*.zip"])
    assert expanded(["missing.jsonl"]) == ("missing.jsonl",)
