"""Run the probes against one target: its era, then those of each era that it speaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from clausewise.core.errors import BarredError, CertificateError
from clausewise.core.results import Implementation, Verdict
from clausewise.core.vocabulary import Era, Revision
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.allowance import Allowance
from clausewise.probe.clause_experiments import ClauseVerdict, probed_clauses
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.era import UNKNOWN_ERA, Detection, detect
from clausewise.probe.experiments import Experiments
from clausewise.probe.gates import Situation, gate, unseen_rule
from clausewise.probe.legacy_era import LegacyEra
from clausewise.probe.observation import Observation
from clausewise.probe.options import ProbeOptions, Progress
from clausewise.probe.registration import Passive, Probe, Turn, probes
from clausewise.probe.verdicts import Judging
from clausewise.registry import Rule, rules
from clausewise.trace.tape import Tape
from clausewise.transport.pace import Pace

__all__ = ["ProbeOptions", "ProbeRun", "Progress", "run_probes", "selected"]

_REFUSED_CREDENTIALS = (
    "It refuses the credentials that were given: get fresh ones, or leave them out to judge "
    "the refusal alone."
)


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """What the probes found: one verdict for each selected rule, in catalogue order.

    `barred` says why the server let nobody in; its era is then unknown. `clauses` are what
    probes say of clauses of 2025-11-25, beside what the recording shows. `commands` has, by
    the `seq` of legacy events, a command that lets them come again.
    """

    era: Era | None
    revisions: tuple[Revision, ...]
    server: Implementation | None
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    barred: str | None = None
    clauses: tuple[ClauseVerdict, ...] = ()
    commands: Mapping[int, str] = field(default_factory=dict)


async def run_probes(
    target: Target,
    options: ProbeOptions,
    tape: Tape,
    progress: Callable[[Progress], None] = lambda _: None,
) -> ProbeRun:
    """Probe a live server in the eras it speaks, recording everything on `tape`.

    Raises:
        TargetError: the target cannot be reached or speaks no MCP.
    """
    pace = Pace(options.rate, options.limits.backoff_s)
    async with Links(target, tape, options.limits, pace) as links:
        return await _Run(links, options, progress).run()


class _Run:
    """One run against one server."""

    def __init__(
        self, links: Links, options: ProbeOptions, progress: Callable[[Progress], None]
    ) -> None:
        self._links = links
        self._options = options
        self._progress = progress
        self._known = Acquaintance(
            links.transport, Era.MODERN, options.call_tools, options.supplied
        )
        self._rules = selected(rules(), options)
        self._entries = _entries_needed(probes(), self._rules)
        self._seen: Mapping[str, Observation] = {}
        self._clause_probes = 0
        self._done = 0
        self._deadline = 0.0

    async def run(self) -> ProbeRun:
        self._step("era")
        self._deadline = anyio.current_time() + self._options.total_s
        try:
            detection = await detect(self._links, self._known, self._options.revision)
        except BarredError as barred:
            return await self._stay_outside(barred)
        self._known.era = detection.era
        legacy = await self._legacy_era(detection)
        try:
            await self._judge(legacy)
        finally:
            if legacy is not None:
                await legacy.end()
        return ProbeRun(
            detection.era,
            detection.revisions(self._options.revision),
            self._known.server,
            self._verdicts(),
            detection.remarks + (legacy.remarks if legacy is not None else ()) + self._remarks(),
            clauses=legacy.verdicts if legacy is not None else (),
            commands=self._links.commands,
        )

    async def _stay_outside(self, barred: BarredError) -> ProbeRun:
        """Decide what can be decided about a server that lets nobody in.

        Raises:
            BarredError: the user's credentials were refused, or nothing can be decided.
        """
        if Peer(self._links, self._known).authorized and not isinstance(barred, CertificateError):
            raise BarredError(barred.message, _REFUSED_CREDENTIALS)
        if self._options.revision is Revision.LEGACY:
            raise barred
        reason = f"{barred.message}. {barred.hint}"
        outside = await self._experiments(self._situation(None, reason))
        entries = self._entries.values()
        at_a_time = self._options.at_a_time(self._links.transport)
        await outside.together(entries, anyio.CapacityLimiter(at_a_time), disturbed=False)
        self._seen = await outside.alone(entries, disturbed=False)
        verdicts = self._verdicts()
        if not any(verdict.outcome.is_judgement for verdict in verdicts):
            raise barred
        notes = (UNKNOWN_ERA, *self._remarks())
        return ProbeRun(None, (), None, verdicts, notes, barred=reason)

    async def _legacy_era(self, detection: Detection) -> LegacyEra | None:
        """The legacy era, if it is spoken and wanted."""
        session = detection.session
        if session is None:
            return None
        if self._options.revision is Revision.MODERN:
            await session.end()
            return None
        self._step("legacy session")
        if session.version == Revision.LEGACY.value:
            self._clause_probes = len(probed_clauses(self._options))
        left, deadline = self._deadline - anyio.current_time(), self._deadline
        if detection.era.has_modern:
            deadline -= left / 2
        rules = self._rules if detection.era.has_modern else ()
        return LegacyEra(self._links, session, self._allowance(deadline), rules, self._decided)

    async def _judge(self, legacy: LegacyEra | None) -> None:
        """Probe the eras beside each other, then what must run alone."""
        modern: Experiments | None = None
        if self._known.era.has_modern:
            modern = await self._experiments(self._situation(self._known.declared))
        entries = tuple(self._entries.values())
        at_a_time = self._options.at_a_time(self._links.transport)
        beside = legacy is not None and modern is not None and at_a_time > 1
        if legacy is not None and modern is not None and beside:
            half = at_a_time // 2
            async with anyio.create_task_group() as group:
                group.start_soon(legacy.together, anyio.CapacityLimiter(half))
                rest = anyio.CapacityLimiter(at_a_time - half)
                group.start_soon(modern.together, entries, rest, True)
        elif legacy is not None:
            await legacy.together(anyio.CapacityLimiter(at_a_time))
        if modern is not None and not beside:
            await modern.together(entries, anyio.CapacityLimiter(at_a_time), disturbed=False)
        if legacy is not None:
            await legacy.alone()
        if modern is not None:
            self._seen = await modern.alone(entries, disturbed=beside)

    def _wants_a_second_link(self, situation: Situation) -> bool:
        probes_beside = (e for e in self._entries.values() if isinstance(e, Probe) and e.beside)
        return any(gate(probe, situation) is None for probe in probes_beside)

    def _situation(
        self, capabilities: Mapping[str, Any] | None, barred: str | None = None
    ) -> Situation:
        supplied = self._options.supplied
        return Situation(self._links.transport, self._known.era, capabilities, barred, supplied)

    async def _experiments(self, situation: Situation) -> Experiments:
        """The probes of rules; a process that they need beside another has been started."""
        if self._wants_a_second_link(situation):
            await self._links.open_ahead()
        allowance = self._allowance(self._deadline)
        return Experiments(self._links, self._known, allowance, situation, self._decided)

    def _allowance(self, deadline: float) -> Allowance:
        return Allowance(self._options, self._links.pace, deadline)

    def _decided(self, name: str) -> None:
        self._done += 1
        self._step(name)

    def _verdicts(self) -> tuple[Verdict, ...]:
        judging = Judging(self._options.trace, self._options.as_listed)
        unseen = unseen_rule(self._known.era, self._options.revision)
        return tuple(
            judging.verdict(rule, self._seen.get(name, unseen), self._entries.get(name))
            for name, rule in self._rules.items()
        )

    def _remarks(self) -> tuple[str, ...]:
        """The probes' remarks about selected rules."""
        return tuple(
            f"{name}: {note}"
            for name in self._rules
            if name in self._seen
            for note in self._seen[name].notes
        )

    def _step(self, text: str) -> None:
        rules = len(self._entries) if self._known.era.has_modern else 0
        self._progress(Progress(self._done, rules + self._clause_probes, text))


def selected(known: Mapping[str, Rule], options: ProbeOptions) -> dict[str, Rule]:
    """The rules that `options` takes, by id."""
    return {name: rule for name, rule in known.items() if options.takes(name)}


def _entries_needed(
    known: Mapping[str, Probe | Passive], wanted: Mapping[str, Rule]
) -> dict[str, Probe | Passive]:
    """The entries of the wanted rules; all probes when one of them lives on their traffic."""
    chosen = {rule: entry for rule, entry in known.items() if rule in wanted}
    if not any(isinstance(e, Passive) or e.turn is Turn.END for e in chosen.values()):
        return chosen
    return {
        rule: entry for rule, entry in known.items() if rule in wanted or isinstance(entry, Probe)
    }
