"""Which requests brought the same event id forth."""

from __future__ import annotations

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.probe.conversation.event_ids import EventIds
from clausewise.probe.conversation.request import ABSENT, Request, compose
from clausewise.trace.events import Event, EventKind


def event(seq: int, **fields: object) -> Event:
    return Event(seq, Direction.SERVER_TO_CLIENT, TransportKind.HTTP, EventKind.SSE, None, fields)


FIRST, LATER = (compose("ping", None, number, {}) for number in (1, 2))
RESUMING = Request(None, None, ABSENT, ((b"Last-Event-ID", b"1"),), b"", "GET")


def test_an_id_on_two_streams_names_both_requests() -> None:
    ids = EventIds()
    assert not list(ids.repeated([event(3, id="1"), event(4, retry=1)], FIRST))
    assert list(ids.repeated([event(8, id="2"), event(9, id="1")], LATER)) == [(9, FIRST, LATER)]


def test_the_stream_that_ended_last_may_have_had_the_id_first() -> None:
    ids = EventIds()
    assert not list(ids.repeated([event(9, id="1")], LATER))
    assert list(ids.repeated([event(3, id="1")], FIRST)) == [(9, FIRST, LATER)]


def test_an_id_twice_on_one_stream_needs_that_request_alone() -> None:
    assert not list(EventIds().repeated([event(3, id="1"), event(4, id="1")], FIRST))


def test_a_stream_that_resumes_another_may_repeat_its_ids() -> None:
    ids = EventIds()
    assert not list(ids.repeated([event(3, id="1")], FIRST))
    assert not list(ids.repeated([event(9, id="1")], RESUMING))
