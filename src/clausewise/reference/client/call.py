"""A request of the client from its sending to its end, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import anyio

from clausewise.reference.client.inbox import Pending
from clausewise.reference.messages import JsonObject


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of a request.

    Attributes:
        response: the response message; None when none came.
        status: the HTTP status of the answer that had it; None on stdio.
        fault: why there is no response, or why it cannot be used; empty when all is well.
        notices: the notifications that came in the meantime.
        asked: what the server asked in the meantime, each with what was answered.
        cached: whether an earlier answer, still fresh, was used again.
        rounds: how often the server asked for input before it answered (2026-07-28).
    """

    response: JsonObject | None = None
    status: int | None = None
    fault: str = ""
    notices: tuple[JsonObject, ...] = ()
    asked: tuple[JsonObject, ...] = ()
    cached: bool = False
    rounds: int = 0

    @property
    def result(self) -> JsonObject | None:
        """The result when it is an object."""
        found = self.response.get("result") if self.response is not None else None
        return found if isinstance(found, dict) else None

    @property
    def error(self) -> JsonObject | None:
        """The error when it is an object."""
        found = self.response.get("error") if self.response is not None else None
        return found if isinstance(found, dict) else None

    @property
    def code(self) -> Any:
        """The code of the error, or None."""
        return self.error.get("code") if self.error is not None else None


@dataclass(eq=False, slots=True)
class Call:
    """A request in progress.

    Attributes:
        method: what is asked.
        params: without `_meta` of the protocol's own.
        seconds: how long to wait for the response.
        progress: whether progress is wanted.
        fresh: whether an earlier answer must not be used.
        pending: the newest attempt, while it waits.
        cancelled: whether this side gave up on purpose.
        overdue: whether it gave up because no answer came.
        scope: leave it to stop waiting.
        begun: set once `pending` is there.
        finished: set once `reply` is there.
    """

    method: str
    params: JsonObject | None = None
    seconds: float = 10.0
    progress: bool = False
    fresh: bool = False
    pending: Pending | None = None
    cancelled: bool = False
    overdue: bool = False
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    begun: anyio.Event = field(default_factory=anyio.Event)
    finished: anyio.Event = field(default_factory=anyio.Event)
    reply: Reply = field(default_factory=Reply)

    @property
    def wants_task(self) -> bool:
        """Whether a task is asked for, which a notification must not cancel (2025-11-25)."""
        return "task" in (self.params or {})
