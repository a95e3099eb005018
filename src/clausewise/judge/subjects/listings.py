"""What a server listed in a session, as it stood when a later request named it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.ledger import Located, Sheet, Spot
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.ordering import Sent, sent, surely_later
from clausewise.judge.session.sessions import Session

MAX_ENTRIES = 10_000
"""Entries remembered a listing; older ones count as never listed."""

MAX_WAITING = 100
"""Faults of a session that wait to be settled; further ones are booked at once."""

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


@dataclass(frozen=True, slots=True)
class Fault:
    """What a finding says."""

    message: str
    seen: str
    expected: str

    def book(self, at: Located, out: Sheet) -> None:
        """Book it: the clause was broken at this place."""
        out.broke(at, self.message, seen=self.seen, expected=self.expected)


@dataclass(slots=True)
class Unsettled:
    """Faults of results over HTTP that a change of the list may still excuse.

    Streams have no order among each other: a change that is recorded after a result may have
    been told before it. Once the client has asked and got something else, it has not.
    """

    waiting: list[tuple[Sent, Spot, Fault]] = field(default_factory=list)

    def book(self, message: Message, session: Session, out: Sheet, fault: Fault) -> None:
        """Book the fault of a result, at once or when it is settled."""
        if session.transport is TransportKind.HTTP and len(self.waiting) < MAX_WAITING:
            spot = Spot(message.seq, message.direction)
            self.waiting.append((sent(message), spot, fault))
        else:
            fault.book(message, out)

    def settle(self, request: Request | None, out: Sheet) -> None:
        """Book what was recorded before a request that is answered now."""
        while self.waiting and request is not None and self.waiting[0][1].seq < request.seq:
            _, spot, fault = self.waiting.pop(0)
            fault.book(spot, out)

    def settle_all(self, out: Sheet) -> None:
        """Book whatever waits: the session is over."""
        for _, spot, fault in self.waiting:
            fault.book(spot, out)
        self.waiting.clear()

    def excuse(self, change: Message, out: Sheet) -> None:
        """Take in a notification that the list has changed, perhaps before what waits."""
        waiting, self.waiting = self.waiting, []
        for where, spot, fault in waiting:
            if surely_later(change, where):
                fault.book(spot, out)
            else:
                out.undecided(spot, "a change of the list is recorded after it, on another stream")


def same(one: Part, other: Part) -> bool:
    """Whether two JSON values are equal; False if they are nested too deeply to tell."""
    try:
        return bool(one == other)
    except RecursionError:
        return False
