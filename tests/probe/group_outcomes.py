"""What a whole rule group makes of the fake server, by its differences from the right one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from clausewise.core.vocabulary import Outcome
from tests.probe.faults import FAULTS
from tests.probe.running import Recorded, probe_fake

Outcomes = Mapping[str, Outcome]


@cache
def recorded(fault: str | None, group: str) -> Recorded:
    """A run of the rules whose ids begin with `group`."""
    return probe_fake(None if fault is None else FAULTS[fault], group)


def outcomes(fault: str | None, group: str) -> Outcomes:
    return {verdict.id: verdict.outcome for verdict in recorded(fault, group).run.verdicts}


def changed(fault: str, group: str, usual: str | None = None) -> Outcomes:
    """The outcomes that differ from those with the fault `usual` (None: no fault)."""
    right = outcomes(usual, group)
    return {rule: one for rule, one in outcomes(fault, group).items() if one is not right[rule]}
