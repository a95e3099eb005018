"""Two runs or two matrices side by side: what broke, what was fixed, what is seen anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class Standing(StrEnum):
    """How a clause or rule stands, whatever words its source has for that."""

    KEPT = "kept"
    BROKEN = "broken"
    OPEN = "open"


class Change(StrEnum):
    """What became of a clause or rule; `DIFFERENT` is another word for an open standing."""

    BROKE = "broke"
    WORSE = "worse"
    NEWLY_BROKEN = "newly observed, broken"
    FIXED = "fixed"
    BETTER = "better"
    NEWLY_KEPT = "newly observed, kept"
    LOST = "no longer observed"
    DIFFERENT = "different"

    @property
    def is_setback(self) -> bool:
        """Whether something is worse now than it was known to be before."""
        return self in (Change.BROKE, Change.WORSE, Change.NEWLY_BROKEN)


@dataclass(frozen=True, slots=True, order=True)
class Subject:
    """What a row is about: a `rule` or a `clause`, in one revision."""

    kind: str
    revision: str
    id: str


@dataclass(frozen=True, slots=True)
class Row:
    """How one clause or rule stands in one of the two.

    Attributes:
        level: its keyword.
        word: the outcome or verdict, as the source has it.
        standing: what that comes to.
        weight: of two rows of the same standing the heavier is the worse.
        faults: what is wrong, told apart from each other.
    """

    subject: Subject
    level: str
    word: str
    standing: Standing
    weight: int = 0
    faults: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Difference:
    """A clause or rule that stands otherwise than before; one of the two may lack it."""

    subject: Subject
    change: Change
    old: Row | None
    new: Row | None

    @property
    def level(self) -> str:
        row = self.new or self.old
        return row.level if row is not None else ""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table: what is counted, before and after."""

    label: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two results or matrices, compared.

    Attributes:
        names: what the two are called, old and new.
        figures: the table of counts.
        differences: in the order of `Change`, then of subjects.
        shared: how many clauses and rules both have.
    """

    names: tuple[str, str]
    figures: tuple[Figure, ...]
    differences: tuple[Difference, ...]
    shared: int

    @property
    def setbacks(self) -> tuple[Difference, ...]:
        """Everything that is worse now than it was known to be."""
        return tuple(d for d in self.differences if d.change.is_setback)


def compare(
    names: tuple[str, str],
    old: Iterable[Row],
    new: Iterable[Row],
    figures: tuple[Figure, ...],
) -> Comparison:
    """Compare by subject. A row that one side lacks counts there as open."""
    before = {row.subject: row for row in old}
    after = {row.subject: row for row in new}
    found = list(_differences(before, after))
    order = list(Change)
    found.sort(key=lambda difference: (order.index(difference.change), difference.subject))
    return Comparison(names, figures, tuple(found), len(before.keys() & after.keys()))


def _differences(before: dict[Subject, Row], after: dict[Subject, Row]) -> Iterator[Difference]:
    for subject in before.keys() | after.keys():
        old, new = before.get(subject), after.get(subject)
        change = _change(old, new)
        if change is not None:
            yield Difference(subject, change, old, new)


def _change(old: Row | None, new: Row | None) -> Change | None:
    was = old.standing if old is not None else Standing.OPEN
    now = new.standing if new is not None else Standing.OPEN
    if was is now:
        return _within(old, new)
    if now is Standing.BROKEN:
        return Change.BROKE if was is Standing.KEPT else Change.NEWLY_BROKEN
    if now is Standing.OPEN:
        return Change.LOST
    return Change.FIXED if was is Standing.BROKEN else Change.NEWLY_KEPT


def _within(old: Row | None, new: Row | None) -> Change | None:
    """The change of a row whose standing is as before."""
    if old is None or new is None:
        return None
    if new.weight != old.weight:
        return Change.WORSE if new.weight > old.weight else Change.BETTER
    if new.faults - old.faults:
        return Change.WORSE
    if old.faults - new.faults:
        return Change.BETTER
    return Change.DIFFERENT if old.word != new.word else None
