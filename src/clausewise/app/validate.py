"""Use case `validate`: recorded sessions in, one result out."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.app.merging import Merging
from clausewise.app.selection import Selection, in_order
from clausewise.core.errors import NothingJudgedError, TraceError
from clausewise.core.results import Implementation, RunResult, Target, TraceSummary, worst_of
from clausewise.core.vocabulary import Era, Outcome, Party, Revision
from clausewise.judge.engine import JudgeOptions, JudgeResult, judge
from clausewise.trace.recordings import ReadingOptions, open_recording
from clausewise.trace.sources import expanded


@dataclass(frozen=True, slots=True)
class ValidateOptions:
    """Choices of one `validate` run.

    Attributes:
        selection: what to report; its revision is that of sessions that name none.
        party: judge only the duties of this side; None is both.
        reading: how to read each recording; its `keep_going` also skips those that cannot be
            read, and says so.
    """

    selection: Selection = field(default_factory=Selection)
    party: Party | None = None
    reading: ReadingOptions = field(default_factory=ReadingOptions)


def run(names: tuple[str, ...], options: ValidateOptions) -> RunResult:
    """Judge the recordings that `names` mean: files, folders, patterns, `-` for standard input.

    Each finding names its trace; of several, `traces` of the result sums up each. Nothing
    depends on a clock: the same recordings give an equal result.

    Raises:
        NothingJudgedError: no trace could be judged; a TraceError names the file and line.
    """
    traces = expanded(names)
    gathering = _Gathering(options, is_alone=len(traces) == 1)
    for trace in traces:
        gathering.judge(trace)
    return gathering.result(", ".join(dict.fromkeys(names)))


class _Gathering:
    """The run in progress: what the traces judged so far have given."""

    def __init__(self, options: ValidateOptions, *, is_alone: bool) -> None:
        self._options = options
        self._is_alone = is_alone
        self._merging = Merging()
        self._revisions: set[Revision] = set()
        self._servers: set[Implementation | None] = set()
        self._summaries: list[TraceSummary] = []
        self._notes: list[str] = []
        self._judged = 0

    def judge(self, trace: str) -> None:
        """Judge one trace; one that cannot be read raises, or is told when others remain."""
        try:
            part, summary = _judged(trace, self._options)
        except TraceError as error:
            if not self._options.reading.keep_going or self._is_alone:
                raise
            note = f"not judged: {error.message}"
            self._notes.append(note)
            self._summaries.append(TraceSummary(trace, Outcome.NOT_OBSERVED, 0, (note,)))
            return
        self._judged += 1
        self._merging.add(trace, part.verdicts)
        self._revisions.update(part.revisions)
        self._servers.add(part.server)
        self._summaries.append(summary)
        self._notes += [self._named(trace, note) for note in summary.notes]

    def result(self, name: str) -> RunResult:
        """Everything together; `name` says what was judged."""
        if not self._judged:
            raise NothingJudgedError("no trace could be judged", "; ".join(self._notes))
        selection = self._options.selection
        revisions = sorted(self._revisions)
        return RunResult(
            command="validate",
            target=Target("trace", name, self._only_server()),
            era=era_of(revisions),
            revisions=tuple(revisions),
            verdicts=in_order(v for v in self._merging.verdicts() if selection.takes(v)),
            notes=tuple(self._notes),
            traces=() if self._is_alone else tuple(self._summaries),
            party=self._options.party,
        )

    def _only_server(self) -> Implementation | None:
        """The server that every trace is about, or None."""
        return next(iter(self._servers)) if len(self._servers) == 1 else None

    def _named(self, trace: str, note: str) -> str:
        return note if self._is_alone or note.startswith(f"{trace}:") else f"{trace}: {note}"


def era_of(revisions: list[Revision]) -> Era | None:
    """The era whose revisions these are; None for none."""
    if not revisions:
        return None
    if len(revisions) == len(Revision):
        return Era.DUAL
    return Era.LEGACY if revisions[0] is Revision.LEGACY else Era.MODERN


def _judged(trace: str, options: ValidateOptions) -> tuple[JudgeResult, TraceSummary]:
    """The judgement of one trace, and its summary within the selection."""
    with open_recording(trace, options.reading) as recording:
        result = judge(
            recording.events(),
            trace=trace,
            options=JudgeOptions(
                revision=options.selection.revision, party=options.party, as_probe=False
            ),
        )
        summary = TraceSummary(
            name=trace,
            verdict=worst_of(v for v in result.verdicts if options.selection.takes(v)),
            events=recording.count,
            notes=(*recording.notes, *result.notes),
        )
    return result, summary
