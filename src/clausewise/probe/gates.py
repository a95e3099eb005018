"""Conditions that must hold before a probe runs: era, transport, capabilities, supplies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.core.results import PLANNED
from clausewise.core.vocabulary import Era, Revision, TransportKind
from clausewise.probe.observation import (
    Observation,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import Passive, Probe
from clausewise.probe.supplied import NOTHING_SUPPLIED, Supplied

MODERN_ONLY = "modern-only"


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of the server before the probes run.

    `capabilities` is None when `server/discover`, the positive control of every run, gave
    none. `barred` says why the server lets nobody in, if it does not. `supplied` is what the
    user gave beside the target.
    """

    transport: TransportKind
    era: Era
    capabilities: Mapping[str, Any] | None
    barred: str | None = None
    supplied: Supplied = NOTHING_SUPPLIED


def gate(entry: Probe | Passive, situation: Situation) -> Observation | None:
    """Why `entry` does not run in this situation, or None when it does."""
    if situation.transport not in entry.transports:
        return not_applicable(f"the rule is about {names_of(entry.transports)}")
    if isinstance(entry, Probe) and entry.supply is not None:
        lacks = situation.supplied.lacks(entry.supply)
        if lacks is not None:
            return not_observed(lacks)
    if situation.barred is not None:
        decides = isinstance(entry, Probe) and entry.outside
        return None if decides else inconclusive(situation.barred)
    if not isinstance(entry, Probe):
        return None
    if MODERN_ONLY in entry.needs and situation.era is not Era.MODERN:
        return not_applicable("the rule is about servers that speak no earlier revision")
    for need in entry.needs:
        if need != MODERN_ONLY:
            absent = lacking(need, situation.capabilities)
            if absent is not None:
                return absent
    return None


def unseen_rule(era: Era, revision: Revision | None) -> Observation:
    """What comes of a rule that no probe decides; `revision` is the only one wanted."""
    if revision is Revision.LEGACY:
        return not_applicable("the run is limited to revision 2025-11-25")
    if not era.has_modern:
        return not_applicable("the server speaks only the legacy era")
    return not_observed(f"{PLANNED}: the rule has no probe yet")


def lacking(need: str, capabilities: Mapping[str, Any] | None) -> Observation | None:
    """What stands where the server declares none of the capabilities `a|b`, or None."""
    wanted = need.split("|")
    if capabilities is None:
        return not_observed("server/discover names no capabilities")
    if any(name in capabilities for name in wanted):
        return None
    return not_applicable(f"the server does not declare the capability {' or '.join(wanted)}")


def names_of(transports: frozenset[TransportKind]) -> str:
    """The transports in words."""
    return " and ".join(sorted(transport.value for transport in transports))
