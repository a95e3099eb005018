"""The audits in examples/ are what their evidence gives."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clausewise.app import audit, audit_config
from clausewise.app.audit_page import Page
from clausewise.core.matrix import EvidenceKind, Matrix, RowVerdict

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MENDED = ["BASE-004", "BASE-009", "CANC-021", "PING-001", "TRAN-002", "TRAN-007", "TRAN-008"]


def audited(folder: Path) -> tuple[Matrix, Page]:
    config = audit_config.load(folder / "clausewise.toml", folder)
    return audit.run(config), Page(config.root, config.page)


def ids(matrix: Matrix, verdict: RowVerdict) -> list[str]:
    return sorted(row.id for row in matrix.rows if row.verdict is verdict)


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the worked example, with its evidence made anew."""
    folder = tmp_path_factory.mktemp("audited") / "audited"
    shutil.copytree(EXAMPLES / "audited", folder, ignore=shutil.ignore_patterns("build"))
    make_evidence(folder)
    return folder


def make_evidence(folder: Path, *versions: str) -> None:
    command = [sys.executable, "evidence.py", *versions]
    subprocess.run(command, cwd=folder, check=True, timeout=300)


@pytest.mark.parametrize(("version", "broken"), [("before", MENDED), ("after", [])])
def test_the_pages_of_the_worked_example_are_what_its_evidence_gives(
    notes: Path, version: str, broken: list[str]
) -> None:
    matrix, page = audited(notes / version)
    if page.compare(matrix).stale:
        make_evidence(notes, version)  # its probes measure time, which a busy machine stretches
        matrix, page = audited(notes / version)
    assert ids(matrix, RowVerdict.NON_CONFORMANT) == broken
    assert ids(matrix, RowVerdict.DEVIATION) == ["RES-008"]
    compared = page.compare(matrix)
    evidence = {row.id: row.evidence for row in matrix.rows if row.id in compared.changed}
    assert (compared.stale, evidence) == ((), {}), "run `make worked-example`"


@pytest.mark.parametrize("version", ["before", "after"])
def test_the_readme_of_the_worked_example_shows_the_tables_of_the_pages(version: str) -> None:
    page = (EXAMPLES / "audited" / version / "CONFORMANCE.md").read_text(encoding="utf-8")
    start = page.index("| 2025-11-25 | MUST")
    table = page[start : page.index("\n\n", start)]
    readme = (EXAMPLES / "audited" / "README.md").read_text(encoding="utf-8")
    assert f"[{version.capitalize()}]({version}/CONFORMANCE.md):\n\n{table}\n" in readme


def test_all_four_kinds_of_evidence_meet_in_rows_of_the_server_on_the_sdk() -> None:
    matrix, page = audited(EXAMPLES / "library_audit")
    whole = [row.id for row in matrix.rows if {e.kind for e in row.evidence} == set(EvidenceKind)]
    assert {"LIFE-010", "TOOL-003"} <= set(whole)
    assert ids(matrix, RowVerdict.NON_CONFORMANT) == ["PROM-007", "TOOL-010", "TRAN-031"]
    assert page.compare(matrix).stale == ()
