"""Use case `replay`: a recorded session sent to a live server again, judged and compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio

from clausewise.app.check import described, secrets_of
from clausewise.app.hiding import HidingWriter
from clausewise.app.selection import Selection, in_order
from clausewise.app.validate import era_of
from clausewise.core.errors import ClausewiseError
from clausewise.core.results import UNSAVED, RunResult
from clausewise.core.vocabulary import Party
from clausewise.judge.engine import JudgeOptions, judge
from clausewise.probe.supplied import NOTHING_SUPPLIED
from clausewise.replay.live import Live
from clausewise.replay.run import Replayed, ReplayOptions, replay
from clausewise.replay.script import Script, script_of
from clausewise.trace.events import Event
from clausewise.trace.recordings import ReadingOptions, open_recording
from clausewise.trace.tape import Tape
from clausewise.trace.writer import TraceWriter
from clausewise.transport.http import HttpTarget
from clausewise.transport.stdio import StdioTarget


@dataclass(frozen=True, slots=True)
class ReplayChoices:
    """Choices of one `replay` run.

    Attributes:
        selection: what to report of the new session.
        bounds: how long to wait.
        reading: how to read the recording.
        save_trace: where to write the new session, or None.
    """

    selection: Selection = field(default_factory=Selection)
    bounds: ReplayOptions = field(default_factory=ReplayOptions)
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    save_trace: Path | None = None


def run(
    trace: str,
    target: HttpTarget | StdioTarget,
    choices: ReplayChoices,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> RunResult:
    """Send what the client of `trace` sent to `target`, judge the server's side, and compare.

    Raises:
        NothingJudgedError: the recording cannot be read or has no client, or the target is
            not there; a TraceError names the file and line.
        UsageError: the new trace cannot be written.
    """
    with open_recording(trace, choices.reading) as recording:
        script = script_of(recording.events())
        notes = list(recording.notes)
    secrets = secrets_of(target, NOTHING_SUPPLIED)
    started, begin = datetime.now(UTC), time.monotonic()
    live = Live(script)
    with ExitStack() as stack:
        listeners: list[Callable[[Event], None]] = [live.take]
        if choices.save_trace is not None:
            writer = stack.enter_context(TraceWriter(choices.save_trace))
            listeners.append(HidingWriter(writer, secrets).write)
        tape = Tape(*listeners)
        try:
            replayed = anyio.run(_replay, script, live, target, tape, choices, progress)
        except ClausewiseError as error:
            raise type(error)(secrets.hide(error.message), secrets.hide(error.hint)) from None
    name = str(choices.save_trace or UNSAVED)
    judged = judge(tape.events, trace=name, options=JudgeOptions(party=Party.SERVER))
    revisions = sorted(judged.revisions)
    return RunResult(
        command="replay",
        target=described(target, judged.server, secrets),
        era=era_of(revisions),
        revisions=tuple(revisions),
        verdicts=in_order(v for v in judged.verdicts if choices.selection.takes(v)),
        notes=tuple(secrets.hide(note) for note in (*notes, *replayed.notes, *judged.notes)),
        started=started.isoformat(timespec="seconds").replace("+00:00", "Z"),
        duration_s=round(time.monotonic() - begin, 3),
        party=Party.SERVER,
        answers=replayed.answers,
    )


async def _replay(
    script: Script,
    live: Live,
    target: HttpTarget | StdioTarget,
    tape: Tape,
    choices: ReplayChoices,
    progress: Callable[[int, int], None],
) -> Replayed:
    return await replay(script, live, target, tape, choices.bounds, progress)
