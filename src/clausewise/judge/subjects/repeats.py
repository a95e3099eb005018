"""Faults that a peer repeats with every message: reported once a session."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from clausewise.judge.ledger import Sheet
from clausewise.judge.session.sessions import Session

MAX_FAULTS = 256
"""Different faults of a session that are known again; further ones are reported each time."""


@dataclass(slots=True)
class _Reported:
    """What was reported in the session: the check and what tells its fault from others."""

    faults: set[tuple[str, Hashable]] = field(default_factory=set)


def is_news(fault: Hashable, session: Session, out: Sheet) -> bool:
    """Whether the check of `out` has not reported `fault` in this session; notes it."""
    faults = session.state(_Reported).faults
    key = (out.check.name, fault)
    if key in faults:
        return False
    if len(faults) < MAX_FAULTS:
        faults.add(key)
    return True
