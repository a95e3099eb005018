"""How fast requests go to a target: at most so many a second, and slower when it asks for it."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol, TypeVar

import anyio

TOO_MANY = 429
"""The status that asks for fewer requests (RFC 6585 section 4)."""

UNAVAILABLE = 503
"""The status that asks to come back later, where `Retry-After` is with it (RFC 9110 10.2.3)."""

_ATTEMPTS = 4
_FIRST_PAUSE_S = 0.5
_SHORTEST_PAUSE_S = 0.1
_FIRST_SLOWER_INTERVAL_S = 0.05
_LONGEST_SLOWER_INTERVAL_S = 1.0
_REFUSALS_IN_A_ROW = 3

_excused: ContextVar[anyio.CancelScope | None] = ContextVar("_excused", default=None)


class Refusable(Protocol):
    """An answer that may be a refusal by rate."""

    @property
    def status(self) -> int | None: ...

    def header(self, name: str) -> str | None: ...


T = TypeVar("T", bound=Refusable)


class Pace:
    """The turns of all requests of a run, whatever connection or process they go to.

    Args:
        rate: the most requests per second; None for no bound.
        patience_s: the seconds that the run may pause in all because the target refuses
            requests for their rate.
    """

    def __init__(self, rate: float | None = None, patience_s: float = 15.0) -> None:
        self._interval_s = 0.0 if rate is None else 1.0 / rate
        self._patience_s = patience_s
        self._queue = anyio.Lock()
        self._next = 0.0
        self._resume = 0.0
        self._in_a_row = 0
        self._refused: tuple[int | None, str | None] = (TOO_MANY, None)

    @property
    def given_up(self) -> str | None:
        """Why no more requests should be sent, or None.

        The target has refused several in a row, each for as long as was patiently tried.
        """
        if self._in_a_row < _REFUSALS_IN_A_ROW:
            return None
        status, wanted_s = self._refused
        wait = f", Retry-After: {wanted_s}" if wanted_s is not None else ""
        why = " for their rate" if status == TOO_MANY else ""
        return f"HTTP {status}: the server goes on refusing requests{why}{wait}"

    async def turn(self) -> None:
        """Wait until the next request may be sent."""
        with _unhurried(_excused.get()):
            async with self._queue:
                # Another pause may begin meanwhile.
                while (due := max(self._next, self._resume)) > anyio.current_time():  # noqa: ASYNC110
                    await anyio.sleep_until(due)
                self._next = anyio.current_time() + self._interval_s

    @contextmanager
    def excusing(self, scope: anyio.CancelScope) -> Iterator[None]:
        """Within, waiting for a turn does not count against the deadline of `scope`."""
        token = _excused.set(scope)
        try:
            yield
        finally:
            _excused.reset(token)

    async def patiently(
        self, ask: Callable[[], Awaitable[T]], may_repeat: Callable[[], bool] = lambda: True
    ) -> T:
        """What `ask` gives; asked again, after a pause, while it is a refusal for now.

        The pause is what `Retry-After` asks for, else half a second and twice as long each
        time; later requests go more slowly. The last answer is given when the patience or
        the attempts are used up, or `may_repeat` is false.
        """
        for attempt in range(1, _ATTEMPTS + 1):
            answer = await ask()
            wanted_s = answer.header("retry-after")
            if answer.status != TOO_MANY and not (answer.status == UNAVAILABLE and wanted_s):
                self._in_a_row = 0
                return answer
            if attempt == _ATTEMPTS or not may_repeat() or not self._pause(wanted_s, attempt):
                break
        self._in_a_row += 1
        self._refused = answer.status, wanted_s
        return answer

    def _pause(self, wanted: str | None, attempt: int) -> bool:
        """Hold back all requests for a while; whether the patience is enough for it."""
        seconds = _seconds(wanted)
        if seconds is None:
            seconds = _FIRST_PAUSE_S * 2.0 ** (attempt - 1)
        now = anyio.current_time()
        resume = now + max(seconds, _SHORTEST_PAUSE_S)
        longer = resume - max(self._resume, now)
        if longer > self._patience_s:
            return False
        if self._resume <= now:  # else another request has been refused in the same rush
            self._slow_down()
        if longer > 0:
            self._patience_s -= longer
            self._resume = resume
        return True

    def _slow_down(self) -> None:
        slower = max(2 * self._interval_s, _FIRST_SLOWER_INTERVAL_S)
        bound = max(self._interval_s, _LONGEST_SLOWER_INTERVAL_S)
        self._interval_s = min(slower, bound)


@contextmanager
def _unhurried(scope: anyio.CancelScope | None) -> Iterator[None]:
    """Within, the deadline of `scope` does not come nearer."""
    if scope is None:
        yield
        return
    began, deadline = anyio.current_time(), scope.deadline
    scope.deadline = math.inf
    try:
        yield
    finally:
        scope.deadline = deadline + anyio.current_time() - began


def _seconds(retry_after: str | None) -> float | None:
    """The value of Retry-After in seconds from now (RFC 9110 section 10.2.3); None for none."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
