"""What one experiment may take: its own time, and what is left of the run's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Outcome
from clausewise.probe.observation import Observation, crashed, inconclusive
from clausewise.probe.options import ProbeOptions
from clausewise.transport.pace import Pace

Run = Callable[[], Awaitable[Observation]]

SETTLED = frozenset({Outcome.PASS, Outcome.NOT_APPLICABLE, Outcome.CRASHED})
"""Outcomes that are not tried for again when no other probe disturbs any more."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The bounds of every experiment of a run; `deadline` is on anyio's clock."""

    options: ProbeOptions
    pace: Pace
    deadline: float

    async def observe(self, name: str, run: Run) -> Observation:
        """What `run` sees, whatever becomes of it; never raises for what goes wrong in it."""
        try:
            return await self._in_time(run)
        except TargetError as error:
            return inconclusive(error.message)
        except ExceptionGroup as group:
            return _of_tasks(name, group)
        except Exception as error:  # noqa: BLE001 - one broken probe must not end the run
            return crashed(f"{name} raised {type(error).__name__}: {error}")

    async def _in_time(self, run: Run) -> Observation:
        """Run it until it ends, its own time is over, or that of the run."""
        used_up = inconclusive(f"the run's {self.options.total_s:g} seconds were used up")
        left_s, own_s = self.deadline - anyio.current_time(), self.options.probe_s
        if left_s <= 0:
            return used_up
        if self.pace.given_up is not None:
            return inconclusive(self.pace.given_up)
        with (
            anyio.move_on_after(left_s),
            anyio.move_on_after(own_s) as own,
            self.pace.excusing(own),
        ):
            return await run()
        return (
            inconclusive(f"cut off after {own_s:.3g} seconds") if own.cancelled_caught else used_up
        )


def _of_tasks(name: str, group: ExceptionGroup[Exception]) -> Observation:
    """What several tasks of one experiment ended in: a target that is gone, or a fault of ours."""
    gone, ours = group.split(TargetError)
    first: Exception = ours or gone or group
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    if isinstance(first, TargetError):
        return inconclusive(first.message)
    return crashed(f"{name} raised {type(first).__name__}: {first}")
