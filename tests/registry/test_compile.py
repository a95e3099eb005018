"""The edited TOML, the compiled JSON, and what the compiler refuses."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from clausewise.core.errors import ConfigError
from clausewise.core.vocabulary import Revision
from clausewise.registry import compile as compiler
from clausewise.registry import loading
from clausewise.registry.source import DATA, read_clauses

AREA = """
area = "BASE"
title = "Base protocol"
page = "basic"
position = 10

"""
CLAUSE = """
[[clause]]
id = "BASE-001"
level = "MUST"
binds = ["server"]
quote = "A server MUST answer."
"""
CHECKED = CLAUSE + 'checks = ["base.answers"]\n'


def written(folder: Path, text: str) -> Path:
    (folder / "2025-11-25").mkdir()
    (folder / "2025-11-25" / "base.toml").write_text(text, encoding="utf-8")
    return folder


def test_the_compiled_files_are_fresh() -> None:
    assert compiler.stale_files() == []


def test_an_edit_makes_the_compiled_file_stale_until_compiled(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    area = data / "2025-11-25" / "ping.toml"
    area.write_text(area.read_text("utf-8").replace("SHOULD", "MUST", 1), encoding="utf-8")
    name = "clauses-2025-11-25.json"
    assert compiler.stale_files(data, data / "compiled") == [name]
    compiler.write_files(data, data / "compiled")
    assert compiler.stale_files(data, data / "compiled") == []


def test_a_compiled_file_without_a_source_is_removed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    left_over = data / "compiled" / "clauses-2024-11-05.json"
    left_over.write_text("{}", encoding="utf-8")
    assert compiler.stale_files(data, data / "compiled") == [left_over.name]
    compiler.write_files(data, data / "compiled")
    assert not left_over.exists()


def test_what_is_loaded_is_what_is_edited() -> None:
    edited = [clause for area in read_clauses(DATA, Revision.LEGACY) for clause in area.records]
    assert list(loading.clauses(Revision.LEGACY).values()) == edited


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (AREA + CLAUSE, "BASE-001 must have checks, an exclusion or `planned = true`"),
        (
            AREA + CHECKED + 'exclusion = { type = "ui", reason = "Seen." }\n',
            "BASE-001 must have checks, an exclusion or `planned = true`",
        ),
        (AREA + CLAUSE + 'exclusion = { type = "gui", reason = "Seen." }\n', "BASE-001: 'gui'"),
        (AREA + CLAUSE + 'exclusion = { type = "ui", reason = " " }\n', "BASE-001 has no reason"),
        (AREA + CHECKED + 'chekcs = ["a.b"]\n', "BASE-001 has unknown keys: chekcs"),
        (
            AREA + CLAUSE + 'exclusion = { type = "ui", reason = "Seen." }\nbeyond = true\n',
            "BASE-001: beyond is a flag of clauses with checks",
        ),
        (AREA + CHECKED + 'beyond = "yes"\n', "BASE-001: beyond is a flag of clauses with checks"),
        (AREA + CHECKED + CHECKED, "BASE-001 is given twice"),
        (AREA + CHECKED.replace("BASE-001", "PING-001"), "PING-001 stands in the file of area"),
        (AREA + CHECKED.replace('["server"]', "[]"), "BASE-001 binds nobody"),
        (AREA + CHECKED.replace('["server"]', '["host"]'), "BASE-001: 'host'"),
        (AREA + CHECKED.replace('"MUST"', '"SHALL"'), "BASE-001: 'SHALL'"),
        (AREA + CHECKED.replace("quote", "prefix"), "BASE-001 has neither a quote nor a start"),
        (AREA.replace("position = 10", ""), "base.toml has no position"),
        (AREA + "[[clause", "base.toml"),
    ],
)
def test_a_breach_of_contract_is_refused_by_name(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_clauses(written(tmp_path, text), Revision.LEGACY)
    assert complaint in caught.value.message


def test_a_quote_is_its_own_locator_unless_one_is_given(tmp_path: Path) -> None:
    (area,) = read_clauses(written(tmp_path, AREA + CHECKED), Revision.LEGACY)
    (clause,) = area.records
    assert (clause.start, clause.end) == ("A server MUST answer.", None)


def test_loading_takes_a_few_milliseconds() -> None:
    fastest = min(_seconds_to_load() for _ in range(5))
    assert fastest < 0.05, "ten times the aim, to allow for a busy machine"


def _seconds_to_load() -> float:
    for cached in (loading.clauses, loading.rules, loading._compiled):
        cached.cache_clear()
    begun = time.perf_counter()
    loading.clauses(Revision.LEGACY)
    loading.rules()
    return time.perf_counter() - begun
