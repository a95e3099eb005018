"""Register probes: `@probe` for experiments, `@passive` for rules judged on all traffic."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING, Literal, TypedDict, Unpack

from clausewise.core.vocabulary import TransportKind
from clausewise.probe.observation import Observation
from clausewise.probe.supplied import Supply

if TYPE_CHECKING:
    from clausewise.probe.conversation.peer import Peer
    from clausewise.probe.conversation.traffic import Traffic

BOTH = frozenset(TransportKind)
HTTP_ONLY = frozenset({TransportKind.HTTP})
STDIO_ONLY = frozenset({TransportKind.STDIO})

Impact = Literal["none", "reads", "calls"]
"""What a probe does to the server: lists and refused requests only; reads a resource or
gets a prompt; calls a tool that may be called."""


class Turn(IntEnum):
    """When a probe runs: each turn begins when the one before it in its era has ended."""

    TOGETHER = 0
    """While others run."""
    ALONE = 1
    """While no other of its era runs, because it compares connections or moments.

    Where the other era is probed at the same time: over HTTP while nothing at all runs; on stdio
    only a pass counts that came meanwhile, and anything else is tried again at the end."""
    LAST = 2
    """As ALONE, after all others, because a process that it used may serve nobody after it."""
    END = 3
    """While nothing at all runs, because it ends a process to see how that goes."""


ProbeFunction = Callable[["Peer"], Awaitable[Observation]]
PassiveFunction = Callable[["Traffic"], Observation]


@dataclass(frozen=True, slots=True)
class Documentation:
    """The docstring of a probe or passive judgement in its three parts."""

    summary: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Probe:
    """An experiment that decides one rule.

    `needs` are conditions that the engine checks before it runs: `tools`, `prompts`,
    `resources`, `completions`, `logging` (server capabilities; `a|b` is either), and
    `modern-only` (the server speaks no earlier revision). Where one is absent the rule
    is not applicable. `beside` says that it uses a connection beside the peer's own:
    on stdio the engine starts that process ahead of time.
    `outside` says that it decides the rule though the server lets nobody in. `supply` is
    what the user must give for it; without it the rule is not observed.
    """

    rule: str
    run: ProbeFunction
    transports: frozenset[TransportKind] = BOTH
    needs: tuple[str, ...] = ()
    impact: Impact = "none"
    turn: Turn = Turn.TOGETHER
    beside: bool = False
    outside: bool = False
    supply: Supply | None = None

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def documentation(self) -> Documentation:
        return documentation_of(self.run)


@dataclass(frozen=True, slots=True)
class Passive:
    """A rule judged on every modern exchange of the run, after all probes."""

    rule: str
    judge: PassiveFunction
    transports: frozenset[TransportKind]

    @property
    def name(self) -> str:
        return self.judge.__name__

    @property
    def documentation(self) -> Documentation:
        return documentation_of(self.judge)


_probes: dict[str, Probe | Passive] = {}


class Traits(TypedDict, total=False):
    """What may be said of a probe: the attributes of `Probe`, with its defaults."""

    transports: frozenset[TransportKind]
    needs: tuple[str, ...]
    impact: Impact
    turn: Turn
    beside: bool
    outside: bool
    supply: Supply


def probe(rule: str, **traits: Unpack[Traits]) -> Callable[[ProbeFunction], ProbeFunction]:
    """Register `async def f(peer: Peer) -> Observation` as the probe of `rule`.

    Its docstring has a first line (the defect in a sentence), then paragraphs that
    begin with `Why:` and `Fix:`.
    """

    def register(run: ProbeFunction) -> ProbeFunction:
        _add(Probe(rule, run, **traits))
        return run

    return register


def passive(
    rule: str, *, transports: frozenset[TransportKind] = BOTH
) -> Callable[[PassiveFunction], PassiveFunction]:
    """Register `def f(traffic: Traffic) -> Observation` as the judgement of `rule`.

    The docstring is as for `probe`.
    """

    def register(judge: PassiveFunction) -> PassiveFunction:
        _add(Passive(rule, judge, transports))
        return judge

    return register


@cache
def probes() -> Mapping[str, Probe | Passive]:
    """Every probe and passive judgement by rule id: all modules of `probe.probes`."""
    package = importlib.import_module("clausewise.probe.probes")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        importlib.import_module(f"{package.__name__}.{module}")
    return dict(sorted(_probes.items()))


def documentation_of(function: Callable[..., object]) -> Documentation:
    """The parts of a docstring.

    Raises:
        ValueError: a part is missing.
    """
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    parts = {"why": "", "fix": ""}
    for paragraph in paragraphs[1:]:
        for line in _joined(paragraph):
            key, _, rest = line.partition(":")
            if key.lower() in parts:
                parts[key.lower()] = rest.strip()
    summary = " ".join(paragraphs[0].split())
    if not (summary and parts["why"] and parts["fix"]):
        raise ValueError(f"{function.__name__}: the docstring lacks a summary, Why: or Fix:")
    return Documentation(summary, parts["why"], parts["fix"])


def _joined(paragraph: str) -> list[str]:
    lines: list[str] = []
    for line in paragraph.splitlines():
        if line.startswith(("Why:", "Fix:")) or not lines:
            lines.append(line.strip())
        else:
            lines[-1] += " " + line.strip()
    return lines


def _add(entry: Probe | Passive) -> None:
    if entry.rule in _probes:
        raise ValueError(f"{entry.rule} has two probes")
    _probes[entry.rule] = entry
