"""Tags in test sources: `clause: BASE-003` in a comment, a docstring or the name of a test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clausewise.core.errors import ConfigError, UsageError
from clausewise.matrix.evidence.code.blocks import Block, tests_at
from clausewise.matrix.evidence.code.golang import import_path
from clausewise.matrix.evidence.code.languages import LANGUAGES

_ID = r"(?:[A-Za-z]+[-_])*[A-Za-z]+[-_]?\d+"
TAG = rf"(?i:\bclauses?):\s*(?P<ids>{_ID}(?:\s*(?:,|\band\b)\s*{_ID})*)"
"""The usual pattern of a tag; `ids` holds one id or several."""

_IN_NAME = re.compile(rf"(?i:clause)_(?P<ids>{_ID})(?=\W|_|$)")
"""A tag within an identifier, such as `test_clause_BASE_003_ids_are_unique`."""

_SEPARATORS = re.compile(r"\s*(?:,|;|\band\b|\s)\s*")
MAX_SOURCE_BYTES = 8 * 1024 * 1024
MAX_LINE = 20_000


@dataclass(frozen=True, slots=True)
class Tag:
    """One id that a tag names, at a line of a source file, and the tests that it is about."""

    id: str
    path: PurePosixPath
    line: int
    tests: tuple[Block, ...]

    @property
    def pointer(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class TaggedSource:
    """A source file: its tests and its tags. `fault` says why its tests are not known."""

    path: PurePosixPath
    tests: tuple[Block, ...]
    tags: tuple[Tag, ...]
    fault: str = ""


def pattern_of(text: str, where: str) -> re.Pattern[str]:
    """A tag pattern of the user's: it has a group `ids`, or its first group holds them.

    Raises:
        ConfigError: no regular expression, or one without a group.
    """
    try:
        pattern = re.compile(text)
    except re.error as error:
        raise ConfigError(f"{where}: {text!r} is no pattern: {error}") from None
    if not pattern.groups:
        raise ConfigError(
            f"{where}: the pattern {text!r} has no group", "Put the ids into one: (?P<ids>…)."
        )
    return pattern


def read_source(root: Path, path: PurePosixPath, pattern: re.Pattern[str] | None) -> TaggedSource:
    """The tests and tags of `path`, which is relative to `root`; the usual tags without `pattern`.

    Raises:
        UsageError: it cannot be read, is no UTF-8, is too long, or its language is not known.
    """
    blocks_in = LANGUAGES.get(path.suffix)
    if blocks_in is None:
        raise UsageError(
            f"{path}: the language of {path.suffix or 'such a file'} is not known",
            f"Sources end in {', '.join(LANGUAGES)}.",
        )
    text = _text(root / path, path)
    try:
        named = import_path(root, path) if path.suffix == ".go" else path
        blocks, fault = blocks_in(named, text), ""
    except UsageError as error:
        blocks, fault = [], error.message
    tags = tuple(
        Tag(id_, path, line, tests_at(blocks, line)) for line, id_ in ids_in(text, pattern)
    )
    return TaggedSource(path, tuple(block for block in blocks if block.is_test), tags, fault)


def ids_in(text: str, pattern: re.Pattern[str] | None = None) -> Iterator[tuple[int, str]]:
    """The ids that tags name, with their lines; case does not matter, `_` counts as `-`."""
    patterns = (re.compile(TAG), _IN_NAME) if pattern is None else (pattern,)
    for number, line in enumerate(text.split("\n"), 1):
        found: dict[str, None] = {}
        for each in patterns:
            for match in each.finditer(line[:MAX_LINE]):
                ids = match["ids"] if "ids" in each.groupindex else match[1]
                words = _SEPARATORS.split((ids or "").strip())
                found |= {word.upper().replace("_", "-"): None for word in words if word}
        yield from ((number, id_) for id_ in found)


def _text(file: Path, path: PurePosixPath) -> str:
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    if len(content) > MAX_SOURCE_BYTES:
        raise UsageError(f"{path} is longer than {MAX_SOURCE_BYTES} bytes", "Leave it out.")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no UTF-8: {error.reason} at byte {error.start}") from None
