"""How fast a server answers at the moment: what is slow is told apart from a busy machine."""

from __future__ import annotations

from collections import deque
from statistics import median

_QUICK = frozenset({"ping", "server/discover", "tools/list", "prompts/list", "resources/list"})
"""Requests that a server answers as fast as it can."""
_LATEST = 9
_TIMES = 10


class Tempo:
    """The time that the latest quick requests took, whatever connection they went over."""

    def __init__(self) -> None:
        self._latest: deque[float] = deque(maxlen=_LATEST)

    def answered(self, method: str | None, seconds: float) -> None:
        """A request has got its answer after so many seconds."""
        if method in _QUICK:
            self._latest.append(seconds)

    @property
    def usual_s(self) -> float:
        """How long a quick answer takes: the median, which the start of a process does not move."""
        return median(self._latest) if self._latest else 0.0

    def patience_s(self, seconds: float) -> float:
        """How long to wait for what may never come: `seconds`, and longer where all is slow."""
        return max(seconds, _TIMES * self.usual_s)
