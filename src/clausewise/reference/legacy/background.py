"""What goes on after the request that began it was answered, until the server stops."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from anyio.abc import TaskGroup


class Background:
    """Runs work in the task group of the running server."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None

    def open(self, group: TaskGroup) -> None:
        """From now on work runs in `group`."""
        self._group = group

    def start(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin `work`; it must handle its own errors."""
        if self._group is None:
            raise RuntimeError("the server does not run")
        self._group.start_soon(work)
