"""The progress line of a live run: on a terminal only, on standard error, gone at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Show = Callable[[int, int, str], None]
"""`show(done, total, text)`."""


@contextmanager
def progress_line(*, wanted: bool) -> Iterator[Show]:
    """Gives a function that shows how far a run is, or one that does nothing."""
    if not (wanted and sys.stderr.isatty()):
        yield lambda _done, _total, _text: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, text: bar.update(
            task, completed=done, total=total or None, description=text
        )
