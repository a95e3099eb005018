"""Read the outcomes of tests from JUnit XML, whatever tool wrote it.

The tools agree on `<testcase name= classname=>` with `<failure>`, `<error>` or `<skipped>`
inside, and differ in what they put there; `TestRun` keeps what they give. A document type
declaration is refused, so that no entity is ever expanded or fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.parsers import expat

from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Outcome

MAX_BYTES = 256 * 1024 * 1024
MAX_RUNS = 1_000_000
MAX_DEPTH = 64
_CHUNK_BYTES = 256 * 1024

_OUTCOMES = {
    "failure": Outcome.FAIL,
    "error": Outcome.FAIL,
    "skipped": Outcome.NOT_OBSERVED,
    "disabled": Outcome.NOT_OBSERVED,
}
"""What an element within a test case says; a test case without one passed."""


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of one test, as a report tells it.

    `suites` are the names of the suites around it, outermost first; `file` and `line` are
    given by few tools. `outcome` is pass, fail, or not-observed for a test that was skipped.
    """

    __test__ = False  # pytest collects classes whose names begin so

    name: str
    classname: str
    suites: tuple[str, ...]
    outcome: Outcome
    file: str | None = None
    line: int | None = None


def read_junit(path: Path) -> Iterator[TestRun]:
    """The test runs of a report, in its order, as they are read.

    Raises:
        UsageError: it cannot be read, is no XML, has a document type declaration, or goes
            beyond MAX_BYTES, MAX_RUNS or MAX_DEPTH; the message names the line.
    """
    reader = _Reader(path)
    try:
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield from reader.feed(chunk)
            yield from reader.feed(b"", last=True)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


class _Reader:
    """Collects test cases from the elements that the parser meets."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._bytes = self._depth = self._count = 0
        self._suites: list[Mapping[str, str]] = []
        self._case: Mapping[str, str] | None = None
        self._outcome = Outcome.PASS
        self._done: list[TestRun] = []
        self._root = ""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._refuse
        self._parser = parser

    def feed(self, chunk: bytes, *, last: bool = False) -> Iterator[TestRun]:
        self._bytes += len(chunk)
        if self._bytes > MAX_BYTES:
            raise self._bad(f"is longer than {MAX_BYTES} bytes")
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            raise self._bad(f"is no XML: {expat.errors.messages[error.code]}") from None
        if last and self._root not in ("testsuites", "testsuite"):
            raise self._bad(f"is no JUnit report: its root is <{self._root}>")
        done, self._done = self._done, []
        yield from done

    def _refuse(self, *_: object) -> None:
        raise self._bad("has a document type declaration, which is not read")

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._root = self._root or tag
        if self._depth > MAX_DEPTH:
            raise self._bad(f"nests deeper than {MAX_DEPTH} elements")
        if tag == "testsuite":
            self._suites.append(attributes)
        elif tag == "testcase":
            self._case, self._outcome = attributes, _status(attributes)
        elif self._case is not None and tag in _OUTCOMES and self._outcome is not Outcome.FAIL:
            self._outcome = _OUTCOMES[tag]

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == "testsuite" and self._suites:
            self._suites.pop()
        elif tag == "testcase" and self._case is not None:
            self._count += 1
            if self._count > MAX_RUNS:
                raise self._bad(f"has more than {MAX_RUNS} test cases")
            self._done.append(self._run(self._case))
            self._case = None

    def _run(self, case: Mapping[str, str]) -> TestRun:
        files = [case, *reversed(self._suites)]
        file = next((found for given in files if (found := _file(given))), None)
        line = case.get("line", case.get("lineno", ""))
        return TestRun(
            name=case.get("name", ""),
            classname=case.get("classname", case.get("class", "")),
            suites=tuple(suite.get("name", "") for suite in self._suites),
            outcome=self._outcome,
            file=file,
            line=int(line) if line.isascii() and line.isdigit() and len(line) < 9 else None,
        )

    def _bad(self, what: str) -> UsageError:
        line = self._parser.CurrentLineNumber
        return UsageError(f"{self._path}:{line} {what}", "Give a JUnit XML report.")


def _status(case: Mapping[str, str]) -> Outcome:
    """What the attributes say already: some tools mark a test that did not run so."""
    not_run = case.get("status") in ("notrun", "skipped", "disabled")
    return Outcome.NOT_OBSERVED if not_run else Outcome.PASS


def _file(attributes: Mapping[str, str]) -> str | None:
    return attributes.get("file") or attributes.get("filepath") or None
