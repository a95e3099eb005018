"""Use case `convert`: a recording of another tool in, a trace out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from clausewise.core.errors import TraceError, UsageError
from clausewise.trace.importers import RecordingFormat
from clausewise.trace.recordings import ReadingOptions, open_recording
from clausewise.trace.writer import encode_event, encode_header


@dataclass(frozen=True, slots=True)
class Converted:
    """What became of a recording: its format, how many events, remarks on what is left open."""

    format: RecordingFormat
    events: int
    notes: tuple[str, ...]


def run(name: str, out: Path | BinaryIO, options: ReadingOptions) -> Converted:
    """Write the recording called `name` (`-`: standard input) as a trace.

    The same recording gives the same bytes. Nothing is written unless it could be read.

    Raises:
        TraceError: it cannot be read or holds no MCP traffic.
        UsageError: it is a trace already, or `out` cannot be written.
    """
    with open_recording(name, options) as recording:
        if recording.format is RecordingFormat.TRACE:
            raise UsageError(
                f"{name} is neither a HAR nor an Inspector export",
                "`clausewise validate` reads traces as they are; --from names another format.",
            )
        try:
            lines = [
                encode_event(event.but(text=recording.texts.get(event.seq)))
                for event in recording.events()
            ]
        except RecursionError:
            raise TraceError(f"{name}: a message nests too deeply to be written") from None
    with _opened(out) as file:
        file.write(encode_header(source=recording.format.value))
        file.writelines(lines)
    return Converted(recording.format, len(lines), recording.notes)


@contextmanager
def _opened(out: Path | BinaryIO) -> Iterator[BinaryIO]:
    if not isinstance(out, Path):
        yield out
        return
    try:
        with out.open("wb") as file:
            yield file
    except OSError as error:
        raise UsageError(
            f"cannot write the trace {out}: {error.strerror}",
            "Name a file in a folder that exists and may be written.",
        ) from None
