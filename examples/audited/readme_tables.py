"""Put the tables of the two pages into README.md anew."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def table(page: str) -> str:
    """The summary of a page: its lines from the first table's head to the next empty line."""
    start = page.index("| 2025-11-25 | MUST")
    return page[start : page.index("\n\n", start)]


def main() -> None:
    readme = FOLDER / "README.md"
    text = readme.read_text(encoding="utf-8")
    for version in ("before", "after"):
        page = (FOLDER / version / "CONFORMANCE.md").read_text(encoding="utf-8")
        head = f"[{version.capitalize()}]({version}/CONFORMANCE.md):\n\n"
        begin = text.index(head) + len(head)
        text = text[:begin] + table(page) + text[text.index("\n\n", begin) :]
    readme.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
