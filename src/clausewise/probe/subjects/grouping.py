"""Join the occasions of a rule that is judged on many messages, and point at one of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from clausewise.core.vocabulary import Outcome
from clausewise.probe.observation import Observation, merged


@dataclass(frozen=True, slots=True)
class Sighting:
    """One event of an answer as the evidence, where the answer's response is not the point."""

    seq: int | None
    reproduce: str | None


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
