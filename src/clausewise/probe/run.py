"""Run the probes against one target: era, probes, passive rules, legacy walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.results import Implementation, Verdict
from clausewise.core.vocabulary import Era, Revision, TransportKind
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.era import Detection, detect
from clausewise.probe.gates import Situation, gate
from clausewise.probe.legacy import LegacySession
from clausewise.probe.link import Links, Target
from clausewise.probe.observation import (
    Observation,
    crashed,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.peer import Peer
from clausewise.probe.registration import Passive, Probe, probes
from clausewise.probe.verdicts import Judging
from clausewise.probe.walk import walk
from clausewise.registry import Rule, rules
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits

_PROCESSES = 2
"""How many probes run at a time on stdio: each has a process, and its start costs the most."""


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """How to probe.

    Attributes:
        revision: the only revision to probe, or None for what the server speaks.
        select: rule ids or prefixes; empty for all.
        ignore: rule ids or prefixes left out.
        call_tools: tools that may be called though they do not say they are read-only.
        as_listed: use the severities of the catalogue instead of the text's.
        limits: bounds of every exchange.
        probe_s: the longest time one probe may take, in seconds.
        total_s: the longest time all probes and the legacy session may take together.
        concurrency: how many probes run at a time (fewer on stdio).
        trace: the name of the recording in findings.
    """

    revision: Revision | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    call_tools: frozenset[str] = frozenset()
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
    """What the probes found: one verdict for each selected rule, in catalogue order."""

    era: Era
    revisions: tuple[Revision, ...]
    server: Implementation | None
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...] = ()


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
        self._known = Acquaintance(links.transport, Era.MODERN, options.call_tools)
        self._rules = selected(rules(), options)
        self._entries = _entries_needed(probes(), self._rules)
        self._seen: dict[str, Observation] = {}
        self._deadline = 0.0

    async def run(self) -> ProbeRun:
        self._step("era")
        self._deadline = anyio.current_time() + self._options.total_s
        detection = await detect(self._links, self._known, self._options.revision)
        self._known.era = detection.era
        notes = detection.notes + _version_note(detection)
        session = detection.session
        if session is not None and detection.era.has_modern:
            await session.rest()
        if detection.era.has_modern:
            await self._decide_rules(detection.era)
        if session is not None:
            notes += await self._walk(session)
        return ProbeRun(
            detection.era,
            _revisions(detection, self._options.revision),
            self._known.server,
            self._verdicts(),
            notes + self._remarks(),
        )

    async def _walk(self, session: LegacySession) -> tuple[str, ...]:
        """Walk the legacy session unless only the modern revision is wanted; gives remarks."""
        left = self._deadline - anyio.current_time()
        try:
            if self._options.revision is Revision.MODERN:
                return ()
            self._step("legacy session")
            with anyio.move_on_after(max(left, 0)):
                await walk(session, self._links, self._options.call_tools)
                return ()
            return ("the legacy session was cut off: the run's time was used up",)
        except TargetError as error:
            return (f"the legacy session could not be held: {error.message}",)
        finally:
            await session.end()

    async def _decide_rules(self, era: Era) -> None:
        situation = Situation(self._links.transport, era, self._known.declared)
        entries = tuple(self._entries.values())
        together = [e for e in entries if isinstance(e, Probe) and not e.alone]
        limiter = anyio.CapacityLimiter(self._concurrency)
        async with anyio.create_task_group() as group:
            for probe in together:
                group.start_soon(self._decide, probe, situation, limiter)
        after: list[Probe | Passive] = [e for e in entries if isinstance(e, Probe) and e.alone]
        after += [e for e in entries if isinstance(e, Passive)]
        for entry in after:
            await self._decide(entry, situation, limiter)

    @property
    def _concurrency(self) -> int:
        on_stdio = self._links.transport is TransportKind.STDIO
        return min(self._options.concurrency, _PROCESSES) if on_stdio else self._options.concurrency

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
        return not_observed("planned: the rule has no probe yet")

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
