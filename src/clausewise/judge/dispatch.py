"""Which handlers an event goes to: tables made as needed, so that the hot path only looks up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from clausewise.core.vocabulary import Direction, Revision, TransportKind
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import Handler, On, Only, Subscription
from clausewise.judge.session.sessions import Session
from clausewise.judge.shapes import Fits, usual_shape
from clausewise.wire.jsonrpc import MessageClass
from clausewise.wire.methods import notifications, requests

Handlers = tuple[tuple[Handler, Sheet], ...]

_METHODS = frozenset((*requests(Revision.LEGACY), *notifications(Revision.LEGACY)))
"""Each has rows of its own, whether or not a check looks at it."""

_MESSAGE_KINDS = frozenset(kind.value for kind in MessageClass)


class Row:
    """What one class of events goes to.

    Attributes:
        handlers: for any event of the class.
        for_sound: for a sound message, without what concerns flawed ones alone.
        for_plain: for a sound message that is not odd (`Only.ODD`) either.
        for_bare: for one that has no `_meta` in its params besides.
        fits: tells whether a message has the usual shape of the class; None: there is none.
        kept: the sheets on which each sound message is booked as kept.
        sound: how many sound messages there were since they were last booked.
    """

    __slots__ = (
        "direction",
        "fits",
        "for_bare",
        "for_plain",
        "for_sound",
        "handlers",
        "kept",
        "sound",
    )

    def __init__(
        self,
        direction: Direction,
        wanted: Iterable[tuple[Subscription, Sheet]],
        fits: Fits | None = None,
    ) -> None:
        self.direction = direction
        self.fits = fits
        rows = list(wanted)
        self.handlers = _handlers(rows)
        rows = [(s, sheet) for s, sheet in rows if Only.FLAWED not in s.only]
        self.for_sound = _handlers(rows)
        self.kept = tuple(sheet for s, sheet in rows if s.handler is None)
        rows = [(s, sheet) for s, sheet in rows if Only.ODD not in s.only]
        self.for_plain = _handlers(rows)
        self.for_bare = _handlers((s, sheet) for s, sheet in rows if Only.META not in s.only)
        self.sound = 0

    def book(self) -> None:
        """Book the sound messages that were counted."""
        times, self.sound = self.sound, 0
        for sheet in self.kept:
            sheet.held_often(self.direction, times)


def _handlers(wanted: Iterable[tuple[Subscription, Sheet]]) -> Handlers:
    """Each handler once, on the sheet of the first check that wants it."""
    found: dict[Handler, tuple[Handler, Sheet]] = {}
    for subscription, sheet in wanted:
        handler = subscription.handler
        if handler is not None:
            found.setdefault(handler, (handler, sheet))
    return tuple(found.values())


class Plan:
    """The rows of one transport and phase.

    `handshake_only` leaves the checks that judge a handshake in another revision, too;
    `any_input_only` those whose duty holds for answers to any input; without `opening` what
    concerns the initialization phase alone is left out.
    """

    def __init__(
        self,
        sheets: Mapping[str, Sheet],
        transport: TransportKind,
        *,
        handshake_only: bool,
        any_input_only: bool,
        opening: bool,
    ) -> None:
        self._wanted = [
            (subscription, sheet)
            for sheet in sheets.values()
            for subscription in sheet.check.subscriptions
            if sheet.check.transport in (None, transport)
            and (sheet.check.handshake or not handshake_only)
            and (sheet.check.any_input or not any_input_only)
            and (opening or Only.OPENING not in subscription.only)
        ]
        self._knows_shapes = not handshake_only and not any_input_only
        self._methods = _METHODS | {s.method for s, _ in self._wanted}
        self._places: dict[On, list[int]] = {kind: [] for kind in On}
        for place, (subscription, _) in enumerate(self._wanted):
            self._places[subscription.on].append(place)
        self.by_client = self._tables(Direction.CLIENT_TO_SERVER)
        self.by_server = self._tables(Direction.SERVER_TO_CLIENT)

    def _tables(self, direction: Direction) -> dict[str, dict[str | None, Row]]:
        return {kind.value: {None: self._make(direction, kind, None)} for kind in On}

    def row(self, direction: Direction, kind: str, method: str | None = None) -> Row:
        """The row of an event of this kind (a value of `On`)."""
        tables = self.by_client if direction is Direction.CLIENT_TO_SERVER else self.by_server
        rows = tables[kind]
        found = rows.get(method)
        if found is not None:
            return found
        if method not in self._methods:
            # Names that a peer makes up never enter the table.
            return rows[None]
        found = rows[method] = self._make(direction, On(kind), method)
        return found

    def _make(self, direction: Direction, kind: On, method: str | None) -> Row:
        kinds = (kind, On.MESSAGE) if kind in _MESSAGE_KINDS else (kind,)
        other = Only.SERVER if direction is Direction.CLIENT_TO_SERVER else Only.CLIENT
        wanted = [
            self._wanted[place]
            for place in sorted(place for each in kinds for place in self._places[each])
        ]
        wanted = [
            (s, sheet) for s, sheet in wanted if s.method in (None, method) and other not in s.only
        ]
        fits = usual_shape(direction, kind, method) if self._knows_shapes else None
        return Row(direction, wanted, fits)

    def rows(self) -> Iterator[Row]:
        """Every row made so far."""
        for tables in (self.by_client, self.by_server):
            for rows in tables.values():
                yield from rows.values()


class Plans:
    """The plans of a run, made as sessions need them."""

    def __init__(self, sheets: Mapping[str, Sheet]) -> None:
        self._sheets = sheets
        self._pairs: dict[tuple[TransportKind, bool, bool], tuple[Plan, Plan]] = {}

    def of(
        self, transport: TransportKind, *, handshake_only: bool = False, provoked: bool = False
    ) -> tuple[Plan, Plan]:
        """The plan for after the initialization phase, and the one during it."""
        key = (transport, handshake_only, provoked)
        pair = self._pairs.get(key)
        if pair is None:
            after, during = (
                Plan(
                    self._sheets,
                    transport,
                    handshake_only=handshake_only,
                    any_input_only=provoked,
                    opening=opening,
                )
                for opening in (False, True)
            )
            pair = self._pairs[key] = (after, during)
        return pair

    def book(self) -> None:
        """Book what the rows have counted."""
        for pair in self._pairs.values():
            for plan in pair:
                for row in plan.rows():
                    row.book()


def call(handlers: Handlers, subject: Any, session: Session) -> None:
    """Show `subject` to each handler; one that raises makes its checks `crashed`."""
    for handler, sheet in handlers:
        try:
            handler(subject, session, sheet)
        except Exception as error:  # noqa: BLE001 - one check must not end the run
            why = f"{type(error).__name__}: {error}"
            sheet.crashes.setdefault(handler, f"the check failed at seq {subject.seq}: {why}")
