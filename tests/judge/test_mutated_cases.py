"""Whatever a peer puts into a member, no check crashes: the cases, with values replaced."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clausewise.core.vocabulary import Outcome
from clausewise.judge.engine import judge
from clausewise.trace.events import Event
from tests.judge.notation import Case
from tests.judge.test_cases import CASES

Path = tuple[str | int, ...]


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": [value]}
    return value


VALUES: list[Any] = [
    None,
    True,
    -1,
    1.5,
    2**70,
    "",
    "x",
    "\ud800",
    [],
    [[1]],
    {},
    {"a": 1},
    {"type": "resource"},
    nested(200),
]


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The place of every value in `value`, its own first."""
    yield path
    if isinstance(value, dict):
        for name, part in value.items():
            yield from paths(part, (*path, name))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from paths(part, (*path, number))


def replaced(value: Any, path: Path, new: Any) -> Any:
    """A copy of `value` with `new` at `path`."""
    if not path:
        return new
    changed = copy.copy(value)
    changed[path[0]] = replaced(value[path[0]], path[1:], new)
    return changed


@st.composite
def mutations(draw: st.DrawFn) -> list[Event]:
    """The events of a case, with some values in their payloads replaced."""
    case: Case = draw(st.sampled_from([case for _, case in CASES]))
    events = [copy.copy(event) for event in case.events]
    messages = [event for event in events if event.payload is not None]
    for _ in range(draw(st.integers(1, 4)) if messages else 0):
        event = draw(st.sampled_from(messages))
        path = draw(st.sampled_from(list(paths(event.payload))))
        event.payload = replaced(event.payload, path, draw(st.sampled_from(VALUES)))
    return events


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(mutations())
def test_no_check_crashes_on_a_case_with_other_values(events: list[Event]) -> None:
    verdicts = judge(events, trace="mutated").verdicts
    assert [v.reason for v in verdicts if v.outcome is Outcome.CRASHED] == []
