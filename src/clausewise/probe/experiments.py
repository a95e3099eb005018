"""Run probes, side by side where they may, each within its share of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import anyio

from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.allowance import Allowance
from clausewise.probe.conversation.link import Links
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.gates import Situation, gate
from clausewise.probe.observation import Observation, crashed
from clausewise.probe.options import ProbeOptions
from clausewise.probe.registration import Passive, Probe, Turn


class Experiments:
    """Decides rules by their probes; what comes of each does not depend on the others.

    Args:
        links: opens connections or processes, a fresh one for each probe that runs.
        known: what is known of the server.
        options: how many at a time, and how long each and all may take.
        deadline: when the time of the run is used up, on anyio's clock.
        decided: called with the rule's id when it has been decided.
    """

    def __init__(
        self,
        links: Links,
        known: Acquaintance,
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

    async def decide(
        self, entries: Iterable[Probe | Passive], situation: Situation
    ) -> Mapping[str, Observation]:
        """What came of each entry, by rule: the probes by turns, then the passive rules."""
        entries = tuple(entries)
        for turn in Turn:
            at_a_time = 1
            if turn is Turn.TOGETHER:
                at_a_time = self._options.at_a_time(self._links.transport)
            limiter = anyio.CapacityLimiter(at_a_time)
            async with anyio.create_task_group() as group:
                for entry in entries:
                    if isinstance(entry, Probe) and entry.turn is turn:
                        group.start_soon(self._decide, entry, situation, limiter)
        limiter = anyio.CapacityLimiter(1)
        for entry in entries:
            if isinstance(entry, Passive):
                await self._decide(entry, situation, limiter)
        return self._seen

    async def _decide(
        self, entry: Probe | Passive, situation: Situation, limiter: anyio.CapacityLimiter
    ) -> None:
        async with limiter:
            self._seen[entry.rule] = gate(entry, situation) or await self._observe(entry)
        self._decided(entry.rule)

    async def _observe(self, entry: Probe | Passive) -> Observation:
        if isinstance(entry, Probe):
            return await self._allowance.observe(entry.name, lambda: self._experiment(entry))
        try:
            return entry.judge(self._known.traffic)
        except Exception as error:  # noqa: BLE001 - one broken probe must not end the run
            return crashed(f"{entry.name} raised {type(error).__name__}: {error}")

    async def _experiment(self, probe: Probe) -> Observation:
        peer = Peer(self._links, self._known)
        try:
            return await probe.run(peer)
        finally:
            await peer.close()
