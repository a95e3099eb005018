"""Run the probes against one target: era, probes, passive rules, legacy walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio

from clausewise.core.errors import BarredError, CertificateError, TargetError
from clausewise.core.results import PLANNED, Implementation, Verdict
from clausewise.core.vocabulary import Era, Revision, TransportKind
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.link import Links, Target
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.era import Detection, detect
from clausewise.probe.gates import Situation, gate
from clausewise.probe.observation import (
    Observation,
    crashed,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import Passive, Probe, Turn, probes
from clausewise.probe.supplied import NOTHING_SUPPLIED, Supplied
from clausewise.probe.verdicts import Judging
from clausewise.probe.walk import walk
from clausewise.registry import Rule, rules
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits

_REFUSED_CREDENTIALS = (
    "It refuses the credentials that were given: get fresh ones, or leave them out to judge "
    "the refusal alone."
)
_UNKNOWN_ERA = (
    "the server lets nobody in, so its era is unknown; what can be decided from outside is "
    "judged by 2026-07-28"
)


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """How to probe.

    Attributes:
        revision: the only revision to probe, or None for what the server speaks.
        select: rule ids or prefixes; empty for all.
        ignore: rule ids or prefixes left out.
        call_tools: tools that may be called though they do not say they are read-only.
        supplied: what the user gives beside the target: tokens, a registry entry.
        as_listed: use the severities of the catalogue instead of the text's.
        limits: bounds of every exchange.
        probe_s: the longest time one probe may take, in seconds.
        total_s: the longest time all probes and the legacy session may take together.
        concurrency: how many probes run at a time over HTTP; on stdio they share a process.
        trace: the name of the recording in findings.
    """

    revision: Revision | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    call_tools: frozenset[str] = frozenset()
    supplied: Supplied = NOTHING_SUPPLIED
    as_listed: bool = False
    limits: Limits = field(default_factory=Limits)
    probe_s: float = 20.0
    total_s: float = 120.0
    concurrency: int = 4
    trace: str = "check"


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` steps; `text` is the rule id or what is at hand."""

    done: int
    total: int
    text: str


