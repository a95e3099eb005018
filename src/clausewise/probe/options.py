"""The choices of a run of probes, and how it tells its progress."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.probe.supplied import NOTHING_SUPPLIED, Supplied
from clausewise.transport.limits import Limits

HTTP_CONCURRENCY = 4
"""Probes at a time over HTTP: most of them wait, for a slow tool or for silence, and more of
them gain little, for one process answers them all."""


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
            its own; None for `HTTP_CONCURRENCY` over HTTP and one on stdio, where the start
            of another process costs more than it saves.
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
        if self.concurrency is not None:
            return self.concurrency
        return 1 if transport is TransportKind.STDIO else HTTP_CONCURRENCY


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` steps; `text` is the rule id or what is at hand."""

    done: int
    total: int
    text: str
