"""Words for values in findings: short, safe to print, whatever a trace holds."""

from __future__ import annotations

import json
from typing import Any

MAX_SHOWN = 80
"""Characters of a string that a finding quotes."""


class _Absent:
    """The type of `ABSENT`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = _Absent()
"""Stands for a member that is not there, which differs from one that is null."""


def shown(value: Any) -> str:
    """A JSON value as a finding shows it: scalars as JSON text, containers by their size."""
    if value is ABSENT:
        return "absent"
    if isinstance(value, dict):
        return f"an object with {counted(len(value), 'member')}"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, str):
        cut = value if len(value) <= MAX_SHOWN else value[:MAX_SHOWN] + "…"
        return json.dumps(cut)
    if isinstance(value, int) and value.bit_length() > 4 * MAX_SHOWN:
        return f"an integer of {value.bit_length()} bits"
    return json.dumps(value)


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 event`, `2 events`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
