"""What checks keep between events, and how a table that grows is cut."""

from __future__ import annotations

from itertools import islice
from typing import Any, Protocol, TypeVar

_State = TypeVar("_State")


def forget_older_half(table: dict[Any, Any]) -> None:
    """Drop the older half of a table that has grown too large; constant time per entry."""
    for key in list(islice(table, len(table) // 2)):
        del table[key]


class _StateOf(Protocol):
    def __call__(self, kind: type[_State], /) -> _State: ...


class _States(dict[type[Any], Any]):
    """One value a type, made when first asked for."""

    def __missing__(self, kind: type[Any]) -> Any:
        made = self[kind] = kind()
        return made


class Memory:
    """What checks keep between events.

    Attributes:
        state: gives the value of a type, which must be callable without arguments. Each type
            has one value, made when first asked for. (The look-up of a dict itself, as checks
            ask several times an event.)
    """

    def __init__(self) -> None:
        self.state: _StateOf = _States().__getitem__

    def forget(self) -> None:
        """Let go of all that was kept."""
        self.state = _States().__getitem__
