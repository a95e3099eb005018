"""What a project declares of itself: deviations, and features that it leaves out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from clausewise.core.matrix import Row


class DeclarationKind(StrEnum):
    """What is declared; the value is the table's name in the configuration."""

    DEVIATION = "deviations"
    NOT_IMPLEMENTED = "not-implemented"


@dataclass(frozen=True, slots=True)
class Declaration:
    """Why the rows that it covers are not as the specification says.

    `ids` are ids of clauses and rules or their beginnings up to a hyphen (`COMP`, `MCP-AUT`);
    `capabilities` cover the clauses whose condition they are (`completions`, or
    `server.completions`).
    """

    kind: DeclarationKind
    reason: str
    ids: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()

    def covers(self, row: Row) -> bool:
        """Whether it speaks about this row."""
        if any(row.id == word or row.id.startswith(f"{word}-") for word in self.ids):
            return True
        condition = row.condition or ""
        return any(covers_capability(name, condition) for name in self.capabilities)

    @property
    def name(self) -> str:
        """How messages name it."""
        return f"{self.kind}: {', '.join((*self.ids, *self.capabilities))}"


def covers_capability(name: str, condition: str) -> bool:
    """Whether the capability `name` is the `condition` of a clause, or the whole above it."""
    _, _, bare = condition.partition(".")
    return any(part == name or part.startswith(f"{name}.") for part in (condition, bare) if part)


def declared_of(row: Row, declarations: Iterable[Declaration]) -> Declaration | None:
    """The declaration that decides `row`: the first, deviations before features left out."""
    covering = [item for item in declarations if item.covers(row)]
    covering.sort(key=lambda item: list(DeclarationKind).index(item.kind))
    return covering[0] if covering else None
