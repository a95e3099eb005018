"""The table of quirks and liars: what a check finds on each of these servers.

    python -m tests.probe.quirks.table [WORD ...]

Only those with one of the words in their names, if any are given.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor

from clausewise.core.results import RunResult
from clausewise.core.vocabulary import Era, Outcome
from tests.defects.reference_runs import broken
from tests.probe.quirks import features, framing, messages, processes, protection, sessions
from tests.probe.quirks.liars import LIARS, Liar
from tests.probe.quirks.serving import Quirk, check_quirk

_AT_A_TIME = 3

_TABLES = (framing, features, messages, protection, processes, sessions)

QUIRKS: Mapping[str, Quirk] = {
    f"{table.__name__.rpartition('.')[2]}: {quirk.name}": quirk
    for table in _TABLES
    for quirk in table.QUIRKS
}
"""All quirks, by the table they stand in and their name."""


def undecided(result: RunResult) -> dict[str, str | None]:
    """The reasons of what was left inconclusive, by rule or clause."""
    return {v.id: v.reason for v in result.verdicts if v.outcome is Outcome.INCONCLUSIVE}


def surprises(quirk: Quirk) -> dict[str, object]:
    """What a check of the server says of it that it must not say."""
    result = check_quirk(quirk)
    open_ = undecided(result)
    return {**broken(result), **{i: r for i, r in open_.items() if i not in quirk.inconclusive}}


def found(liar: Liar) -> dict[str, list[str]]:
    """The findings of a check of the lying server, which is of the modern era."""
    served = Quirk(liar.name, liar.rewire)
    return broken(check_quirk(served, Era.MODERN))


def _row(name: str) -> str:
    if name in QUIRKS:
        said = surprises(QUIRKS[name])
        return f"{'!' if said else ' '} {name} {said or ''}"
    liar = next(liar for liar in LIARS if liar.name == name)
    seen = found(liar)
    return f"{' ' if seen.keys() == liar.rules else '!'} liar: {name} {seen}"


def main(words: list[str]) -> None:
    """Print a row for each; `!` marks what is not as it must be."""
    names = [*QUIRKS, *(liar.name for liar in LIARS)]
    chosen = [name for name in names if not words or any(word in name for word in words)]
    with ProcessPoolExecutor(_AT_A_TIME) as processes_:
        for row in processes_.map(_row, chosen):
            print(row, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
