"""The recording being written: numbered events, without credentials, to a file and to listeners."""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from clausewise.core.errors import UsageError
from clausewise.trace.credentials import CredentialFilter
from clausewise.trace.events import Event
from clausewise.trace.redaction import PayloadRedaction
from clausewise.trace.tape import Tape
from clausewise.trace.writer import REDACTED_BY_DEFAULT, TraceWriter

_MOST_FILES = 10_000
_REDACTED_PAYLOADS = "what looks like a credential in payloads, texts, paths and headers"


class Journal:
    """Where a recorder puts what it sees.

    Whatever becomes of the file, the session goes on: when it takes no more (a full disk),
    that is told once and events go to the listeners only.

    Args:
        writer: the trace file.
        keep_payloads: leave what looks like a credential in payloads and texts.
        listeners: called with every event as it stands in the file.
        complain: called with a text when the recording breaks off.

    Attributes:
        tape: record here, holding `lock` when several threads do.
        lock: keeps the events of several threads in the order of their numbers.
    """

    def __init__(
        self,
        writer: TraceWriter,
        *,
        keep_payloads: bool,
        complain: Callable[[str], None],
        listeners: Sequence[Callable[[Event], None]] = (),
    ) -> None:
        self.tape = Tape(self._take, keep=False)
        self.lock = threading.Lock()
        self._writer = writer
        self._redaction = None if keep_payloads else new_redaction()
        self._listeners = listeners
        self._complain = complain
        self._broken = False

    @property
    def broken(self) -> bool:
        """Whether the file took no more."""
        return self._broken

    def _take(self, event: Event) -> None:
        if self._redaction is not None:
            event = self._redaction.clean(event)
        if not self._broken:
            try:
                self._writer.write(event)
            except OSError as error:
                self._broken = True
                self._complain(
                    f"the recording breaks off at seq {event.seq}: {error.strerror or error}; "
                    "the session goes on"
                )
        for listener in self._listeners:
            listener(event)


def new_redaction() -> PayloadRedaction:
    """A redaction whose placeholders nobody can trace back, not even by trying."""
    return PayloadRedaction(CredentialFilter(secrets.token_bytes(16)))


def open_recording(path: Path, *, overwrite: bool, keep_payloads: bool) -> tuple[TraceWriter, Path]:
    """Begin a trace file; also gives its path.

    A client may start its server command anew, or several at once, with the same `path`:
    one that exists is left alone and the recording gets the next free of `s.2.jsonl`,
    `s.3.jsonl` and so on, unless `overwrite`.

    Raises:
        UsageError: no file can be created there.
    """
    redacted = REDACTED_BY_DEFAULT if keep_payloads else (*REDACTED_BY_DEFAULT, _REDACTED_PAYLOADS)
    if overwrite or (path.exists() and not path.is_file()):
        return TraceWriter(path, redacted=redacted), path
    for number in itertools.count(1):
        free = path if number == 1 else path.with_suffix(f".{number}{path.suffix}")
        try:
            return TraceWriter(free, redacted=redacted, replace=False), free
        except FileExistsError:
            if number == _MOST_FILES:
                break
    raise UsageError(
        f"{path} and {_MOST_FILES - 1} files numbered after it exist",
        "Move them away, or name another file.",
    )
