"""What the engine saves itself with sound messages changes no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clausewise.core.vocabulary import TransportKind
from clausewise.judge import engine
from clausewise.judge.dispatch import Plan, Plans, Row
from clausewise.judge.engine import JudgeResult, judge
from clausewise.judge.registration import Check, Only, checks
from clausewise.judge.session.exchanges import Exchange
from clausewise.judge.session.messages import Message
from clausewise.trace.events import Event
from tests.judge.notation import read_cases

FILES = sorted((Path(__file__).resolve().parent.parent / "cases").glob("*/*.md"))


def saved_by_sound() -> dict[str, Check]:
    """The checks of which sound messages are booked without a call."""
    return {
        name: check
        for name, check in checks().items()
        if any(subscription.handler is None for subscription in check.subscriptions)
    }


def outcomes(events: list[Event], registered: dict[str, Check]) -> list[tuple[str, object, int]]:
    judging = engine.Judge("t", registered=registered)
    for event in events:
        judging.feed(event)
    return [(v.id, v.outcome, v.occasions) for v in judging.finish().verdicts]


class NeverSound(Message):
    """A message that takes no shortcut."""

    __slots__ = ()

    def __init__(
        self, event: Event, exchange: Exchange | None = None, status: int | None = None
    ) -> None:
        super().__init__(event, exchange, status)
        self.is_sound = False


def cases() -> Iterator[list[Event]]:
    for path in FILES:
        for case in read_cases(path):
            yield case.events


def test_calling_the_handlers_books_what_is_booked_without_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered = saved_by_sound()
    assert len(registered) >= 7
    saved = [outcomes(events, registered) for events in cases()]
    monkeypatch.setattr(engine, "Message", NeverSound)
    assert [outcomes(events, registered) for events in cases()] == saved
    assert any(occasions for verdicts in saved for _, _, occasions in verdicts)


def test_what_is_left_out_after_the_initialization_phase_would_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    registered = {
        name: check
        for name, check in checks().items()
        if any(Only.OPENING in subscription.only for subscription in check.subscriptions)
    }
    assert len(registered) >= 4
    left_out = [outcomes(events, registered) for events in cases()]
    of = Plans.of

    def always_open(
        self: Plans,
        transport: TransportKind,
        *,
        handshake_only: bool = False,
        provoked: bool = False,
    ) -> tuple[Plan, Plan]:
        _, during = of(self, transport, handshake_only=handshake_only, provoked=provoked)
        return during, during

    monkeypatch.setattr(Plans, "of", always_open)
    assert [outcomes(events, registered) for events in cases()] == left_out


def whole(events: list[Event]) -> JudgeResult:
    return judge(events, trace="t")


def test_messages_without_meta_are_judged_as_if_they_had_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    saved = [whole(events) for events in cases()]
    monkeypatch.setattr(Row, "for_bare", property(lambda row: row.for_plain, lambda row, _: None))
    assert [whole(events) for events in cases()] == saved


def test_heads_of_usual_posts_are_judged_as_any_others(monkeypatch: pytest.MonkeyPatch) -> None:
    saved = [whole(events) for events in cases()]
    monkeypatch.setattr(Exchange, "is_usual_post", False)
    assert [whole(events) for events in cases()] == saved
