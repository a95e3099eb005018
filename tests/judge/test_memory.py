"""Judging a long recording needs little memory, and no help from the garbage collector."""

from __future__ import annotations

import gc

import pytest
from bench.recording import Http, Stdio, mixed_sessions
from bench.suspects import SUSPECTS

from clausewise.judge.engine import Judge
from clausewise.trace.reader import read_events

EVENTS = 3000
FEW = 2000
"""Objects in cycles that further events may leave; of the sessions that end there would be tens of
thousands."""


@pytest.mark.parametrize("recorder", [Stdio, Http])
def test_what_is_forgotten_is_freed_at_once(recorder: type[Stdio | Http]) -> None:
    lines = list(mixed_sessions(recorder(), 3 * EVENTS))
    assert cycles_after(lines) - cycles_after(lines[:EVENTS]) < FEW


def test_many_sessions_are_freed_at_once() -> None:
    lines = list(SUSPECTS["many open sessions"](4 * EVENTS, 1))
    assert cycles_after(lines) - cycles_after(lines[:EVENTS]) < FEW


def cycles_after(lines: list[bytes]) -> int:
    """Objects that only the collector can free after so much of a recording is judged."""
    gc.collect()
    was_on = gc.isenabled()
    gc.disable()
    try:
        judging = Judge("t")
        for event in read_events(lines, "t"):
            judging.feed(event)
        return gc.collect()
    finally:
        judging.finish()
        if was_on:
            gc.enable()
