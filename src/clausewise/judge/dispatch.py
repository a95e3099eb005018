"""Which handlers an event goes to: tables made once, so that the hot path only looks up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import Handler, On, Subscription
from clausewise.judge.sessions import Session
from clausewise.wire.jsonrpc import MessageClass

Handlers = tuple[tuple[Handler, Sheet], ...]

_MESSAGE_KINDS = tuple(On(kind.value) for kind in MessageClass)
_NONE: Handlers = ()


class Plan:
    """The handlers of one transport, by kind of event and method.

    `handshake_only` leaves the checks that judge a handshake in another revision, too;
    `any_input_only` those whose duty holds for answers to any input.
    """

    def __init__(
        self,
        sheets: Mapping[str, Sheet],
        transport: TransportKind,
        *,
        handshake_only: bool = False,
        any_input_only: bool = False,
    ) -> None:
        rows = [
            (subscription, sheet)
            for sheet in sheets.values()
            for subscription in sheet.check.subscriptions
            if sheet.check.transport in (None, transport)
            and (sheet.check.handshake or not handshake_only)
            and (sheet.check.any_input or not any_input_only)
        ]
        self._by_kind: dict[str, Handlers] = {}
        self._by_method: dict[str, dict[str, Handlers]] = {}
        for kind in On:
            self._add(kind, rows)

    def _add(self, kind: On, rows: list[tuple[Subscription, Sheet]]) -> None:
        wanted = (kind, On.MESSAGE) if kind in _MESSAGE_KINDS else (kind,)
        mine = [(s, sheet) for s, sheet in rows if s.on in wanted]
        self._by_kind[kind.value] = tuple((s.handler, h) for s, h in mine if s.method is None)
        self._by_method[kind.value] = {
            method: tuple((s.handler, h) for s, h in mine if s.method in (None, method))
            for method in {s.method for s, _ in mine if s.method is not None}
        }

    def handlers(self, kind: str, method: str | None = None) -> Handlers:
        """The handlers of an event of this kind (a value of `On`)."""
        if method is not None:
            found = self._by_method[kind].get(method)
            if found is not None:
                return found
        return self._by_kind.get(kind, _NONE)


def call(handlers: Handlers, subject: Any, session: Session) -> None:
    """Show `subject` to each handler; one that raises makes its check `crashed`."""
    for handler, sheet in handlers:
        if sheet.crash is not None:
            continue
        try:
            handler(subject, session, sheet)
        except Exception as error:  # noqa: BLE001 - one check must not end the run
            sheet.crash = f"the check failed at seq {subject.seq}: {type(error).__name__}: {error}"
