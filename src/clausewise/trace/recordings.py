"""Open a recording of any kind that is known, and read its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from clausewise.core.errors import TraceError
from clausewise.trace.events import Event
from clausewise.trace.importers import (
    ImportChoices,
    RecordingFormat,
    format_of,
    import_document,
)
from clausewise.trace.reader import BadLine, ReadLimits, read_events
from clausewise.trace.sources import BrokenSourceError, Source, opened

MAX_DOCUMENT_BYTES = 256 * 1024 * 1024
"""Bound on a recording that is one JSON document and held whole, unless another is given."""

_TOLD_BAD_LINES = 5


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How to read one recording.

    Attributes:
        limits: bounds on lines and events.
        max_depth: a line whose JSON nests deeper is a bad line; None: what the decoder takes,
            about 1000 levels.
        max_total_bytes: how much may be read, after decompression; None: no bound, but
            MAX_DOCUMENT_BYTES for a document.
        keep_going: skip bad lines and judge what comes before a break.
        format: what it is; None: told by its first bytes.
        choices: what the user knows of a recording that its format does not tell.
    """

    limits: ReadLimits = field(default_factory=ReadLimits)
    max_depth: int | None = None
    max_total_bytes: int | None = None
    keep_going: bool = False
    format: RecordingFormat | None = None
    choices: ImportChoices = field(default_factory=ImportChoices)


class Recording:
    """A recording that is open.

    Once the events have been read, `notes` are complete, `count` is the number of events, and
    `texts` has the JSON text of messages of an imported one (`Imported.texts`).
    """

    def __init__(self, source: Source, options: ReadingOptions) -> None:
        self._source = source
        self._options = options
        self.format = options.format or format_of(source.beginning, source.name)
        self.count = 0
        self.texts: Mapping[int, bytes] = {}
        self._bad: list[BadLine] = []
        self._remarks: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said about it: lines skipped, what the format cannot show."""
        name = self._source.name
        told = [f"{name}:{bad.number}: skipped: {bad.why}" for bad in self._bad[:_TOLD_BAD_LINES]]
        more = len(self._bad) - _TOLD_BAD_LINES
        if more > 0:
            told.append(f"{name}: {more} more {'line' if more == 1 else 'lines'} skipped")
        return (*told, *self._remarks)

    def events(self) -> Iterator[Event]:
        """The events, in order.

        Raises:
            TraceError: what cannot be read, by name and line; a recording without events.
        """
        try:
            for event in self._events():
                self.count += 1
                yield event
        except BrokenSourceError as error:
            if not self._options.keep_going or not self.count:
                raise
            self._remarks.append(f"{error.message}; what came before is judged")
        if not self.count:
            raise TraceError(
                f"{self._source.name} has no events",
                "Record one with `clausewise check --save-trace`.",
            )

    def _events(self) -> Iterator[Event]:
        options, name = self._options, self._source.name
        if self.format is RecordingFormat.TRACE:
            longest = options.limits.max_line_bytes
            lines = self._source.lines(longest, options.max_depth, self._on_bad_line)
            return read_events(lines, name, limits=options.limits, on_bad_line=self._on_bad_line)
        document = self._source.whole(options.max_total_bytes or MAX_DOCUMENT_BYTES)
        imported = import_document(self.format, document, name, options.choices)
        self._remarks += imported.notes
        self.texts = imported.texts
        bound = options.limits.max_events
        if bound is not None and len(imported.events) > bound:
            raise TraceError(f"{name}: more than {bound} events", "Raise it with --max-events.")
        return iter(imported.events)

    def _on_bad_line(self, bad: BadLine) -> None:
        if not bad.cut and not self._options.keep_going:
            raise TraceError(
                f"{self._source.name}:{bad.number}: {bad.why}",
                "Use --keep-going to skip bad lines and judge the rest.",
            )
        self._bad.append(bad)


@contextmanager
def open_recording(name: str, options: ReadingOptions) -> Iterator[Recording]:
    """Open the recording called `name`; `-` is standard input.

    Raises:
        TraceError: it cannot be opened.
    """
    with opened(name, options.max_total_bytes) as source:
        yield Recording(source, options)
