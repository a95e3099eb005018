"""Write traces: one event a line, appended and flushed, so that a kill loses one line at most."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import RawIOBase
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

from clausewise import __version__
from clausewise.core.errors import UsageError
from clausewise.trace.events import FORMAT_NAME, FORMAT_VERSION, Event, EventKind

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
    text = event.text if event.text is not None else _text_of(event.payload)
    head = orjson.dumps(record)[:-1]
    return head + b',"payload":' + text.strip().translate(_NEWLINES_TO_SPACES) + b"}\n"


REDACTED_BY_DEFAULT = ("headers outside the allowlist", "credentials in headers")


def encode_header(
    redacted: Sequence[str] = REDACTED_BY_DEFAULT, source: str | None = None
) -> bytes:
    """The first line of a trace, with its newline.

    `redacted` tells what the events have been freed of, `source` the format they come from.
    """
    header: dict[str, Any] = {
        "kind": EventKind.TRACE.value,
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "tool": f"clausewise {__version__}",
        "redacted": list(redacted),
    }
    if source is not None:
        header["source"] = source
    return orjson.dumps(header) + b"\n"


def _text_of(payload: Any) -> bytes:
    """JSON text of any payload; the standard library takes what orjson refuses."""
    try:
        return orjson.dumps(payload)
    except TypeError:
        return json.dumps(payload).encode()


class TraceWriter:
    """Appends events to a file as they happen; a context manager.

    Args:
        path: the file; one that exists is replaced.
        redacted: what the events have been freed of, told in the first line.
        replace: False to leave a file that exists alone.

    Raises:
        FileExistsError: it exists and may not be replaced.
        UsageError: the file cannot be created.
    """

    def __init__(
        self,
        path: Path,
        *,
        redacted: Sequence[str] = REDACTED_BY_DEFAULT,
        replace: bool = True,
    ) -> None:
        try:
            self._file: RawIOBase = path.open("wb" if replace else "xb", buffering=0)
            self._write(encode_header(redacted))
        except FileExistsError:
            raise
        except OSError as error:
            raise UsageError(
                f"cannot write the trace {path}: {error.strerror}",
                "Name a file in a folder that exists and may be written.",
            ) from None

    def write(self, event: Event) -> None:
        """Append one event; it is on its way to the disk when this returns.

        Raises:
            OSError: the file takes no more.
        """
        self._write(encode_event(event))

    def _write(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()
