"""Whatever becomes of one experiment, the run goes on and says what it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import pytest

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Outcome
from clausewise.probe.allowance import Allowance
from clausewise.probe.observation import Observation, held
from clausewise.probe.options import ProbeOptions
from clausewise.transport.pace import Pace

GONE = TargetError("no connection to 127.0.0.1 port 1")


def observed(
    run: Callable[[], Awaitable[Observation]], *, own_s: float = 5.0, left_s: float = 5.0
) -> Observation:
    async def observe() -> Observation:
        options = ProbeOptions(probe_s=own_s, total_s=left_s)
        deadline = anyio.current_time() + left_s
        return await Allowance(options, Pace(), deadline).observe("a.probe", run)

    return anyio.run(observe)


async def kept() -> Observation:
    return held()


async def hanging() -> Observation:
    await anyio.sleep_forever()
    return held()


def failing(*errors: Exception) -> Callable[[], Awaitable[Observation]]:
    """Tasks that end in these errors."""

    async def task(error: Exception) -> None:
        raise error

    async def run() -> Observation:
        async with anyio.create_task_group() as group:
            for error in errors:
                group.start_soon(task, error)
        return held()

    return run


def test_what_was_seen_in_time_stands() -> None:
    assert observed(kept) == held()


def test_what_hangs_is_cut_off_and_inconclusive() -> None:
    one = observed(hanging, own_s=0.05)
    assert (one.outcome, one.reason) == (Outcome.INCONCLUSIVE, "cut off after 0.05 seconds")
    one = observed(hanging, left_s=0.05)
    assert one.reason == "the run's 0.05 seconds were used up"
    assert observed(kept, left_s=0).reason == "the run's 0 seconds were used up"


def test_a_target_that_is_gone_decides_nothing() -> None:
    async def gone() -> Observation:
        raise GONE

    for run in (gone, failing(GONE), failing(GONE, GONE)):
        one = observed(run)
        assert (one.outcome, one.reason) == (Outcome.INCONCLUSIVE, GONE.message)


@pytest.mark.parametrize("errors", [[KeyError("x")], [GONE, KeyError("x")]])
def test_any_other_error_is_a_fault_of_ours(errors: list[Exception]) -> None:
    one = observed(failing(*errors))
    assert (one.outcome, one.reason) == (Outcome.CRASHED, "a.probe raised KeyError: 'x'")
