"""A request that is in progress while something else is sent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Unpack

import anyio

from clausewise.core.errors import InternalError
from clausewise.probe.conversation.legacy import LegacyEdits, LegacySession
from clausewise.probe.conversation.reply import Reply


@dataclass(slots=True)
class RunningRequest:
    """A request on its way; `ended` is when its answer came or was given up, on anyio's clock."""

    ended: float = 0.0
    _answer: Reply | None = None

    @property
    def is_over(self) -> bool:
        """Whether its answer has come or was given up."""
        return self._answer is not None

    @property
    def reply(self) -> Reply:
        """What came of it.

        Raises:
            InternalError: it is still in progress.
        """
        if self._answer is None:
            raise InternalError("the request is still in progress")
        return self._answer

    def end(self, answer: Reply) -> None:
        """Its answer has come, or was given up."""
        self._answer, self.ended = answer, anyio.current_time()


@asynccontextmanager
async def running(
    session: LegacySession,
    method: str,
    params: Mapping[str, Any] | None,
    **edits: Unpack[LegacyEdits],
) -> AsyncIterator[RunningRequest]:
    """A request in progress within the context, which ends when its answer has come.

    Raises:
        ExceptionGroup: with a TargetError, when no connection can be opened.
    """
    request = RunningRequest()
    edits["beside"] = True

    async def ask() -> None:
        request.end(await session.attempt(method, params, **edits))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        yield request
