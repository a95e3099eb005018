"""Find where the registry and a local copy of the specification pages have come apart.

    python -m clausewise.registry.drift DIR

DIR holds the folders `specification/<revision>` and `registry` with the MDX sources.
Every anchor, quote and locator is looked up there, and a link's text fragment is resolved
as a browser does it. Exit status 1 says that something was not found.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from clausewise.core.errors import ExitCode
from clausewise.core.vocabulary import Revision
from clausewise.registry.loading import clauses, rules
from clausewise.registry.published import PublishedPage, plain, published
from clausewise.registry.records import Clause, Rule

_LIST_BREAK = re.compile(r"(?<=:) |; ")
"""Where a quote may pass over other items of a list: after its lead-in and between items."""


@dataclass(frozen=True, slots=True)
class Drift:
    """One thing the registry says about a page that the page does not bear out."""

    id: str
    page: str
    problem: str

    def __str__(self) -> str:
        return f"{self.id}: {self.page}: {self.problem}"


def drifts(spec: Path) -> Iterator[Drift]:
    """Every drift between the registry and the pages under `spec`, in registry order."""

    @cache
    def page_of(revision: Revision, page: str) -> PublishedPage | None:
        path = page_path(spec, revision, page)
        return published(path.read_text(encoding="utf-8")) if path.exists() else None

    for revision in Revision:
        for clause in clauses(revision).values():
            yield from _drifts_of(clause, clause.quote, page_of)
    for rule in rules().values():
        yield from _drifts_of(rule, None, page_of)
        yield from _reference_drifts(rule, page_of)


def page_path(spec: Path, revision: Revision, page: str) -> Path:
    """The MDX source of `page`: `<page>.mdx`, or `<page>/index.mdx` for a folder's own page."""
    base = spec if page.startswith("registry/") else spec / "specification" / revision.value
    leaf = base / f"{page}.mdx"
    return leaf if leaf.exists() else base / page / "index.mdx"


PageOf = Callable[[Revision, str], PublishedPage | None]


def _drifts_of(record: Clause | Rule, quote: str | None, page_of: PageOf) -> Iterator[Drift]:
    page = page_of(record.revision, record.page)
    if page is None:
        yield Drift(record.id, record.page, "the page is not there")
        return
    if record.anchor and record.anchor not in page.anchors:
        yield Drift(record.id, record.page, f"no heading has the id {record.anchor!r}")
        return
    begin, end = page.section(record.anchor)
    missing = None if quote is None else _missing_part(page.text[begin:end], quote)
    if missing is not None:
        yield Drift(record.id, record.page, f"the quote is not there: {missing!r}")
    landing = resolve(page.text, record.start, record.end, record.prefix)
    if landing is None:
        yield Drift(record.id, record.page, f"the locator finds nothing: {record.start!r}")
    elif not begin <= landing[0] < end:
        yield Drift(record.id, record.page, "the locator lands outside the section")


def _reference_drifts(rule: Rule, page_of: PageOf) -> Iterator[Drift]:
    for reference in rule.clauses[1:]:
        name, _, anchor = reference.partition("#")
        page = page_of(rule.revision, name)
        if page is None or (anchor and anchor not in page.anchors):
            yield Drift(rule.id, name, f"the reference {reference!r} leads nowhere")


def _missing_part(text: str, quote: str) -> str | None:
    """The first part of `quote` that `text` lacks, reading list items in their order."""
    wanted = plain(quote)
    if wanted in text:
        return None
    at = 0
    for part in _LIST_BREAK.split(wanted):
        found = text.find(part, at)
        if found < 0:
            return part
        at = found + len(part)
    return None


def resolve(
    text: str, start: str, end: str | None = None, prefix: str | None = None
) -> tuple[int, int] | None:
    """Where a text directive lands in `text`: the first range of whole words that fits.

    Case is ignored, as in https://wicg.github.io/scroll-to-text-fragment, section 3.5.
    """
    before = f"{_words(prefix)} ?" if prefix else ""
    first = re.compile(f"{before}({_words(start)})", re.IGNORECASE).search(text)
    if first is None:
        return None
    if end is None:
        return first.span(1)
    last = re.compile(_words(end), re.IGNORECASE).search(text, first.end())
    return None if last is None else (first.start(1), last.end())


def _words(term: str) -> str:
    return rf"(?<!\w){re.escape(plain(term))}(?!\w)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m clausewise.registry.drift")
    parser.add_argument("spec", type=Path, metavar="DIR", help="copy of the specification pages")
    spec: Path = parser.parse_args(arguments).spec
    if not (spec / "specification").is_dir():
        sys.stderr.write(f"{spec} holds no folder 'specification'\n")
        return ExitCode.USAGE
    found = list(drifts(spec))
    for drift in found:
        sys.stdout.write(f"{drift}\n")
    total = sum(len(clauses(revision)) for revision in Revision) + len(rules())
    sys.stdout.write(f"{total} clauses and rules looked up, {len(found)} not as the pages say\n")
    return ExitCode.FINDINGS if found else ExitCode.OK


if __name__ == "__main__":
    sys.exit(main())
