"""Use case `validate`: recorded sessions in, one result out."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from clausewise.app.merging import merged
from clausewise.app.selection import Selection, in_order
from clausewise.core.errors import NothingJudgedError, TraceError
from clausewise.core.results import Implementation, RunResult, Target
from clausewise.core.vocabulary import Era, Party, Revision
from clausewise.judge.engine import JudgeOptions, JudgeResult, judge
from clausewise.report.text import count
from clausewise.trace.events import Event
from clausewise.trace.reader import BadLine, ReadLimits, read_events

STANDARD_INPUT = "-"
_TOLD_BAD_LINES = 5


@dataclass(frozen=True, slots=True)
class ValidateOptions:
    """Choices of one `validate` run.

    Attributes:
        selection: what to report; its revision is that of sessions that name none.
        party: judge only the duties of this side; None is both.
        keep_going: skip bad lines and files that cannot be read, and say so.
        limits: bounds on each trace.
    """

    selection: Selection = field(default_factory=Selection)
    party: Party | None = None
    keep_going: bool = False
    limits: ReadLimits = field(default_factory=ReadLimits)


def run(names: tuple[str, ...], options: ValidateOptions) -> RunResult:
    """Judge the traces called `names`; `-` is standard input.

    Each finding names its trace. Nothing depends on a clock: the same traces give an
    equal result.

    Raises:
        NothingJudgedError: no trace could be judged; a TraceError names the file and line.
    """
    parts: list[JudgeResult] = []
    notes: list[str] = []
    for name in dict.fromkeys(names):
        try:
            part = _judged(name, options, notes)
        except TraceError as error:
            if not options.keep_going or len(names) == 1:
                raise
            notes.append(f"not judged: {error.message}")
            continue
        parts.append(part)
        prefix = f"{name}: " if len(names) > 1 else ""
        notes += [f"{prefix}{note}" for note in part.notes]
    if not parts:
        raise NothingJudgedError("no trace could be judged", "; ".join(notes))
    verdicts = merged(verdict for part in parts for verdict in part.verdicts)
    revisions = sorted({revision for part in parts for revision in part.revisions})
    return RunResult(
        command="validate",
        target=Target("trace", ", ".join(dict.fromkeys(names)), _only_server(parts)),
        era=era_of(revisions),
        revisions=tuple(revisions),
        verdicts=in_order(v for v in verdicts if options.selection.takes(v)),
        notes=tuple(notes),
    )


def _only_server(parts: list[JudgeResult]) -> Implementation | None:
    """The server that every trace is about, or None."""
    servers = {part.server for part in parts}
    return servers.pop() if len(servers) == 1 else None


def era_of(revisions: list[Revision]) -> Era | None:
    """The era whose revisions these are; None for none."""
    if not revisions:
        return None
    if len(revisions) == len(Revision):
        return Era.DUAL
    return Era.LEGACY if revisions[0] is Revision.LEGACY else Era.MODERN


def _judged(name: str, options: ValidateOptions, notes: list[str]) -> JudgeResult:
    """The judgement of one trace; what is to be said about its lines is added to `notes`."""
    skipped: list[BadLine] = []

    def on_bad_line(bad: BadLine) -> None:
        if not bad.cut and not options.keep_going:
            raise TraceError(
                f"{name}:{bad.number}: {bad.why}",
                "Use --keep-going to skip bad lines and judge the rest.",
            )
        skipped.append(bad)

    with _opened(name) as file:
        lines = bounded_lines(file, options.limits.max_line_bytes)
        events = read_events(lines, name, limits=options.limits, on_bad_line=on_bad_line)
        result = judge(
            _at_least_one(events, name),
            trace=name,
            options=JudgeOptions(
                revision=options.selection.revision, party=options.party, as_probe=False
            ),
        )
    notes += [f"{name}:{bad.number}: skipped: {bad.why}" for bad in skipped[:_TOLD_BAD_LINES]]
    if len(skipped) > _TOLD_BAD_LINES:
        notes.append(f"{name}: {count(len(skipped) - _TOLD_BAD_LINES, 'more line')} skipped")
    return result


def bounded_lines(file: BinaryIO, longest: int) -> Iterator[bytes]:
    """The lines of `file`; one longer than `longest` bytes is not held but replaced.

    Its replacement is too long, too, so that a reader with this bound refuses it.
    """
    while line := file.readline(longest + 2):
        rest = line
        while len(line) > longest and rest and not rest.endswith(b"\n"):
            rest = file.readline(longest + 2)
        yield line if rest is line else b"x" * (longest + 1) + b"\n"


def _at_least_one(events: Iterator[Event], name: str) -> Iterator[Event]:
    found = False
    for event in events:
        found = True
        yield event
    if not found:
        raise TraceError(
            f"{name} has no events", "Record one with `clausewise check --save-trace`."
        )


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == STANDARD_INPUT:
        yield sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as file:
            yield file
    except OSError as error:
        raise TraceError(f"cannot read {name}: {error.strerror}") from None
