"""From the MDX source of a page to the text that its readers see."""

from __future__ import annotations

import pytest

from clausewise.registry.published import published


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("Servers **MUST** answer.", "Servers MUST answer."),
        (
            "Servers _SHOULD_ answer and **MUST NOT**\nwait.",
            "Servers SHOULD answer and MUST NOT wait.",
        ),
        ("A [link [1]](/a/b_(c)) and [**bold**](x).", "A link [1] and bold."),
        ("The `_meta` key and `a|b*c*`.", "The _meta key and a|b*c*."),
        ("- one\n- two `x`\n  wrapped\n1. three", "one two x wrapped three"),
        ("> quoted\n> text", "quoted text"),
        ("| Code | Meaning |\n|---|:-:|\n| `-1` | a \\| b |", "Code Meaning -1 a | b"),
        ("<Note>\nMind **this**.\n</Note>", "Mind this."),
        ("The <b>Scope</b>,`x`", "The Scope,x"),
        ("snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"),
        ("a &lt; b \\_c\\_ “so” it’s", 'a < b _c_ "so" it\'s'),
        ("---\ntitle: T\n---\n\nimport X from 'y'\n\nText {/* hidden */}here", "Text here"),
        ('```json\n{ "a": "**b**" }\n```\nafter', '{ "a": "**b**" } after'),
        ("```mermaid\ngraph LR\n```\nafter", "after"),
        ("![diagram](x.png)\n\nText", "Text"),
        ("A `file://` URI\n<br/>\nnext", "A file:// URI next"),
    ],
)
def test_markup_is_gone_and_words_are_kept(source: str, text: str) -> None:
    assert published(source).text == text


def test_a_section_runs_to_the_next_heading_of_its_level() -> None:
    page = published("intro\n## One\na\n### Deeper\nb\n## Two\nc")
    begin, end = page.section("one")
    assert page.text[begin:end].split() == ["One", "a", "Deeper", "b"]
    assert page.text[slice(*page.section(""))] == page.text


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [
        ("Version Negotiation", "version-negotiation"),
        ("`_meta`", "_meta"),
        ("Security & Endpoint", "security-&-endpoint"),
        ("HTTP+SSE Transport (2024-11-05)", "http+sse-transport-2024-11-05"),
        ("https://", "https//"),
    ],
)
def test_headings_get_the_ids_of_the_published_site(heading: str, anchor: str) -> None:
    assert list(published(f"## {heading}\n").anchors) == [anchor]


def test_a_repeated_heading_gets_a_numbered_id() -> None:
    assert list(published("# A\n# A\n").anchors) == ["a", "a-2"]


def test_a_heading_inside_a_code_block_is_none() -> None:
    assert list(published("```sh\n# comment\n```\n").anchors) == []
