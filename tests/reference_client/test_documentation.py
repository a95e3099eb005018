"""docs/reference-client.md is true and whole."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clausewise.core.vocabulary import Era, TransportKind
from clausewise.reference.client.run import ClientOptions
from clausewise.reference.client.script.grammar import ANSWERS, COMMON, FORM, ROOT, SAMPLING, STEPS
from clausewise.reference.client.script.reading import parse_script
from tests.reference_client.playing import play

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference-client.md").read_text("utf-8")
BLOCKS = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("era", [Era.LEGACY, Era.MODERN])
def test_the_script_of_the_page_is_played_as_it_says(era: Era) -> None:
    (script,) = (parse_script(block) for block in BLOCKS)
    played = play(ClientOptions(era, script), TransportKind.STDIO)
    assert len(played.results) == len(script.steps)
    assert played.complaints == []


def test_every_step_and_every_member_is_on_the_page() -> None:
    for do, members in STEPS.items():
        (row,) = re.findall(rf"^\| [^|]*`{do}`[^|]*\|(.*)$", PAGE, re.MULTILINE)
        for name in members:
            assert f"`{name}`" in row, (do, name)
    for members in (COMMON, ANSWERS, FORM, ROOT, SAMPLING):
        for name in members:
            assert re.search(rf"`{name}\b", PAGE), name
