"""The table of defects: what each must trip, and what a check of the server with it finds.

    python -m tests.defects.table [NAME ...]

Without names it runs the whole cross product, which takes minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from zlib import crc32

from clausewise.core.vocabulary import Era, TransportKind
from clausewise.reference.defects import Defect, list_defects
from tests.defects.reference_runs import broken, check_defect

_AT_A_TIME = 4
_NAME_WIDTH = 38

Combination = tuple[Defect, Era, TransportKind]


def combinations() -> Iterator[Combination]:
    """The eras and transports in which each defect is tried.

    One that is alike in all of them is tried in one: mostly on a legacy server, for that is
    soonest checked, and each fifth on one of both eras.
    """
    for number, defect in enumerate(list_defects()):
        eras, transports = sorted(defect.eras), sorted(defect.transports)
        if not defect.alike:
            yield from ((defect, era, transport) for era in eras for transport in transports)
            continue
        is_dual = number % 5 == 0 and Era.DUAL in eras
        era = Era.DUAL if is_dual else Era.LEGACY
        yield defect, era, transports[crc32(defect.name.encode()) % len(transports)]


def named_by(defect: Defect, era: Era) -> set[str]:
    """The rules and clauses that a check of a server of `era` with `defect` must find broken."""
    rules = defect.rules if era.has_modern else ()
    return {*rules, *(defect.clauses if era.has_legacy else ())}


@dataclass(frozen=True, slots=True)
class Row:
    """A defect in one era and transport, what it must trip and what it has tripped."""

    name: str
    place: str
    expected: tuple[str, ...]
    tripped: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return self.expected == self.tripped

    def __str__(self) -> str:
        sign = "  " if self.is_right else "! "
        seen = "as expected" if self.is_right else ", ".join(self.tripped) or "nothing"
        return f"{sign}{self.name:{_NAME_WIDTH}} {self.place:24} {', '.join(self.expected)}: {seen}"


def tried(combination: Combination) -> Row:
    """What a full check of the reference server with a defect finds."""
    defect, era, transport = combination
    found = broken(check_defect(defect, era, transport))
    expected = tuple(sorted(named_by(defect, era)))
    return Row(defect.name, f"{era} {transport}", expected, tuple(sorted(found)))


def rows(names: Sequence[str], at_a_time: int = _AT_A_TIME) -> Iterator[Row]:
    """A row for each combination of the named defects; of all where none is named."""
    wanted = [number for number, one in enumerate(combinations()) if _is_wanted(one[0], names)]
    with ProcessPoolExecutor(at_a_time) as processes:
        yield from processes.map(_tried_by_number, wanted)


def _is_wanted(defect: Defect, names: Sequence[str]) -> bool:
    return not names or defect.name in names


def _tried_by_number(number: int) -> Row:
    """By its number, for a defect holds functions, which cannot go to another process."""
    return tried(list(combinations())[number])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a defect trips something else than it names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="defects; default: all")
    wrong = total = 0
    for row in rows(parser.parse_args(arguments).names):
        total += 1
        wrong += not row.is_right
        print(row, flush=True)
    print(f"{total} checks, {wrong} that trip something else than the defect names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
