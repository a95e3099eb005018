"""Deliberate faults of the reference client, one module per topic."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache

from clausewise.core.errors import UsageError
from clausewise.core.suggestion import did_you_mean
from clausewise.reference.client.defects.defect import ClientDefect
from clausewise.reference.client.wiring import ClientWiring

__all__ = ["ClientDefect", "apply_defects", "list_defects"]


@cache
def list_defects() -> tuple[ClientDefect, ...]:
    """Every defect, by module and in the order it stands there.

    A module of this package that has a tuple `DEFECTS` is found by itself.
    """
    found: list[ClientDefect] = []
    for module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
        loaded = importlib.import_module(f"{__name__}.{module}")
        found += getattr(loaded, "DEFECTS", ())
    return tuple(found)


def apply_defects(wiring: ClientWiring, names: Iterable[str]) -> ClientWiring:
    """`wiring` with the named defects applied, in order.

    Raises:
        UsageError: there is no defect of that name.
    """
    by_name = {defect.name: defect for defect in list_defects()}
    for name in names:
        if name not in by_name:
            raise UsageError(
                f"unknown defect {name!r}",
                did_you_mean(name, by_name) or "See --list-defects for their names.",
            )
        wiring = by_name[name].apply(wiring)
    return wiring
