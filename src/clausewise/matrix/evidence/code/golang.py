"""Tests of Go: functions `TestX`, methods of suites, and `t.Run("name", …)` within them."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from clausewise.matrix.evidence.code.blocks import ANY, Block, Naming
from clausewise.matrix.evidence.code.masking import GO, Masked, Nesting

_FUNCTION = re.compile(
    r"^func[ \t]+(?P<receiver>\([^)\n]*\)[ \t]*)?(?P<name>(?:Test|Fuzz|Example)\w*)[ \t]*\(",
    re.MULTILINE,
)
_MODULE = re.compile(r"^module[ \t]+\"?([^\s\"]+)", re.MULTILINE)
_MAX_CHARACTERS = 1024 * 1024
_SUBTEST = re.compile(r"\b\w+\.Run\(\s*(?=[\"`])")


def import_path(root: Path, path: PurePosixPath) -> PurePosixPath:
    """The file as its package is imported: below the module that the nearest go.mod names.

    Without one it is `path` itself. `path` is relative to `root`.
    """
    for folder in path.parents:
        try:
            with (root / folder / "go.mod").open(encoding="utf-8") as file:
                module = _MODULE.search(file.read(_MAX_CHARACTERS))
        except (OSError, UnicodeDecodeError):
            continue
        return PurePosixPath(module[1]) / path.relative_to(folder) if module else path
    return path


def blocks_in(path: PurePosixPath, text: str) -> list[Block]:
    """The tests of a file and their subtests that are named by a literal."""
    source = Masked(text, GO)
    package = path.parent.parts
    found: list[Block] = []
    around = Nesting[tuple[str, ...]]()
    starts = [(match.start(), match) for match in _FUNCTION.finditer(source.mask)]
    starts += [(match.start(), match) for match in _SUBTEST.finditer(source.mask)]
    for start, match in sorted(starts, key=lambda item: item[0]):
        outer = around.at(start)
        if match.re is _FUNCTION:
            end = source.end_of(source.mask.find("{", source.end_of(match.end() - 1)))
            suite = (ANY,) if match["receiver"] else ()
            names = (*package, *suite, match["name"])
        elif outer:
            end = source.end_of(source.mask.find("(", start))
            title = source.string_at(match.end()) or ANY
            names = (*outer[-1], *_as_reported(title))
        else:
            continue
        around.enter(end, names)
        area = (source.lead_of(source.line_of(start)), source.line_of(end))
        found.append(Block(Naming.PATHS, names, area))
    return found


def _as_reported(title: str) -> list[str]:
    """A subtest's name as `go test` prints it: blanks are underscores; `/` makes levels."""
    return re.sub(r"\s", "_", title).split("/")
