"""Which clauses and rules a run reports: by id or prefix, by level, by revision."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from clausewise import registry
from clausewise.core.errors import UsageError
from clausewise.core.results import SubjectKind
from clausewise.core.suggestion import did_you_mean
from clausewise.core.vocabulary import Level, Revision

_LEVELS_DOWN_TO = {
    Level.MUST: frozenset({Level.MUST, Level.MUST_NOT}),
    Level.SHOULD: frozenset({Level.MUST, Level.MUST_NOT, Level.SHOULD, Level.SHOULD_NOT}),
    Level.MAY: frozenset(Level),
}


class Judged(Protocol):
    """What stands for one clause or rule: a verdict, or what is planned for it."""

    @property
    def kind(self) -> SubjectKind: ...

    @property
    def id(self) -> str: ...

    @property
    def revision(self) -> Revision: ...

    @property
    def level(self) -> Level: ...


J = TypeVar("J", bound=Judged)


@dataclass(frozen=True, slots=True)
class Selection:
    """The clauses and rules asked for.

    `select` and `ignore` hold ids or beginnings of ids (`MCP-ERR`, `BASE-001`), in any
    case; an empty `select` is everything, and `ignore` wins. `lowest_level` leaves out
    what is below it. `revision` is the only one to report, or None for both.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    lowest_level: Level = Level.MAY
    revision: Revision | None = None

    @classmethod
    def of(
        cls,
        select: Iterable[str] = (),
        ignore: Iterable[str] = (),
        lowest_level: Level = Level.MAY,
        revision: Revision | None = None,
    ) -> Selection:
        """A selection whose every word fits some id.

        Raises:
            UsageError: a word that fits no clause and no rule.
        """
        selection = cls(_upper(select), _upper(ignore), lowest_level, revision)
        ids = known_ids()
        for word in selection.select + selection.ignore:
            if not any(_covers(word, id_) for id_ in ids):
                near = did_you_mean(word, ids)
                raise UsageError(
                    f"no clause or rule has an id that begins with {word!r}",
                    near or "`clausewise rules` and `clausewise requirements` list the ids.",
                )
        return selection

    def takes_id(self, id_: str) -> bool:
        """Whether `select` and `ignore` let this id through."""
        if any(_covers(word, id_) for word in self.ignore):
            return False
        return not self.select or any(_covers(word, id_) for word in self.select)

    def takes(self, verdict: Judged) -> bool:
        """Whether this verdict is reported."""
        return (
            self.takes_id(verdict.id)
            and verdict.level in _LEVELS_DOWN_TO[self.lowest_level]
            and self.revision in (None, verdict.revision)
        )


def known_ids() -> tuple[str, ...]:
    """The ids of every rule and clause of every revision that has a registry."""
    clauses = [id_ for revision in Revision for id_ in registry.clauses(revision)]
    return (*registry.rules(), *clauses)


def in_order(verdicts: Iterable[J]) -> tuple[J, ...]:
    """Verdicts in the order of every report: kind (rules first), revision, id."""
    kinds = list(SubjectKind)
    return tuple(sorted(verdicts, key=lambda v: (kinds.index(v.kind), v.revision, v.id)))


def _upper(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word.strip().upper() for word in words if word.strip())


def _covers(word: str, id_: str) -> bool:
    return id_.upper().startswith(word)
