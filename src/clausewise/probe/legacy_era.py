"""The legacy era of a run: a walk through what the server offers, and the probes of clauses."""

from __future__ import annotations

from collections.abc import Callable, Collection

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Revision
from clausewise.probe.allowance import Allowance
from clausewise.probe.clause_experiments import ClauseExperiments, ClauseVerdict
from clausewise.probe.conversation.legacy import LegacySession
from clausewise.probe.conversation.legacy_peer import LegacyAcquaintance
from clausewise.probe.conversation.link import Links
from clausewise.probe.walk import walk


class LegacyEra:
    """Judges a server of the legacy era, beside the probes of the modern one or without them.

    Args:
        links: opens connections or processes.
        session: an open one, in which the walk is made; `end` ends it.
        allowance: what is wanted, and how long it may take.
        rules: the rules that are decided elsewhere.
        decided: called with a probe's name when it has decided.
    """

    def __init__(
        self,
        links: Links,
        session: LegacySession,
        allowance: Allowance,
        rules: Collection[str],
        decided: Callable[[str], None],
    ) -> None:
        self._links = links
        self._unwalked: LegacySession | None = session
        self._deadline = allowance.deadline
        self._known = LegacyAcquaintance(named=allowance.options.call_tools)
        self._remarks: tuple[str, ...] = ()
        self._experiments: ClauseExperiments | None = None
        if session.version == Revision.LEGACY.value:
            self._experiments = ClauseExperiments(links, self._known, allowance, rules, decided)

    async def together(self, limiter: anyio.CapacityLimiter) -> None:
        """Walk, and run the probes that bear company; `limiter` says how many at a time."""
        session, self._unwalked = self._unwalked, None
        assert session is not None
        async with anyio.create_task_group() as group:
            group.start_soon(self._walk, session, limiter)
            await self._known.listed.wait()
            if self._experiments is not None:
                await self._experiments.together(limiter)

    async def alone(self) -> None:
        """Run the probes that bear no company; nothing else may be at work."""
        if self._experiments is not None:
            await self._experiments.alone()

    async def end(self) -> None:
        """End the sessions that are left."""
        if self._unwalked is not None:
            await self._unwalked.end()
        await self._known.end()

    @property
    def verdicts(self) -> tuple[ClauseVerdict, ...]:
        """What the probes say of clauses; nothing of a session of an earlier revision."""
        return self._experiments.verdicts if self._experiments is not None else ()

    @property
    def remarks(self) -> tuple[str, ...]:
        """Why the walk was cut short, and the probes' remarks that are no findings."""
        said = self._experiments.remarks if self._experiments is not None else ()
        return self._remarks + said

    async def _walk(self, session: LegacySession, limiter: anyio.CapacityLimiter) -> None:
        async with limiter:
            scope = anyio.CancelScope(deadline=self._deadline)
            try:
                with scope:
                    await walk(session, self._links, self._known)
            except TargetError as error:
                self._remarks = (f"the legacy session could not be held: {error.message}",)
            finally:
                self._known.idle.append(session)
            if scope.cancelled_caught:
                self._remarks = (
                    "the legacy session was cut off: its share of the run's time was used up",
                )
