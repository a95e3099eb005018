"""Join the occasions of a rule that is judged on many messages, and point at one of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from clausewise.core.vocabulary import Outcome
from clausewise.probe.conversation.reproduce import at_once
from clausewise.probe.observation import Evidence, Observation, merged


@dataclass(frozen=True, slots=True)
class Sighting:
    """One event of an answer as the evidence, where the answer's response is not the point."""

    seq: int | None
    reproduce: str | None


def shown_together(*replies: Evidence) -> Sighting:
    """The last of several replies as the evidence, which shows the fault beside the others."""
    commands = [reply.reproduce for reply in replies if reply.reproduce is not None]
    return Sighting(replies[-1].seq, "; ".join(commands))


def shown_at_once(first: Evidence, second: Evidence) -> Sighting:
    """The second reply as the evidence: its request goes out while the first is in progress."""
    return Sighting(second.seq, at_once(str(first.reproduce), str(second.reproduce)))


def once_each(judged: Iterable[tuple[Hashable, Observation]]) -> Observation:
    """The observations merged, with a finding for the first fault of each kind only.

    A server that leaves a member out leaves it out everywhere: the repetitions count as
    occasions, not as findings.

    Args:
        judged: pairs of the kind of fault that the occasion could show and what came of it.
    """
    seen: set[Hashable] = set()
    parts: list[Observation] = []
    for kind, part in judged:
        if part.faults and kind in seen:
            part = Observation(Outcome.FAIL, part.occasions)
        elif part.faults:
            seen.add(kind)
        parts.append(part)
    return merged(parts)
