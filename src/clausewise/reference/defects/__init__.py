"""Deliberate faults of the reference server, one module per rule group or clause area."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from clausewise.core.errors import UsageError
from clausewise.reference.defects.defect import Defect
from clausewise.reference.wiring import Wiring

__all__ = ["Defect", "address_to_bind", "apply_defects", "list_defects"]


@cache
def list_defects() -> tuple[Defect, ...]:
    """Every defect, by module and in the order it stands there.

    A module of this package that has a tuple `DEFECTS` is found by itself.
    """
    found: list[Defect] = []
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        loaded = importlib.import_module(f"{__name__}.{module}")
        found += getattr(loaded, "DEFECTS", ())
    return tuple(found)


def address_to_bind(host: str, names: Iterable[str]) -> str:
    """`host`, unless one of the named defects listens elsewhere."""
    wanted = frozenset(names)
    bound = (defect.bind for defect in list_defects() if defect.name in wanted)
    return next((address for address in bound if address is not None), host)


def apply_defects(wiring: Wiring, names: Iterable[str]) -> Wiring:
    """`wiring` with the named defects applied, in order.

    Raises:
        UsageError: there is no defect of that name, or it needs a protected server.
    """
    by_name = {defect.name: defect for defect in list_defects()}
    for name in names:
        if name not in by_name:
            near = difflib.get_close_matches(name, by_name, n=1)
            raise UsageError(
                f"unknown defect {name!r}",
                f"Did you mean {near[0]}?" if near else "See --list-defects for their names.",
            )
        if by_name[name].protected and wiring.auth is None:
            raise UsageError(f"the defect {name} needs a protected server", "Add --auth.")
        wiring = by_name[name].apply(wiring)
    return wiring
