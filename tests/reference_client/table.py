"""The table of the client's defects: what each must trip, and what the recording shows.

python -m tests.reference_client.table [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from clausewise.core.vocabulary import Party
from tests.defects.table import Row
from tests.reference_client.playing import CASES, play_defect

_AT_A_TIME = 4


def rows(names: Sequence[str], at_a_time: int = _AT_A_TIME) -> Iterator[Row]:
    """A row for each era and transport of the named defects; of all where none is named."""
    wanted = [n for n, (defect, *_) in enumerate(CASES) if not names or defect.name in names]
    with ProcessPoolExecutor(at_a_time) as processes:
        yield from processes.map(_tried, wanted)


def _tried(number: int) -> Row:
    """By its number, for a defect holds functions, which cannot go to another process."""
    defect, era, transport = CASES[number]
    found = play_defect(defect, era, transport).findings(Party.CLIENT)
    expected = tuple(sorted(defect.clauses[era]))
    return Row(defect.name, f"{era} {transport}", expected, tuple(sorted(found)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 when a defect trips something else than it names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="defects; default: all")
    wrong = total = 0
    for row in rows(parser.parse_args(arguments).names):
        total += 1
        wrong += not row.is_right
        print(row, flush=True)
    print(f"{total} sessions, {wrong} that trip something else than the defect names")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
