"""Recordings of other tools, read as traces.

What a format does not show is left out of the events, never filled in; each importer says what
that is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from clausewise.core.vocabulary import TransportKind
from clausewise.trace.events import Event


class RecordingFormat(StrEnum):
    """What a recording is written in."""

    TRACE = "trace"
    HAR = "har"
    INSPECTOR = "inspector"


@dataclass(frozen=True, slots=True)
class Imported:
    """What an imported recording holds.

    Attributes:
        events: the events. Their messages have no `text`: the bytes that were sent are not
            known, only what a tool decoded them to.
        notes: remarks on what the recording leaves open.
        texts: the JSON text of messages by `seq`, where the format has it as it was sent.
    """

    events: tuple[Event, ...]
    notes: tuple[str, ...] = ()
    texts: Mapping[int, bytes] = field(default_factory=dict)


_HAR = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:')
_INSPECTOR = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*[{\]]|\{\s*"fetchRequests"\s*:)')


def format_of(beginning: bytes, name: str) -> RecordingFormat:
    """The format of a recording, by its name if it ends as a trace's, else by its first bytes."""
    if name.lower().endswith((".jsonl", ".jsonl.gz", ".jsonl.zst")):
        return RecordingFormat.TRACE
    if _HAR.match(beginning) or name.lower().endswith((".har", ".har.gz", ".har.zst")):
        return RecordingFormat.HAR
    if _INSPECTOR.match(beginning):
        return RecordingFormat.INSPECTOR
    return RecordingFormat.TRACE


@dataclass(frozen=True, slots=True)
class ImportChoices:
    """What a user knows of a recording that its format does not tell.

    Attributes:
        endpoint: URL of the MCP endpoint whose traffic counts; None: the only one there is.
        transport: what carried messages of which only themselves are recorded; None: the one
            on which less is proven.
    """

    endpoint: str | None = None
    transport: TransportKind | None = None


def import_document(
    format_: RecordingFormat, document: bytes, name: str, choices: ImportChoices = ImportChoices()
) -> Imported:
    """The events of a document in a format other than a trace's.

    Args:
        format_: which one.
        document: the bytes of the whole document.
        name: what to call it in errors.
        choices: what the user knows.

    Raises:
        TraceError: it is no such document, holds no MCP traffic, or that of several endpoints.
    """
    if format_ is RecordingFormat.HAR:
        from clausewise.trace.importers.har import import_har

        return import_har(document, name, choices.endpoint)
    from clausewise.trace.importers.inspector import import_inspector

    return import_inspector(document, name, choices)
