"""Register probes of clauses: `@clause_probe` for experiments in a session of 2025-11-25."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypedDict, Unpack

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.observation import Observation
from clausewise.probe.registration import BOTH, Documentation, Impact, documentation_of

if TYPE_CHECKING:
    from clausewise.probe.conversation.legacy_peer import LegacyPeer

ClauseProbeFunction = Callable[["LegacyPeer"], Awaitable[Observation]]


@dataclass(frozen=True, slots=True)
class ClauseProbe:
    """An experiment that decides every clause whose entry in the registry names it.

    `needs` are server capabilities that the engine checks before it runs. `walked` says that
    it looks at the tool calls of the walk, and begins when those were made. `alone` says that
    what others do may make it pass: nothing else runs meanwhile. `again_alone` says that what
    others do may keep it from passing: it is then tried again while nothing else runs, and
    what comes of that counts. `beside` says that it opens
    sessions of its own on stdio, too: the engine starts that process ahead. `same_as` is a rule of
    2026-07-28 about the same fault: where that rule is decided on a server of both eras, the
    probe does not run, so that one fault is one finding.
    """

    name: str
    run: ClauseProbeFunction
    transports: frozenset[TransportKind] = BOTH
    needs: tuple[str, ...] = ()
    impact: Impact = "none"
    walked: bool = False
    alone: bool = False
    again_alone: bool = False
    beside: bool = False
    same_as: str | None = None

    @property
    def documentation(self) -> Documentation:
        return documentation_of(self.run)


class ClauseTraits(TypedDict, total=False):
    """What may be said of a probe of clauses: the attributes of `ClauseProbe`."""

    transports: frozenset[TransportKind]
    needs: tuple[str, ...]
    impact: Impact
    walked: bool
    alone: bool
    again_alone: bool
    beside: bool
    same_as: str | None


_probes: dict[str, ClauseProbe] = {}


def clause_probe(
    name: str, **traits: Unpack[ClauseTraits]
) -> Callable[[ClauseProbeFunction], ClauseProbeFunction]:
    """Register `async def f(peer: LegacyPeer) -> Observation` as the probe `area.slug`.

    Its docstring is as for `probe`. No check has its name.
    """

    def register(run: ClauseProbeFunction) -> ClauseProbeFunction:
        if name in _probes:
            raise ValueError(f"two probes are called {name}")
        _probes[name] = ClauseProbe(name, run, **traits)
        return run

    return register


@cache
def clause_probes() -> Mapping[str, ClauseProbe]:
    """Every probe of clauses by name: all modules of `probe.clause_probes`."""
    package = importlib.import_module("clausewise.probe.clause_probes")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return dict(sorted(_probes.items()))
