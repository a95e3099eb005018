"""Where recordings come from: files, compressed files, standard input, folders, patterns."""

from __future__ import annotations

import glob
import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Protocol, cast

from clausewise.core.errors import TraceError
from clausewise.trace.reader import BadLine

STANDARD_INPUT = "-"

SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".har", ".har.gz", ".har.zst")
"""How the names of recordings in a folder end, in any case; a file named outright may have any."""

_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_HEAD_BYTES = 4096
_CHUNK_BYTES = 64 * 1024
_STRUCTURE = re.compile(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


class BrokenSourceError(TraceError):
    """A recording that ends before its end; what came before it was read."""


def expanded(names: Iterable[str]) -> tuple[str, ...]:
    """The recordings that `names` mean, each once, in the order given.

    A folder means the recordings in and below it (`SUFFIXES`), a pattern (`*`, `?`, `[…]`,
    `**`) that names no file the files it fits; both in sorted order. Links to folders are
    not followed.

    Raises:
        TraceError: a folder without recordings, a pattern that fits nothing.
    """
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys(_meant_by(name))
    return tuple(found)


def _meant_by(name: str) -> list[str]:
    if name == STANDARD_INPUT:
        return [name]
    path = Path(name)
    if path.is_dir():
        return _in_folder(name)
    if path.exists() or not glob.has_magic(name):
        return [name]
    matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - keeps the name's form
    files = [match for match in matches if not Path(match).is_dir()]
    if not files:
        raise TraceError(f"no file fits the pattern {name}")
    return files


def _in_folder(name: str) -> list[str]:
    files = [
        str(Path(folder, file))
        for folder, _, names in os.walk(name)
        for file in names
        if file.lower().endswith(SUFFIXES)
    ]
    if not files:
        endings = ", ".join(SUFFIXES)
        raise TraceError(
            f"no recording in the folder {name}", f"Recordings in a folder end in {endings}."
        )
    return sorted(files)


class _Stream(Protocol):
    """What is read from: a file, a decompressor."""

    def read1(self, size: int = -1, /) -> bytes: ...


class _Inflow(io.RawIOBase):
    """The bytes of `stream`, until it ends, breaks or exceeds `bound`; never raises.

    Attributes:
        failure: why it ended before its end, or None.
    """

    def __init__(
        self, head: bytes, stream: _Stream, faults: tuple[type[Exception], ...], bound: int | None
    ) -> None:
        self._rest = head
        self._stream = stream
        self._faults = faults
        self._bound = bound
        self._count = 0
        self.failure: str | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        """Fill `buffer` with at least _HEAD_BYTES, unless the end is nearer."""
        filled = 0
        while filled < min(_HEAD_BYTES, len(buffer)):
            data = self._next(len(buffer) - filled)
            if not data:
                break
            buffer[filled : filled + len(data)] = data
            filled += len(data)
        return filled

    def _next(self, size: int) -> bytes:
        if self.failure is not None:
            return b""
        if self._rest:
            data, self._rest = self._rest[:size], self._rest[size:]
        else:
            try:
                data = self._stream.read1(size)
            except EOFError:
                self.failure = "the compressed data is cut off"
                return b""
            except self._faults as error:
                self.failure = f"the data cannot be read on: {error}"
                return b""
        self._count += len(data)
        if self._bound is not None and self._count > self._bound:
            self.failure = f"more than {self._bound} bytes"
            return data[: len(data) - (self._count - self._bound)]
        return data


class Source:
    """One recording that is open: its beginning, its lines, or all of it."""

    def __init__(self, name: str, inflow: _Inflow) -> None:
        self.name = name
        self._inflow = inflow
        self._reader = io.BufferedReader(inflow, _CHUNK_BYTES)

    @property
    def beginning(self) -> bytes:
        """Some of the first bytes, at least 4096 if there are so many."""
        return self._reader.peek(_HEAD_BYTES)

    def lines(
        self, longest: int, deepest: int | None, on_bad_line: Callable[[BadLine], None]
    ) -> Iterator[bytes]:
        """The lines, each with its newline if it has one.

        A line of more than `longest` bytes is not held in memory. It and a line whose JSON
        nests more than `deepest` levels (None: any number) are told to `on_bad_line`, and an
        empty one stands for each.

        Raises:
            BrokenSourceError: after the last line that could be read.
        """
        return chain.from_iterable(self._lines(longest, deepest, on_bad_line))

    def _lines(
        self, longest: int, deepest: int | None, on_bad_line: Callable[[BadLine], None]
    ) -> Iterator[list[bytes]]:
        """The lines, many at a time."""
        number = 0
        for block in self._blocks(longest):
            lines = io.BytesIO(block).readlines()
            if len(block) <= longest and deepest is None:
                number += len(lines)
                yield lines
                continue
            for line in lines:
                number += 1
                why = _fault(line, longest, deepest)
                if why is not None:
                    on_bad_line(BadLine(number, why))
                yield [line if why is None else b"\n"]
        if self._inflow.failure is not None:
            raise BrokenSourceError(
                f"{self.name}: {self._inflow.failure}",
                "Use --keep-going to judge what came before.",
            )

    def _blocks(self, longest: int) -> Iterator[bytes]:
        """Whole lines, many at a time; of one longer than `longest` bytes only the start."""
        rest: list[bytes] = []
        held = 0
        while data := self._reader.read1(_CHUNK_BYTES):
            end = data.rfind(b"\n") + 1
            if end:
                rest.append(data[:end])
                yield b"".join(rest)
                rest, held = [data[end:]], len(data) - end
            elif held <= longest + 1:
                rest.append(data)
                held += len(data)
        if held:
            yield b"".join(rest)

    def whole(self, bound: int) -> bytes:
        """All bytes.

        Raises:
            TraceError: more than `bound` bytes, or it ends before its end.
        """
        data = self._reader.read(bound + 1)
        if self._inflow.failure is not None:
            raise TraceError(f"{self.name}: {self._inflow.failure}")
        if len(data) > bound:
            raise TraceError(
                f"{self.name}: a document of more than {bound} bytes",
                "Raise the bound with --max-total-bytes.",
            )
        return data


def _fault(line: bytes, longest: int, deepest: int | None) -> str | None:
    """Why a line is out of bounds, or None."""
    if len(line) > longest and not (len(line) == longest + 1 and line.endswith(b"\n")):
        return f"longer than {longest} bytes"
    if deepest is not None and _is_deeper(line, deepest):
        return f"nested deeper than {deepest} levels"
    return None


def _is_deeper(line: bytes, bound: int) -> bool:
    """Whether the JSON of `line` nests deeper than `bound` arrays and objects."""
    if line.count(b"{") + line.count(b"[") <= bound:
        return False
    depth = 0
    for token in _STRUCTURE.finditer(line):
        first = line[token.start()]
        depth += (first in b"[{") - (first in b"]}")
        if depth > bound:
            return True
    return False


@contextmanager
def opened(name: str, max_total_bytes: int | None = None) -> Iterator[Source]:
    """Open the recording called `name`; what is compressed is told by its first bytes.

    Args:
        name: a path, or `-` for standard input.
        max_total_bytes: how much may be read, after decompression; None: no bound.

    Raises:
        TraceError: it cannot be opened.
    """
    if name == STANDARD_INPUT:
        yield _source(name, cast("_File", sys.stdin.buffer), max_total_bytes)
        return
    try:
        file = Path(name).open("rb")  # noqa: SIM115 - closed below; errors of the body are others
    except OSError as error:
        raise TraceError(f"cannot read {name}: {error.strerror}") from None
    with file:
        yield _source(name, file, max_total_bytes)


class _File(_Stream, Protocol):
    """A file open for reading bytes."""

    def read(self, size: int = -1, /) -> bytes: ...


def _source(name: str, file: _File, bound: int | None) -> Source:
    try:
        head = file.read(len(_ZSTD_MAGIC))
    except OSError as error:
        raise TraceError(f"cannot read {name}: {error.strerror}") from None
    if head.startswith(_GZIP_MAGIC):
        stream: _Stream = gzip.GzipFile(fileobj=_compressed(head, file))
        return Source(name, _Inflow(b"", stream, (OSError, zlib.error), bound))
    if head == _ZSTD_MAGIC:
        zstd_file, zstd_error = _zstd()
        stream = zstd_file(_compressed(head, file))
        return Source(name, _Inflow(b"", stream, (OSError, zstd_error), bound))
    return Source(name, _Inflow(head, file, (OSError,), bound))


def _compressed(head: bytes, file: _File) -> io.BufferedReader:
    return io.BufferedReader(_Inflow(head, file, (OSError,), None), _CHUNK_BYTES)


def _zstd() -> tuple[Callable[[io.BufferedReader], _Stream], type[Exception]]:
    """The decompressor and its error; imported when a recording needs it."""
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdError, ZstdFile
    else:
        from backports.zstd import ZstdError, ZstdFile
    return ZstdFile, ZstdError
