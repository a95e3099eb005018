"""The page about the reference server names what it has, and nothing that it has not."""

from __future__ import annotations

import re

from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.features.content import Content
from clausewise.reference.legacy.tasks import DEFAULT_TTL_MS, MAX_TTL_MS, MAX_WORKING
from tests.official.suite import ROOT

PAGE = ROOT / "docs" / "reference-server.md"
CONTENT = Content(ChangeFeed())


def quoted(text: str) -> set[str]:
    """What stands in single backquotes."""
    return set(re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text))


def test_every_tool_prompt_and_template_is_named() -> None:
    names = {tool.name for tool in CONTENT.tools} | {prompt.name for prompt in CONTENT.prompts}
    names |= {template.uri_template for template in CONTENT.templates}
    assert names - quoted(PAGE.read_text(encoding="utf-8")) == set()


def test_what_the_table_reaches_features_by_exists() -> None:
    names = {tool.name for tool in CONTENT.tools} | {prompt.name for prompt in CONTENT.prompts}
    table = PAGE.read_text(encoding="utf-8").partition("\n\n## Tasks")[0]
    reached = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")]
    words = {word for cell in reached for word in quoted(cell)}
    unknown = {word for word in words if re.fullmatch(r"[a-z]+(_[a-z]+)+", word)} - names
    assert unknown == set()


def test_the_bounds_on_tasks_are_those_of_the_server() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert (DEFAULT_TTL_MS, MAX_TTL_MS, MAX_WORKING) == (5 * 60_000, 60 * 60_000, 32)
    assert "at most an hour; five minutes if none was" in text
    assert "lets one owner have 32 at work" in text
