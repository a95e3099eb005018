"""Run probes, side by side where they may, each within its share of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import anyio

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.allowance import SETTLED, Allowance
from clausewise.probe.conversation.link import Links
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.gates import Situation, gate
from clausewise.probe.observation import Observation, crashed
from clausewise.probe.registration import Passive, Probe, Turn


class Experiments:
    """Decides rules by their probes; what comes of each does not depend on the others.

    Args:
        links: opens connections or processes, a fresh one for each probe that runs.
        known: what is known of the server.
        allowance: how long each and all may take.
        situation: what stands in the way of probes.
        decided: called with the rule's id when it has been decided.
    """

    def __init__(
        self,
        links: Links,
        known: Acquaintance,
        allowance: Allowance,
        situation: Situation,
        decided: Callable[[str], None],
    ) -> None:
        self._links = links
        self._known = known
        self._allowance = allowance
        self._situation = situation
        self._decided = decided
        self._seen: dict[str, Observation] = {}

    async def together(
        self, entries: Iterable[Probe | Passive], limiter: anyio.CapacityLimiter, disturbed: bool
    ) -> None:
        """Run the probes by turns, those of the first as many at a time as `limiter` lets.

        Where other traffic has `disturbed` those that compare connections, they wait for `alone`;
        but processes are compared before one of them may be spoilt.
        """
        probes = _probes_of(entries)
        async with anyio.create_task_group() as group:
            for probe in probes[Turn.TOGETHER]:
                group.start_soon(self._decide_in_turn, probe, limiter)
        compared = () if disturbed and self._over_http else probes[Turn.ALONE]
        for probe in (*compared, *probes[Turn.LAST]):
            await self._decide(probe)

    async def alone(
        self, entries: Iterable[Probe | Passive], disturbed: bool
    ) -> Mapping[str, Observation]:
        """Finish while nothing else is at work; gives what came of each entry, by rule.

        When other traffic has `disturbed` the probes, those that compare are run now, or tried
        again where they did not pass. Then come the probes of the end, and the passive rules.
        """
        entries = tuple(entries)
        probes = _probes_of(entries)
        for probe in probes[Turn.ALONE] if disturbed else ():
            if self._over_http:
                await self._decide(probe)
            else:
                await self._try_again(probe)
        for probe in probes[Turn.END]:
            await self._decide(probe)
        for entry in entries:
            if isinstance(entry, Passive):
                await self._decide(entry)
        return self._seen

    @property
    def _over_http(self) -> bool:
        return self._links.transport is TransportKind.HTTP

    async def _try_again(self, probe: Probe) -> None:
        undecided = self._seen[probe.rule].outcome not in SETTLED
        if undecided and gate(probe, self._situation) is None:
            await self._links.retire()
            self._seen[probe.rule] = await self._observe(probe)

    async def _decide_in_turn(self, probe: Probe, limiter: anyio.CapacityLimiter) -> None:
        async with limiter:
            await self._decide(probe)

    async def _decide(self, entry: Probe | Passive) -> None:
        self._seen[entry.rule] = gate(entry, self._situation) or await self._observe(entry)
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


def _probes_of(entries: Iterable[Probe | Passive]) -> Mapping[Turn, list[Probe]]:
    found: dict[Turn, list[Probe]] = {turn: [] for turn in Turn}
    for entry in entries:
        if isinstance(entry, Probe):
            found[entry.turn].append(entry)
    return found
