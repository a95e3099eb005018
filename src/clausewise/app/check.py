"""Use case `check`: probe a live server, judge the recording, one result out."""

from __future__ import annotations

import dataclasses
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import anyio

from clausewise import registry
from clausewise.app.credentials import Secrets, header_secrets, query_values
from clausewise.app.hiding import HidingWriter
from clausewise.app.joining import joined, told_once
from clausewise.app.selection import Selection, in_order
from clausewise.core.errors import ClausewiseError, TargetError
from clausewise.core.results import (
    UNSAVED,
    Finding,
    Implementation,
    RunResult,
    Target,
    Verdict,
    worst,
)
from clausewise.core.vocabulary import Outcome, Party, Revision, TransportKind
from clausewise.judge.engine import JudgeOptions, judge
from clausewise.probe.run import ProbeOptions, ProbeRun, Progress, run_probes
from clausewise.probe.supplied import NOTHING_SUPPLIED, Supplied
from clausewise.trace.events import Event
from clausewise.trace.tape import Tape
from clausewise.trace.writer import TraceWriter
from clausewise.transport.http import HttpTarget
from clausewise.transport.limits import Limits
from clausewise.transport.stdio import StdioTarget

_GRACE_S = 30.0
_SHORTEST_PROBE_S = 20.0


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Choices of one `check` run.

    Attributes:
        selection: what to probe and report.
        as_listed: give the catalogue's severities instead of those the text supports.
        call_tools: tools that may be called though they do not declare `readOnlyHint`.
        supplied: what rules need beside the target: tokens, a registry entry.
        timeout_s: the longest wait for one answer.
        max_time_s: the longest time for all probes together.
        rate: the most requests per second to the target, or None for no bound.
        concurrency: how many probes run at a time, or None for the usual number.
        save_trace: where to write the recording, or None.
    """

    selection: Selection = field(default_factory=Selection)
    as_listed: bool = False
    call_tools: frozenset[str] = frozenset()
    supplied: Supplied = NOTHING_SUPPLIED
    timeout_s: float = 10.0
    max_time_s: float = 120.0
    rate: float | None = None
    concurrency: int | None = None
    save_trace: Path | None = None

    @property
    def recording(self) -> str:
        return UNSAVED if self.save_trace is None else str(self.save_trace)


def run(
    target: HttpTarget | StdioTarget,
    options: CheckOptions,
    progress: Callable[[Progress], None] = lambda _: None,
) -> RunResult:
    """Probe `target` and judge everything that was exchanged.

    The rules are decided by probes, the clauses of 2025-11-25 that bind servers by judging
    the recording. Credentials are hidden in the result, in errors and in the saved trace.

    Raises:
        TargetError: it cannot be reached, speaks no MCP, or never comes to an end.
        UsageError: the trace cannot be written.
    """
    secrets = secrets_of(target, options.supplied)
    started, begin = datetime.now(UTC), time.monotonic()
    with ExitStack() as stack:
        listeners: list[Callable[[Event], None]] = []
        if options.save_trace is not None:
            writer = stack.enter_context(TraceWriter(options.save_trace))
            listeners.append(HidingWriter(writer, secrets).write)
        tape = Tape(*listeners)
        try:
            probed = anyio.run(_probe, target, options, tape, progress)
        except ClausewiseError as error:
            raise type(error)(secrets.hide(error.message), secrets.hide(error.hint)) from None
    verdicts = (*probed.verdicts, *clause_verdicts(tape.events, probed, options.recording))
    return RunResult(
        command="check",
        target=described(target, probed.server, secrets),
        era=probed.era,
        revisions=probed.revisions,
        verdicts=in_order(_hidden(v, secrets) for v in verdicts if options.selection.takes(v)),
        notes=tuple(secrets.hide(note) for note in probed.notes),
        started=started.isoformat(timespec="seconds").replace("+00:00", "Z"),
        duration_s=round(time.monotonic() - begin, 3),
    )


async def _probe(
    target: HttpTarget | StdioTarget,
    options: CheckOptions,
    tape: Tape,
    progress: Callable[[Progress], None],
) -> ProbeRun:
    probing = probe_options(options)
    try:
        with anyio.fail_after(options.max_time_s + _GRACE_S):
            return await run_probes(target, probing, tape, progress)
    except TimeoutError:
        raise TargetError(
            f"the run did not end within {options.max_time_s + _GRACE_S:g} seconds",
            "Give it more time with --max-time, or judge less with --select.",
        ) from None


def probe_options(options: CheckOptions) -> ProbeOptions:
    """The choices as the probes take them."""
    return ProbeOptions(
        revision=options.selection.revision,
        select=options.selection.select,
        ignore=options.selection.ignore,
        call_tools=options.call_tools,
        supplied=options.supplied,
        as_listed=options.as_listed,
        limits=dataclasses.replace(Limits(), answer_s=options.timeout_s),
        probe_s=max(_SHORTEST_PROBE_S, 2 * options.timeout_s),
        total_s=options.max_time_s,
        concurrency=options.concurrency,
        rate=options.rate,
        trace=options.recording,
    )


def clause_verdicts(events: Sequence[Event], probed: ProbeRun, trace: str) -> list[Verdict]:
    """The verdicts of the clauses of 2025-11-25 that bind servers, and our own slips.

    What the recording shows of a clause is joined with what its probes decided.
    """
    if probed.era is None:
        return _unjudged(Outcome.INCONCLUSIVE, probed.barred)
    if not probed.era.has_legacy:
        return _unjudged(Outcome.NOT_APPLICABLE, "the server speaks only the modern era")
    judged = judge(events, trace=trace, options=JudgeOptions(as_probe=True))
    slips = _slips_by_clause(judged.slips)
    reported = {verdict.id for verdict in _about_servers(judged.verdicts)}
    recorded = [
        _reproducible(_with_slip(verdict, slips.get(verdict.id)), probed.commands)
        for verdict in judged.verdicts
        if verdict.id in reported or verdict.id in slips
    ]
    sessions = {event.seq: event.session for event in events}
    return told_once(joined(recorded, probed.clauses), sessions)


def _about_servers(verdicts: Iterable[Verdict]) -> list[Verdict]:
    clauses = registry.clauses(Revision.LEGACY)
    return [verdict for verdict in verdicts if Party.SERVER in clauses[verdict.id].binds]


def _unjudged(outcome: Outcome, reason: str | None) -> list[Verdict]:
    """The verdicts of all clauses that bind servers where no legacy session was held."""
    clauses = registry.clauses(Revision.LEGACY)
    return [
        verdict
        if verdict.outcome is Outcome.EXCLUDED and not clauses[verdict.id].probes
        else dataclasses.replace(verdict, outcome=outcome, reason=reason)
        for verdict in _about_servers(judge((), trace=UNSAVED).verdicts)
    ]


def _slips_by_clause(slips: Iterable[Finding]) -> dict[str, Finding]:
    """The first slip of ours by the clause that it breaks."""
    clauses = registry.clauses(Revision.LEGACY).values()
    found: dict[str, Finding] = {}
    for slip in slips:
        for clause in clauses:
            if slip.check in clause.checks and slip.url == clause.url:
                found.setdefault(clause.id, slip)
    return found


def _with_slip(verdict: Verdict, slip: Finding | None) -> Verdict:
    """A slip of ours makes the verdict crashed, unless the server failed by itself."""
    if slip is None:
        return verdict
    where = f" at seq {slip.at.seq}" if slip.at else ""
    return dataclasses.replace(
        verdict,
        outcome=worst((verdict.outcome, Outcome.CRASHED)),
        reason=f"Clausewise broke the clause itself{where}: {slip.message}",
    )


def _reproducible(verdict: Verdict, commands: Mapping[int, str]) -> Verdict:
    """The verdict, each finding at a known event with the command that has it come again."""
    return dataclasses.replace(
        verdict,
        findings=tuple(
            dataclasses.replace(f, reproduce=commands.get(f.at.seq)) if f.at is not None else f
            for f in verdict.findings
        ),
    )


def secrets_of(target: HttpTarget | StdioTarget, supplied: Supplied) -> Secrets:
    """What must not be shown of a target and of what the user supplied."""
    if not isinstance(target, HttpTarget):
        return Secrets(target.env.values())
    tokens = (supplied.foreign_token, supplied.low_scope_token)
    given = tuple(token for token in tokens if token is not None)
    return Secrets(header_secrets(target.headers) + query_values(target.url) + given)


def described(
    target: HttpTarget | StdioTarget, server: Implementation | None, secrets: Secrets
) -> Target:
    """The target as results name it."""
    if isinstance(target, HttpTarget):
        return Target(TransportKind.HTTP, secrets.hide(target.public_url), server)
    return Target(TransportKind.STDIO, secrets.hide(shlex.join(target.command)), server)


def _hidden(verdict: Verdict, secrets: Secrets) -> Verdict:
    return dataclasses.replace(
        verdict,
        reason=verdict.reason and secrets.hide(verdict.reason),
        findings=tuple(
            dataclasses.replace(
                finding,
                message=secrets.hide(finding.message),
                seen=secrets.hide(finding.seen),
                expected=secrets.hide(finding.expected),
                reproduce=finding.reproduce and secrets.hide(finding.reproduce),
            )
            for finding in verdict.findings
        ),
    )