@dataclass(frozen=True, slots=True)
class ProbeRun:
    """What the probes found: one verdict for each selected rule, in catalogue order.

    `barred` says why the server let nobody in; its era is then unknown.
    """

    era: Era | None
    revisions: tuple[Revision, ...]
    server: Implementation | None
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()
    barred: str | None = None


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
    async with Links(target, tape, options.limits) as links:
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
        self._seen: dict[str, Observation] = {}
        self._deadline = 0.0

    async def run(self) -> ProbeRun:
        self._step("era")
        self._deadline = anyio.current_time() + self._options.total_s
        try:
            detection = await detect(self._links, self._known, self._options.revision)
        except BarredError as barred:
            return await self._stay_outside(barred)
        self._known.era = detection.era
        notes = detection.notes + _version_note(detection)
        session = detection.session
        situation = Situation(self._links.transport, detection.era, self._known.declared)
        if detection.era.has_modern and self._wants_a_second_link(situation):
            await self._links.open_ahead()
        if session is not None:
            notes += await self._walk(session)
        if detection.era.has_modern:
            await self._decide_rules(situation)
        return ProbeRun(
            detection.era,
            _revisions(detection, self._options.revision),
            self._known.server,
            self._verdicts(),
            notes + self._remarks(),
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
        transport = self._links.transport
        await self._decide_rules(Situation(transport, self._known.era, None, barred=reason))
        verdicts = self._verdicts()
        if not any(verdict.outcome.is_judgement for verdict in verdicts):
            raise barred
        notes = (_UNKNOWN_ERA, *self._remarks())
        return ProbeRun(None, (), None, verdicts, notes, barred=reason)

    async def _walk(self, session: LegacySession) -> tuple[str, ...]:
        """Walk the legacy session unless only the modern revision is wanted; gives remarks."""
        left = self._deadline - anyio.current_time()
        share = left / 2 if self._known.era.has_modern else left
        try:
            if self._options.revision is Revision.MODERN:
                return ()
            self._step("legacy session")
            with anyio.move_on_after(max(share, 0)):
                await walk(session, self._links, self._options.call_tools)
                return ()
            return ("the legacy session was cut off: its share of the run's time was used up",)
        except TargetError as error:
            return (f"the legacy session could not be held: {error.message}",)
        finally:
            await session.end()

    def _wants_a_second_link(self, situation: Situation) -> bool:
        probes_beside = (e for e in self._entries.values() if isinstance(e, Probe) and e.beside)
        return any(gate(probe, situation) is None for probe in probes_beside)

    async def _decide_rules(self, situation: Situation) -> None:
        entries = tuple(self._entries.values())
        for turn in Turn:
            limiter = anyio.CapacityLimiter(self._concurrency(turn))
            async with anyio.create_task_group() as group:
                for entry in entries:
                    if isinstance(entry, Probe) and entry.turn is turn:
                        group.start_soon(self._decide, entry, situation, limiter)
        limiter = anyio.CapacityLimiter(1)
        for entry in entries:
            if isinstance(entry, Passive):
                await self._decide(entry, situation, limiter)

    def _concurrency(self, turn: Turn) -> int:
        """How many probes run at a time: on stdio the start of one more process costs the most."""
        apart = turn is not Turn.TOGETHER or self._links.transport is TransportKind.STDIO
        return 1 if apart else self._options.concurrency

    async def _decide(
        self, entry: Probe | Passive, situation: Situation, limiter: anyio.CapacityLimiter
    ) -> None:
        async with limiter:
            self._seen[entry.rule] = gate(entry, situation) or await self._observe(entry)
        self._step(entry.rule)

    async def _observe(self, entry: Probe | Passive) -> Observation:
        try:
            if isinstance(entry, Passive):
                return entry.judge(self._known.traffic)
            return await self._experiment(entry)
        except TargetError as error:
            return inconclusive(error.message)
        except Exception as error:  # noqa: BLE001 - one broken probe must not end the run
            return crashed(f"{entry.name} raised {type(error).__name__}: {error}")

    async def _experiment(self, probe: Probe) -> Observation:
        """Run a probe within its share of the time."""
        share = min(self._deadline - anyio.current_time(), self._options.probe_s)
        if share <= 0:
            return inconclusive(f"the run's {self._options.total_s:g} seconds were used up")
        peer = Peer(self._links, self._known)
        try:
            with anyio.move_on_after(share):
                return await probe.run(peer)
            return inconclusive(f"cut off after {share:.3g} seconds")
        finally:
            await peer.close()

    def _verdicts(self) -> tuple[Verdict, ...]:
        judging = Judging(self._options.trace, self._options.as_listed)
        unseen = self._unseen()
        return tuple(
            judging.verdict(rule, self._seen.get(name, unseen), self._entries.get(name))
            for name, rule in self._rules.items()
        )

    def _unseen(self) -> Observation:
        """What stands for the rules that no probe decided."""
        if self._options.revision is Revision.LEGACY:
            return not_applicable("the run is limited to revision 2025-11-25")
        if not self._known.era.has_modern:
            return not_applicable("the server speaks only the legacy era")
        return not_observed(f"{PLANNED}: the rule has no probe yet")

    def _remarks(self) -> tuple[str, ...]:
        """The probes' remarks about selected rules."""
        return tuple(
            f"{name}: {note}"
            for name in self._rules
            if name in self._seen
            for note in self._seen[name].notes
        )

    def _step(self, text: str) -> None:
        self._progress(Progress(len(self._seen), len(self._entries), text))


def selected(known: Mapping[str, Rule], options: ProbeOptions) -> dict[str, Rule]:
    """The rules that `select` and `ignore` leave, by id."""
    return {
        name: rule
        for name, rule in known.items()
        if (not options.select or name.startswith(options.select))
        and not (options.ignore and name.startswith(options.ignore))
    }


def _entries_needed(
    known: Mapping[str, Probe | Passive], wanted: Mapping[str, Rule]
) -> dict[str, Probe | Passive]:
    """The entries of the wanted rules; all probes when a passive rule lives on their traffic."""
    chosen = {rule: entry for rule, entry in known.items() if rule in wanted}
    if not any(isinstance(entry, Passive) for entry in chosen.values()):
        return chosen
    return {
        rule: entry for rule, entry in known.items() if rule in wanted or isinstance(entry, Probe)
    }


def _revisions(detection: Detection, wanted: Revision | None) -> tuple[Revision, ...]:
    spoken: list[Revision] = []
    if detection.legacy_version == Revision.LEGACY.value and wanted is not Revision.MODERN:
        spoken.append(Revision.LEGACY)
    if detection.era.has_modern:
        spoken.append(Revision.MODERN)
    return tuple(spoken)


def _version_note(detection: Detection) -> tuple[str, ...]:
    version = detection.legacy_version
    if version is None or version == Revision.LEGACY.value:
        return ()
    return (f"initialize negotiates {version}, so no clause of 2025-11-25 is judged",)
