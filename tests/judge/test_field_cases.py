"""The table of cases from the field is whole, and all that it names exists."""

from __future__ import annotations

import ast
import json
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.judge.case_files import FIELD, FILES, FOLDER, is_field
from tests.judge.notation import read_cases
from tests.probe.faults import FAULTS

TABLE = tomllib.loads((FOLDER / FIELD / "coverage.toml").read_text(encoding="utf-8"))["case"]
KEYS = {"number", "traces", "faults", "tests", "not_tested"}


def headings() -> set[str]:
    return {f"{p.name}: {case.title}" for p in FILES if is_field(p) for case in read_cases(p)}


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


@cache
def faults_that_tests_name() -> set[str]:
    named = set()
    for path in (ROOT / "tests/probe").glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named.add(node.value)
    return named & set(FAULTS)


def test_every_collected_case_is_in_the_table_once(shared: Path) -> None:
    text = (shared / "facts" / "field-cases.json").read_text(encoding="utf-8")
    collected = [case["n"] for case in json.loads(text)["cases"]]
    assert [row["number"] for row in TABLE] == collected


def test_every_trace_is_of_a_case_in_the_table() -> None:
    assert {trace for row in TABLE for trace in row.get("traces", ())} == headings()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row["number"]))
def test_what_a_row_names_exists(row: dict[str, Any]) -> None:
    assert row.keys() <= KEYS
    assert len(row) > 1
    assert set(row.get("faults", ())) <= faults_that_tests_name()
    for test in row.get("tests", ()):
        path, _, name = test.partition("::")
        assert name.startswith("test_") and name in functions(path), test
