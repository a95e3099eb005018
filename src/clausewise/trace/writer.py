"""Write traces: one event a line, appended and flushed, so that a kill loses one line at most."""

from __future__ import annotations

from io import RawIOBase
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from clausewise import __version__
from clausewise.core.errors import UsageError
from clausewise.trace.events import FORMAT_VERSION, Event, EventKind

_NEWLINES_TO_SPACES = bytes.maketrans(b"\r\n", b"  ")


def encode_event(event: Event) -> bytes:
    """One line of trace format version 1, with its newline.

    A message's source text stands verbatim in the line; only newlines between its
    tokens become spaces (JSON has none inside strings).
    """
    record: dict[str, Any] = {
        "seq": event.seq,
        "direction": event.direction.value,
        "transport": event.transport.value,
        "kind": event.kind.value,
    }
    for key in ("ts", "session", "exchange", "stream", "injected"):
        value = getattr(event, key)
        if value is not None:
            record[key] = value
    record.update(event.fields)
    if event.kind is not EventKind.MESSAGE:
        return orjson.dumps(record) + b"\n"
    text = event.text if event.text is not None else orjson.dumps(event.payload)
    head = orjson.dumps(record)[:-1]
    return head + b',"payload":' + text.strip().translate(_NEWLINES_TO_SPACES) + b"}\n"


class TraceWriter:
    """Appends events to a file as they happen; a context manager.

    Raises:
        UsageError: the file cannot be created.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file: RawIOBase = path.open("wb", buffering=0)
        except OSError as error:
            raise UsageError(
                f"cannot write the trace {path}: {error.strerror}",
                "Name a file in a folder that exists and may be written.",
            ) from None
        header = {
            "kind": "trace",
            "format": "clausewise.trace",
            "version": FORMAT_VERSION,
            "tool": f"clausewise {__version__}",
            "redacted": ["headers outside the allowlist", "credentials"],
        }
        self._file.write(orjson.dumps(header) + b"\n")

    def write(self, event: Event) -> None:
        """Append one event; it is on its way to the disk when this returns."""
        self._file.write(encode_event(event))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
