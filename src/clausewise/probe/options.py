"""The choices of a run of probes, and how it tells its progress."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.supplied import NOTHING_SUPPLIED, Supplied
from clausewise.transport.limits import Limits

_AT_A_TIME = {TransportKind.HTTP: 8, TransportKind.STDIO: 2}
"""Most probes wait, for a slow tool or for silence. More of them gain little over HTTP, for
one process answers them all; on stdio each has its own, whose start is dear."""


@dataclass(frozen=True, slots=True)
class ProbeOptions:
    """How to probe.

    Attributes:
        revision: the only revision to probe, or None for what the server speaks.
        select: rule ids or prefixes; empty for all.
        ignore: rule ids or prefixes left out.
        call_tools: tools that may be called though they do not say they are read-only.
        supplied: what the user gives beside the target: tokens, a registry entry.
        as_listed: use the severities of the catalogue instead of the text's.
        limits: bounds of every exchange.
        probe_s: the longest time one probe may take, in seconds.
        total_s: the longest time all probes and the legacy session may take together.
        concurrency: how many probes run at a time, each on a connection or with a process of
            its own; None for what suits the transport.
        rate: the most requests per second to the target, or None for no bound.
        trace: the name of the recording in findings.
    """

    revision: Revision | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    call_tools: frozenset[str] = frozenset()
    supplied: Supplied = NOTHING_SUPPLIED
    as_listed: bool = False
    limits: Limits = field(default_factory=Limits)
    probe_s: float = 20.0
    total_s: float = 120.0
    concurrency: int | None = None
    rate: float | None = None
    trace: str = "check"

    def takes(self, rule: str) -> bool:
        """Whether `select` and `ignore` let the rule of that id through."""
        if self.ignore and rule.startswith(self.ignore):
            return False
        return not self.select or rule.startswith(self.select)

    def at_a_time(self, transport: TransportKind) -> int:
        """How many probes run at a time."""
        return self.concurrency or _AT_A_TIME[transport]


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` steps; `text` is the rule id or what is at hand."""

    done: int
    total: int
    text: str
