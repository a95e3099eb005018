"""Evidence from tests: tags in sources, joined with the outcomes of the tests they are about."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clausewise.core.matrix import Evidence, EvidenceKind, Problem, ProblemKind, Source
from clausewise.core.results import worst
from clausewise.core.vocabulary import Outcome
from clausewise.matrix.assembly import Gathered, Statement
from clausewise.matrix.evidence.attribution import Attribution
from clausewise.matrix.evidence.code.blocks import Block, Naming
from clausewise.matrix.evidence.junit import TestRun
from clausewise.matrix.evidence.severity import breach_of
from clausewise.matrix.evidence.tags import Tag, TaggedSource, ids_in

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Report:
    """A JUnit report: its file, relative to the project's folder, and the runs in it."""

    path: PurePosixPath
    runs: Sequence[TestRun]


def gather(sources: Iterable[TaggedSource], reports: Iterable[Report], root: Path) -> Gathered:
    """What the tags of `sources` and the runs of `reports` show together.

    A broken test of a clause has the severity of its keyword. Told as problems: a tag whose
    test has no run, a tag that is about no test, a run whose tests cannot be told apart, runs
    without a tag, runs of tests whose source is no longer there (`root` is where to look).
    """
    joining = _Joining(tuple(sources), tuple(reports), root)
    statements = tuple(joining.statements())
    return Gathered(statements, tuple(joining.tallies()), tuple(joining.problems()))


class _Joining:
    """The join: each run attributed to tests, each test with its runs."""

    def __init__(
        self, sources: tuple[TaggedSource, ...], reports: tuple[Report, ...], root: Path
    ) -> None:
        self._sources, self._reports, self._root = sources, reports, root
        self._tags = [tag for source in sources for tag in source.tags]
        tagged = [test for tag in self._tags for test in tag.tests]
        self._tagged = {id(test) for test in tagged}
        self._tagged_paths = {test.segments for test in tagged if test.naming is Naming.PATHS}
        attribution = Attribution()
        for source in sources:
            attribution.add(source.path, source.tests)
        self._runs: dict[int, list[TestRun]] = defaultdict(list)
        self._shared: dict[int, TestRun] = {}
        self._untagged: dict[PurePosixPath, list[TestRun]] = defaultdict(list)
        self._counts: dict[PurePosixPath, Counter[Outcome]] = {}
        self._named: list[tuple[Report, TestRun, str]] = []
        for report in reports:
            self._counts[report.path] = Counter()
            for run in report.runs:
                self._attribute(report, run, attribution)

    def _attribute(self, report: Report, run: TestRun, attribution: Attribution) -> None:
        tests = [test for _, test in attribution.tests_of(run)]
        for test in tests:
            self._runs[id(test)].append(run)
            if len(tests) > 1:
                self._shared[id(test)] = run
        tagged = any(self._is_tagged(test) for test in tests)
        ids = [] if tagged else [id_ for _, id_ in ids_in(f"{run.classname} {run.name}")]
        self._named += [(report, run, id_) for id_ in dict.fromkeys(ids)]
        if tagged or ids:
            self._counts[report.path][run.outcome] += 1
        else:
            self._untagged[report.path].append(run)

    def _is_tagged(self, test: Block) -> bool:
        """Whether a tag is about the test, or about the test that it is a subtest of."""
        if test.naming is not Naming.PATHS:
            return id(test) in self._tagged
        names = test.segments
        return any(names[:depth] in self._tagged_paths for depth in range(1, len(names) + 1))

    def statements(self) -> Iterator[Statement]:
        for tag in self._tags:
            ran = [test for test in tag.tests if id(test) in self._runs]
            if ran:
                runs = [run for test in ran for run in self._runs[id(test)]]
                yield Statement(tag.id, _of_tag(tag, ran, runs))
        for report, run, id_ in self._named:
            pointer = f"{report.path} {run.name}"
            outcome = breach_of(id_, run.outcome)
            evidence = Evidence(EvidenceKind.TEST, outcome, pointer, str(report.path))
            yield Statement(id_, evidence)

    def tallies(self) -> Iterator[Source]:
        for path, counts in self._counts.items():
            yield Source(EvidenceKind.TEST, str(path), dict(sorted(counts.items())))

    def problems(self) -> Iterator[Problem]:
        yield from (
            Problem(ProblemKind.UNREADABLE, str(source.path), source.fault)
            for source in self._sources
            if source.fault
        )
        for tag in self._tags:
            yield from self._of_tag(tag)
        for report in self._reports:
            yield from self._of_report(report)

    def _of_tag(self, tag: Tag) -> Iterator[Problem]:
        if not tag.tests:
            message = f"the tag {tag.id} is about no test"
            yield Problem(ProblemKind.TAG_WITHOUT_TEST, tag.pointer, message)
        for test in tag.tests:
            if id(test) not in self._runs:
                message = f"no report has a run of {test.name}, which is tagged {tag.id}"
                yield Problem(ProblemKind.TAG_WITHOUT_RUN, tag.pointer, message)
            elif id(test) in self._shared:
                run = self._shared[id(test)]
                message = f"the run {_full(run)} may be of {test.name} or of another test"
                yield Problem(ProblemKind.AMBIGUOUS_TEST, tag.pointer, message)

    def _of_report(self, report: Report) -> Iterator[Problem]:
        untagged = [_full(run) for run in self._untagged.get(report.path, ())]
        if untagged:
            message = f"{len(untagged)} runs without a tag: {_some(untagged)}"
            yield Problem(ProblemKind.RUN_WITHOUT_TAG, str(report.path), message)
        gone = {run.file for run in report.runs if run.file and self._is_gone(run.file)}
        for file in sorted(gone):
            message = f"the report tells of tests in {file}, which is no longer there"
            yield Problem(ProblemKind.LOST_SOURCE, str(report.path), message)

    def _is_gone(self, file: str) -> bool:
        """Whether no source ends so, and no file is there; an absolute path may be a CI's."""
        named = PurePosixPath(file.replace("\\", "/"))
        if any(source.path.parts[-len(named.parts) :] == named.parts for source in self._sources):
            return False
        if any(named.parts[-len(s.path.parts) :] == s.path.parts for s in self._sources):
            return False
        return not (self._root / named).exists()


def _of_tag(tag: Tag, tests: Sequence[Block], runs: Sequence[TestRun]) -> Evidence:
    counts = Counter(run.outcome for run in runs)
    outcome = breach_of(tag.id, worst(counts))
    detail = _some([test.name for test in tests])
    if counts[Outcome.FAIL] and len(runs) > 1:
        detail += f" ({counts[Outcome.FAIL]} of {len(runs)} runs failed)"
    return Evidence(EvidenceKind.TEST, outcome, tag.pointer, str(tag.path), tag.line, detail)


def _full(run: TestRun) -> str:
    return f"{run.classname}: {run.name}" if run.classname not in ("", run.name) else run.name


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
