"""Conditions that must hold before a probe runs: era, transport, capabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clausewise.core.vocabulary import Era, TransportKind
from clausewise.probe.observation import (
    Observation,
    inconclusive,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import Passive, Probe

MODERN_ONLY = "modern-only"


@dataclass(frozen=True, slots=True)
class Situation:
    """What is known of the server before the probes run.

    `capabilities` is None when `server/discover`, the positive control of every run, gave
    none. `barred` says why the server lets nobody in, if it does not.
    """

    transport: TransportKind
    era: Era
    capabilities: Mapping[str, Any] | None
    barred: str | None = None


def gate(entry: Probe | Passive, situation: Situation) -> Observation | None:
    """Why `entry` does not run in this situation, or None when it does."""
    if situation.transport not in entry.transports:
        return not_applicable(f"the rule is about {_names(entry.transports)}")
    if situation.barred is not None:
        decides = isinstance(entry, Probe) and entry.outside
        return None if decides else inconclusive(situation.barred)
    if not isinstance(entry, Probe):
        return None
    if MODERN_ONLY in entry.needs and situation.era is not Era.MODERN:
        return not_applicable("the rule is about servers that speak no earlier revision")
    for need in entry.needs:
        if need != MODERN_ONLY:
            lacking = _lacking(need, situation.capabilities)
            if lacking is not None:
                return lacking
    return None


def _lacking(need: str, capabilities: Mapping[str, Any] | None) -> Observation | None:
    wanted = need.split("|")
    if capabilities is None:
        return not_observed("server/discover names no capabilities")
    if any(name in capabilities for name in wanted):
        return None
    return not_applicable(f"the server does not declare the capability {' or '.join(wanted)}")


def _names(transports: frozenset[TransportKind]) -> str:
    return " and ".join(sorted(transport.value for transport in transports))
