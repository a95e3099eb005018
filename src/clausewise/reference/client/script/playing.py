"""Play steps, one after the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable

from clausewise.reference.client.script import beside, features
from clausewise.reference.client.script.expectation import complaints
from clausewise.reference.client.script.stage import NotOfferedError, Stage
from clausewise.reference.client.script.step import Step, StepResult

HANDLERS = {**features.HANDLERS, **beside.HANDLERS}

Tell = Callable[[StepResult], None]


async def play(stage: Stage, steps: AsyncIterator[Step] | Iterable[Step], tell: Tell) -> bool:
    """Play every step, whatever came of those before; whether all was as expected."""
    as_expected = True
    number = 0
    async for step in _each(steps):
        number += 1
        try:
            outcome = await HANDLERS[step.do](stage, step)
        except NotOfferedError as reason:
            outcome = {"fault": str(reason)}
        stage.last = outcome
        result = StepResult(number, step, outcome, complaints(step.expect, outcome))
        as_expected = as_expected and not result.complaints
        tell(result)
    return as_expected


async def _each(steps: AsyncIterator[Step] | Iterable[Step]) -> AsyncIterator[Step]:
    if isinstance(steps, AsyncIterator):
        async for step in steps:
            yield step
    else:
        for step in steps:
            yield step
