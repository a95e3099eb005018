"""Run the probes of clauses of 2025-11-25 after the walk, and draw their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.allowance import SETTLED, Allowance
from clausewise.probe.clause_registration import ClauseProbe, clause_probes
from clausewise.probe.conversation.legacy_peer import LegacyAcquaintance, LegacyPeer
from clausewise.probe.conversation.link import Links
from clausewise.probe.gates import lacking, names_of
from clausewise.probe.observation import Observation, not_applicable, not_observed
from clausewise.probe.options import ProbeOptions
from clausewise.probe.verdicts import Judging
from clausewise.registry import Clause, clauses


@dataclass(frozen=True, slots=True)
class ClauseVerdict:
    """What one probe says of one clause."""

    probe: str
    verdict: Verdict


def probed_clauses(options: ProbeOptions) -> Mapping[str, tuple[Clause, ...]]:
    """The clauses that `options` takes, by the probes that decide them.

    All probes, with no clause or some, when a clause is wanted that is judged on the recording:
    what they make the server say is part of that.
    """
    wanted = [clause for clause in clauses(Revision.LEGACY).values() if options.takes(clause.id)]
    recorded = any(clause.checks for clause in wanted)
    found: dict[str, tuple[Clause, ...]] = dict.fromkeys(clause_probes(), ()) if recorded else {}
    for clause in wanted:
        for name in clause.probes:
            found[name] = (*found.get(name, ()), clause)
    return found


def clause_gate(
    probe: ClauseProbe,
    transport: TransportKind,
    capabilities: Mapping[str, Any] | None,
    rules: Collection[str],
) -> Observation | None:
    """Why `probe` does not run against a server, or None when it does.

    `capabilities` are those of its `InitializeResult`; `rules` are decided beside.
    """
    if transport not in probe.transports:
        return not_applicable(f"the clause is about {names_of(probe.transports)}")
    if probe.same_as in rules:
        return not_observed(f"{probe.same_as} tells of the same fault on a server of both eras")
    found = (lacking(need, capabilities) for need in probe.needs)
    return next((one for one in found if one is not None), None)


class ClauseExperiments:
    """Decides clauses by their probes, each in sessions of its own.

    Args:
        links: opens connections or processes.
        known: what the walk has learnt, or is about to learn.
        allowance: what is wanted, and how long it may take.
        rules: the rules that are decided elsewhere.
        decided: called with the probe's name when it has decided.
    """

    def __init__(
        self,
        links: Links,
        known: LegacyAcquaintance,
        allowance: Allowance,
        rules: Collection[str],
        decided: Callable[[str], None],
    ) -> None:
        self._links = links
        self._known = known
        self._allowance = allowance
        self._rules = rules
        self._decided = decided
        self._wanted = probed_clauses(allowance.options)
        self._seen: dict[str, Observation] = {}

    async def together(self, limiter: anyio.CapacityLimiter) -> None:
        """Run the probes that others do not disturb, while the walk goes on or after it.

        As many run at a time as `limiter` lets. What is known must have been listed.
        """
        ready = [probe for probe in self._probes if not probe.alone]
        beside = sum(probe.beside and self._gate(probe) is None for probe in ready)
        with suppress(TargetError):  # Whoever needs the process tells.
            await self._links.open_ahead(beside)
        async with anyio.create_task_group() as group:
            for probe in sorted(ready, key=lambda one: one.walked):
                group.start_soon(self._decide_in_turn, probe, limiter)

    async def alone(self) -> None:
        """Run the others one by one; nothing else may be at work.

        Those come first of which a pass was due: the process that they leave may serve others.
        """
        for probe in self._probes:
            undecided = probe.again_alone and self._seen[probe.name].outcome not in SETTLED
            if undecided and self._gate(probe) is None:
                self._seen[probe.name] = await self._observe(probe)
        for probe in self._probes:
            if probe.alone:
                await self._decide(probe)

    @property
    def verdicts(self) -> tuple[ClauseVerdict, ...]:
        """The verdict of each wanted clause by each of its probes, once all have run."""
        judging = Judging(self._allowance.options.trace)
        return tuple(
            ClauseVerdict(probe.name, judging.clause_verdict(clause, self._seen[probe.name], probe))
            for probe in self._probes
            for clause in self._wanted[probe.name]
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """The probes' remarks that are no findings."""
        seen = sorted(self._seen.items())
        return tuple(f"{name}: {note}" for name, found in seen for note in found.notes)

    @property
    def _probes(self) -> tuple[ClauseProbe, ...]:
        known = clause_probes()
        return tuple(known[name] for name in self._wanted)

    async def _decide_in_turn(self, probe: ClauseProbe, limiter: anyio.CapacityLimiter) -> None:
        if probe.walked:
            await self._known.called.wait()
        async with limiter:
            await self._decide(probe)

    async def _decide(self, probe: ClauseProbe) -> None:
        self._seen[probe.name] = self._gate(probe) or await self._observe(probe)
        self._decided(probe.name)

    def _gate(self, probe: ClauseProbe) -> Observation | None:
        return clause_gate(probe, self._links.transport, self._known.capabilities, self._rules)

    async def _observe(self, probe: ClauseProbe) -> Observation:
        peer = LegacyPeer(self._links, self._known)
        return await self._allowance.observe(probe.name, lambda: probe.run(peer))
