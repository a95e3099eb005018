"""Use case `audit`: a configuration in, the matrix of clauses and evidence out."""

from __future__ import annotations

import dataclasses
import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TypeVar

from clausewise.app import validate
from clausewise.app.audit_config import AuditConfig, Official, Recorded, Tests
from clausewise.app.selection import Selection
from clausewise.core.errors import ClausewiseError, ConfigError
from clausewise.core.matrix import EvidenceKind, Matrix, Problem, ProblemKind
from clausewise.core.results import Place, RunResult, Verdict
from clausewise.core.vocabulary import Revision
from clausewise.matrix.assembly import Gathered, Project, assemble
from clausewise.matrix.evidence import official, results, tests
from clausewise.matrix.evidence.junit import read_junit
from clausewise.matrix.evidence.tags import TaggedSource, read_source
from clausewise.report.stored import load
from clausewise.trace.recordings import ReadingOptions
from clausewise.trace.sources import SUFFIXES

T = TypeVar("T")

MAX_RESULT_BYTES = 256 * 1024 * 1024


def run(config: AuditConfig, *, keep_going: bool = False) -> Matrix:
    """The matrix of the project that `config` describes.

    The same files give an equal matrix: it has no times and no absolute paths.

    Args:
        config: what to audit; its patterns of file names are relative to its folder.
        keep_going: tell of a file that cannot be read as a problem, and go on without it.

    Raises:
        ConfigError: a pattern fits no file.
        ClausewiseError: a file cannot be read, and `keep_going` is false.
    """
    project = Project(config.title, config.party, config.revisions, config.declarations)
    reading = _Reading(config, keep_going)
    parts = list(reading.parts())
    return assemble(project, [*parts, Gathered(problems=tuple(reading.unreadable))])


@dataclass(slots=True)
class _Reading:
    """One reading of all evidence; `unreadable` collects what was passed over."""

    config: AuditConfig
    keep_going: bool
    unreadable: list[Problem] = field(default_factory=list)

    def parts(self) -> Iterator[Gathered]:
        """What each source gives, in the order of the configuration."""
        for entry in self.config.tests:
            yield self._tests(entry)
        for suite in self.config.official:
            yield from self._official(suite)
        for name in self._files(self.config.probe, "audit.probe"):
            yield from self._tried(name, self._stored, EvidenceKind.PROBE)
        for recorded in self.config.replay:
            for name in self._files(recorded.traces, "audit.replay", SUFFIXES):
                yield from self._tried(name, self._trace, recorded)
            for name in self._files(recorded.results, "audit.replay"):
                yield from self._tried(name, self._stored, EvidenceKind.REPLAY)

    def _tests(self, entry: Tests) -> Gathered:
        sources: list[TaggedSource] = []
        for name in self._files(entry.sources, "audit.tests"):
            sources += self._tried(name, self._source, entry)
        reports: list[tests.Report] = []
        for name in self._files(entry.reports, "audit.tests"):
            reports += self._tried(name, self._report)
        return tests.gather(sources, reports, self.config.root)

    def _source(self, name: str, entry: Tests) -> TaggedSource:
        return read_source(self.config.root, PurePosixPath(name), entry.pattern)

    def _report(self, name: str) -> tests.Report:
        return tests.Report(PurePosixPath(name), tuple(read_junit(self.config.root / name)))

    def _official(self, suite: Official) -> Iterator[Gathered]:
        for name in suite.results:
            yield from self._tried(name, self._suite, suite.revision)

    def _suite(self, name: str, revision: Revision) -> Gathered:
        return official.gather(self.config.root / name, name, revision, self.config.party)

    def _stored(self, name: str, kind: EvidenceKind) -> Gathered:
        path = self.config.root / name
        try:
            with path.open("rb") as file:
                text = file.read(MAX_RESULT_BYTES + 1)
        except OSError as error:
            raise ConfigError(f"cannot read {name}: {error.strerror}") from None
        if len(text) > MAX_RESULT_BYTES:
            raise ConfigError(f"{name} is longer than {MAX_RESULT_BYTES} bytes")
        return results.gather(kind, name, load(text, name), self.config.party)

    def _trace(self, name: str, recorded: Recorded) -> Gathered:
        options = validate.ValidateOptions(
            selection=Selection(revision=recorded.revision),
            party=self.config.party,
            reading=ReadingOptions(keep_going=self.keep_going),
        )
        path = str(self.config.root / name)
        judged = _named(validate.run((path,), options), path, name)
        return results.gather(EvidenceKind.REPLAY, name, judged, self.config.party)

    def _tried(self, name: str, read: Callable[..., T], *more: object) -> Iterator[T]:
        """What `read` makes of a file; nothing and a problem where it cannot, if so wanted."""
        try:
            yield read(name, *more)
        except ClausewiseError as error:
            if not self.keep_going:
                raise
            self.unreadable.append(Problem(ProblemKind.UNREADABLE, name, error.message))

    def _files(
        self, patterns: Iterable[str], where: str, suffixes: tuple[str, ...] = ()
    ) -> list[str]:
        """The files that fit, relative to the root with `/`, each once, in sorted order."""
        root, found = self.config.root, set[str]()
        for pattern in patterns:
            fitting = {
                PurePosixPath(os.path.normpath(match)).as_posix()
                for match in glob.glob(pattern, root_dir=root, recursive=True)  # noqa: PTH207
            }
            files = {name for name in fitting if (root / name).is_file()}
            for folder in fitting - files:
                files |= _in_folder(root, folder, suffixes)
            if not files:
                raise ConfigError(
                    f"{self.config.source}: {where}: no file fits {pattern!r} in {root}",
                    "Make the evidence first, or correct the pattern.",
                )
            found |= files
        return sorted(found)


def _in_folder(root: Path, folder: str, suffixes: tuple[str, ...]) -> set[str]:
    """The files in a folder whose names end in one of `suffixes`."""
    if not suffixes:
        return set()
    return {
        path.relative_to(root).as_posix()
        for path in (root / folder).rglob("*")
        if path.is_file() and path.name.lower().endswith(suffixes)
    }


def _named(result: RunResult, path: str, name: str) -> RunResult:
    """`result` of the trace at `path`, with `name` in its findings and notes in place of that."""

    def renamed(verdict: Verdict) -> Verdict:
        findings = tuple(
            dataclasses.replace(f, at=f.at and Place(name, f.at.seq)) for f in verdict.findings
        )
        return dataclasses.replace(verdict, findings=findings)

    return dataclasses.replace(
        result,
        verdicts=tuple(renamed(verdict) for verdict in result.verdicts),
        notes=tuple(note.replace(path, name) for note in result.notes),
    )
