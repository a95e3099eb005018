"""Looking up quotes, locators and anchors in copies of the specification pages."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clausewise.registry.drift import drifts, main, resolve

BASIC = Path("specification") / "2025-11-25" / "basic" / "index.mdx"
STREAMABLE_HTTP = (
    Path("specification") / "2026-07-28" / "basic" / "transports" / "streamable-http.mdx"
)


@pytest.fixture
def spec(shared: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "spec"
    for part in ("specification", "registry"):
        shutil.copytree(shared / "spec" / part, copy / part)
    for folder in [copy, *copy.rglob("*")]:
        folder.chmod(0o755)
    return copy


def change(page: Path, old: str, new: str) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count(old) == 1
    page.write_text(text.replace(old, new), encoding="utf-8")


def test_everything_is_found_in_the_pages_as_they_are(shared: Path) -> None:
    assert list(drifts(shared / "spec")) == []


def test_a_changed_word_names_the_clause_and_the_page(
    spec: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(spec / BASIC, "include a string or integer ID", "include a string or numeric ID")
    assert main([str(spec)]) == 1
    first, *_ = capsys.readouterr().out.splitlines()
    assert first.startswith("BASE-001: basic: the quote is not there:")
    assert {drift.id for drift in drifts(spec)} == {"BASE-001"}


def test_a_changed_locator_of_a_rule_is_found(spec: Path) -> None:
    change(spec / STREAMABLE_HTTP, "header: ignore it; streams", "header: honour it; streams")
    found = {(drift.id, drift.page) for drift in drifts(spec)}
    assert ("MCP-STL-007", "basic/transports/streamable-http") in found
    assert {page for _, page in found} == {"basic/transports/streamable-http"}


def test_a_renamed_heading_is_found(spec: Path) -> None:
    change(spec / BASIC, "### Notifications\n", "### Notices\n")
    problems = {drift.id: drift.problem for drift in drifts(spec)}
    assert problems["BASE-005"] == "no heading has the id 'notifications'"


def test_a_missing_page_is_found(spec: Path) -> None:
    (spec / "registry" / "about.mdx").unlink()
    assert [(drift.id, drift.problem) for drift in drifts(spec)] == [
        ("MCP-REG-001", "the page is not there")
    ]


def test_a_sentence_moved_to_another_section_is_found(spec: Path) -> None:
    page = spec / BASIC
    text = page.read_text(encoding="utf-8")
    sentence = "Notifications **MUST NOT** include an ID."
    assert text.count(sentence) == 1
    page.write_text(f"{text.replace(sentence, '')}\n\n{sentence}\n", encoding="utf-8")
    assert {drift.id for drift in drifts(spec)} == {"BASE-005"}


def test_a_folder_without_pages_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path)]) == 2
    assert "holds no folder 'specification'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("start", "end", "prefix", "landing"),
    [
        ("Servers MUST", None, None, "Servers MUST"),
        ("servers must", "wait.", None, "Servers MUST not wait."),
        ("wait.", None, "Clients", "wait."),
        ("Server", None, None, None),
        ("Clients", "Servers", None, None),
    ],
)
def test_a_text_fragment_lands_on_the_first_whole_words(
    start: str, end: str | None, prefix: str | None, landing: str | None
) -> None:
    text = "Servers MUST not wait. Clients wait."
    found = resolve(text, start, end, prefix)
    assert (found and text[slice(*found)]) == landing


def test_a_prefix_picks_the_later_occurrence() -> None:
    assert resolve("Hosts wait. Clients wait.", "wait.", prefix="Clients") == (20, 25)
