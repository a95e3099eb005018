"""HTTP archives with anything in them are read or refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausewise.core.errors import TraceError
from clausewise.judge.engine import judge
from clausewise.trace.importers.har import import_har
from clausewise.trace.reader import read_events
from clausewise.trace.writer import encode_event
from tests.trace.har_notation import (
    JUNK,
    PING,
    PONG,
    STREAM,
    entry,
    events,
    handshake,
    har,
    spoiled,
)


@settings(deadline=None)
@given(st.data())
def test_a_har_with_anything_in_it_is_read_or_refused_and_what_is_read_can_be_written(
    data: st.DataObject,
) -> None:
    stream = entry(6, None, method="GET", kind=STREAM, answer=events(PING, PONG))
    document = json.dumps(spoiled(json.loads(har(*handshake(), stream)), data))
    try:
        found = import_har(document.encode(), "t.har", None)
    except TraceError as error:
        assert error.message.startswith("t.har: ")
        return
    written = [encode_event(event) for event in found.events]
    again = list(read_events(written, "t"))
    assert [event.seq for event in again] == list(range(len(again)))
    assert len(found.events) < 100
    assert judge(found.events, trace="t").verdicts


@settings(deadline=None)
@given(JUNK)
def test_any_json_is_refused_as_no_har(value: Any) -> None:
    with pytest.raises(TraceError):
        import_har(json.dumps({"log": {"entries": value}}).encode(), "t.har", None)
