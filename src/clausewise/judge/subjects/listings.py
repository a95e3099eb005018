"""What a server listed in a session, as it stood when a later request named it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from clausewise.judge.session.sessions import forget_older_half

MAX_ENTRIES = 10_000
"""Entries remembered a listing; older ones count as never listed."""

Part = Any
"""The part of a definition that a check needs, such as a tool's outputSchema."""


@dataclass(slots=True)
class Entry:
    """What was listed under a name.

    Attributes:
        part: the part of the definition, as listed last.
        since: seq of the first page that listed it so.
        last: seq of the last page that did.
        changed: whether it was listed otherwise before.
    """

    part: Part
    since: int
    last: int
    changed: bool = False


class Standing(StrEnum):
    """How sure it is that an entry held for a request."""

    UNLISTED = "unlisted"
    CERTAIN = "certain"
    CHANGED = "changed"


@dataclass(slots=True)
class Listing:
    """The entries of one kind, and when the server last said that they changed."""

    entries: dict[str, Entry] = field(default_factory=dict)
    changed: int = -1

    def list(self, name: str, part: Part, seq: int) -> None:
        """Take in that the page at `seq` lists `name`."""
        entry = self.entries.get(name)
        if entry is None:
            self.entries[name] = Entry(part, seq, seq)
            if len(self.entries) > MAX_ENTRIES:
                forget_older_half(self.entries)
        elif same(entry.part, part):
            entry.last = seq
        else:
            self.entries[name] = Entry(part, seq, seq, changed=True)

    def standing(self, name: str, request_seq: int) -> Standing:
        """Whether what is listed under `name` held for the request, asked once it is answered.

        A first listing after the request counts, too, unless a change came between.
        """
        entry = self.entries.get(name)
        if entry is None:
            return Standing.UNLISTED
        if entry.since > request_seq and entry.changed:
            return Standing.CHANGED
        return (
            Standing.CHANGED if self.changed > min(entry.last, request_seq) else (Standing.CERTAIN)
        )


def same(one: Part, other: Part) -> bool:
    """Whether two JSON values are equal; False if they are nested too deeply to tell."""
    try:
        return bool(one == other)
    except RecursionError:
        return False
