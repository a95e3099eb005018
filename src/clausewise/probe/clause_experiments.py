"""Run the probes of clauses of 2025-11-25 after the walk, and draw their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import anyio

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.allowance import Allowance
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
        known: what the walk has learnt.
        options: what is wanted, and how long it may take.
        deadline: when the time of the run is used up, on anyio's clock.
        decided: called with the probe's name when it has decided.
    """

    def __init__(
        self,
        links: Links,
        known: LegacyAcquaintance,
        options: ProbeOptions,
        deadline: float,
        decided: Callable[[str], None],
    ) -> None:
        self._links = links
        self._known = known
        self._options = options
        self._allowance = Allowance(options, links.pace, deadline)
        self._decided = decided
        self._seen: dict[str, Observation] = {}
        self._beside: set[str] = set()

    async def decide(self, rules: Iterable[str]) -> tuple[ClauseVerdict, ...]:
        """The verdict of each wanted clause by each of its probes; `rules` are decided elsewhere.

        Probes that measure time run one by one, after the others.
        """
        wanted, others = probed_clauses(self._options), frozenset(rules)
        known = clause_probes()
        ahead = (known[name] for name in wanted if known[name].beside)
        self._beside = {probe.name for probe in ahead if self._gate(probe, others) is None}
        for alone in (False, True):
            at_a_time = 1 if alone else self._options.at_a_time(self._links.transport)
            limiter = anyio.CapacityLimiter(at_a_time)
            async with anyio.create_task_group() as group:
                for name in wanted:
                    if known[name].alone is alone:
                        group.start_soon(self._decide, known[name], others, limiter)
        judging = Judging(self._options.trace)
        return tuple(
            ClauseVerdict(name, judging.clause_verdict(clause, self._seen[name], known[name]))
            for name, about in wanted.items()
            for clause in about
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """The probes' remarks that are no findings."""
        seen = sorted(self._seen.items())
        return tuple(f"{name}: {note}" for name, found in seen for note in found.notes)

    async def _decide(
        self, probe: ClauseProbe, rules: frozenset[str], limiter: anyio.CapacityLimiter
    ) -> None:
        async with limiter:
            barred = self._gate(probe, rules)
            self._seen[probe.name] = barred or await self._observe(probe)
        self._decided(probe.name)

    def _gate(self, probe: ClauseProbe, rules: frozenset[str]) -> Observation | None:
        return clause_gate(probe, self._links.transport, self._known.capabilities, rules)

    async def _observe(self, probe: ClauseProbe) -> Observation:
        if self._beside:
            await self._links.open_ahead()
        self._beside.discard(probe.name)
        peer = LegacyPeer(self._links, self._known)
        return await self._allowance.observe(probe.name, lambda: probe.run(peer))
