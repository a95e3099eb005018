"""Which test a run in a report is a run of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from clausewise.matrix.evidence.code.blocks import ANY, Block, Naming
from clausewise.matrix.evidence.junit import TestRun

_PARAMETERS = re.compile(r"[\[({].*", re.DOTALL)
_CASE = re.compile(r"case_\d+\w*")
_QUALIFIERS = re.compile(r"::|[./\\:$]+")
_TITLE_SEPARATORS = re.compile(r"\s*[>›»]\s*|\s+")
_SCRIPT_FILE = re.compile(r".*\.[cm]?[jt]sx?")

Place = tuple[PurePosixPath, Block]
"""A test with the source file that it stands in."""


@dataclass(slots=True)
class Attribution:
    """Finds the test of a run among the tests of the sources.

    A run and a test have the same last name, and of their qualified names one ends with the
    other. Of several such tests the one that shares most of its name with the run is meant;
    where a run names a file, it is in that file.
    """

    _by_name: dict[tuple[Naming, str], list[Place]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _by_owner: dict[tuple[Naming, str, str], list[Place]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _open_titles: list[tuple[re.Pattern[str], Place]] = field(default_factory=list)

    def add(self, path: PurePosixPath, tests: Iterable[Block]) -> None:
        """Take in the tests of one source file."""
        for test in tests:
            for naming, name in _keys(test):
                if naming is Naming.TITLES and ANY in name:
                    pattern = ".*".join(map(re.escape, name.split(ANY)))
                    self._open_titles.append((re.compile(pattern, re.DOTALL), (path, test)))
                else:
                    self._by_name[naming, name].append((path, test))
                    self._by_owner[naming, name, _owner(test.segments)].append((path, test))

    def tests_of(self, run: TestRun) -> list[Place]:
        """The test that ran; several where nothing tells them apart, none where it is unknown."""
        scored = [
            (score, place)
            for score, place in self._candidates(run)
            if score and _in_file(run, place[0])
        ]
        best = max((score for score, _ in scored), default=0)
        unique = {id(place[1]): place for score, place in scored if score == best}
        return list(unique.values())

    def _candidates(self, run: TestRun) -> Iterator[tuple[int, Place]]:
        for naming, names in _readings(run):
            for place in self._named(naming, names):
                yield _agreement(names, place[1]), place
        for title in _titles(run):
            for place in self._by_name.get((Naming.TITLES, title), ()):
                yield _title_agreement(run, title, place[1]), place
            for pattern, place in self._open_titles:
                if pattern.fullmatch(title):
                    yield _title_agreement(run, title, place[1]), place

    def _named(self, naming: Naming, names: tuple[str, ...]) -> Iterator[Place]:
        """Tests whose last name is that of the run, and the one before, where both have one."""
        if len(names) < 2:
            yield from self._by_name.get((naming, names[-1]), ())
            return
        for owner in dict.fromkeys((names[-2], ANY, "")):
            yield from self._by_owner.get((naming, names[-1], owner), ())


def _owner(names: tuple[str, ...]) -> str:
    """The name before the last; empty where there is none."""
    return names[-2] if len(names) > 1 else ""


def _keys(test: Block) -> Iterator[tuple[Naming, str]]:
    if test.naming is Naming.TITLES:
        yield Naming.TITLES, _plain_title(" ".join(test.segments))
        if len(test.segments) > 1:
            yield Naming.TITLES, _plain_title(test.segments[-1])
    else:
        for name in (test.segments[-1], *test.names):
            yield test.naming, name


def _readings(run: TestRun) -> Iterator[tuple[Naming, tuple[str, ...]]]:
    """The qualified names that a run may have; a subtest that no source names is its test's."""
    owner = [part for part in _QUALIFIERS.split(run.classname) if part]
    bare = _PARAMETERS.sub("", run.name).strip().split("::")
    if len(bare) > 1 and _CASE.fullmatch(bare[-1]):
        bare.pop()
    if bare[-1]:
        yield Naming.IDENTIFIERS, (*owner, *bare)
    if run.name and bare != [run.name]:
        yield Naming.IDENTIFIERS, (*owner, run.name)
    package, levels = [part for part in run.classname.split("/") if part], run.name.split("/")
    for depth in range(len(levels), 0, -1):
        yield Naming.PATHS, (*package, *levels[:depth])


def _agreement(run: tuple[str, ...], test: Block) -> int:
    """How many segments agree from the end; 0 where one name does not end with the other."""
    own = test.segments
    if run[-1] in test.names:
        own = (*own[:-1], run[-1])
    pairs = list(zip(reversed(run), reversed(own), strict=False))
    return len(pairs) if all(own in (one, ANY) for one, own in pairs) else 0


def _titles(run: TestRun) -> dict[str, None]:
    return dict.fromkeys([_plain_title(run.name), _plain_title(run.classname)])


def _title_agreement(run: TestRun, title: str, test: Block) -> int:
    """How much of the title the run gives, the names of its groups counted wherever they stand."""
    groups = [_plain_title(group) for group in test.segments[:-1]]
    if title != _plain_title(test.segments[-1]) or not groups:
        return len(test.segments)
    around = _plain_title(" ".join((run.classname, *run.suites)))
    return 1 + sum(group in around for group in groups)


def _plain_title(title: str) -> str:
    return _TITLE_SEPARATORS.sub(" ", title).strip()


def _in_file(run: TestRun, path: PurePosixPath) -> bool:
    """Whether the run may be of a test in `path`: the file that it names is that file."""
    given = run.file or next(
        (name for name in (run.classname, *run.suites) if _SCRIPT_FILE.fullmatch(name)), None
    )
    if given is None:
        return True
    named, own = PurePosixPath(given.replace("\\", "/")).parts, path.parts
    return all(one == other for one, other in zip(reversed(named), reversed(own), strict=False))
