"""Where our checks and the official suite disagree, and whose mistake each disagreement is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from clausewise.core.results import Verdict
from clausewise.core.vocabulary import Outcome, Revision
from tests.official.suite import Leg, Scenario

FILE = Path(__file__).parent / "calibration.toml"
ANY = "*"
"""In the place of a scenario: in whichever it is seen. In that of a check: all of a scenario."""


class Whose(StrEnum):
    """Who is wrong."""

    OURS = "ours"
    THEIRS = "theirs"
    AMBIGUOUS = "ambiguous"
    """Nobody: the text can be read both ways."""


@dataclass(frozen=True, slots=True, order=True)
class Disagreement:
    """One place where one side objects and the other does not.

    Attributes:
        scenario: the suite's scenario, or ANY.
        what: the clause that we find broken and the party, as `ID party`; or the id of the
            suite's check that failed.
    """

    scenario: str
    what: str

    def covers(self, seen: Disagreement) -> bool:
        """Whether this entry of the file is about what was seen."""
        return self.what in (seen.what, ANY) and self.scenario in (seen.scenario, ANY)


@dataclass(frozen=True, slots=True)
class Entry:
    """A listed disagreement, with its adjudication.

    `defect` is the fault of the reference server with which it is seen, "" for the right one.
    """

    leg: str
    revision: str
    place: Disagreement
    whose: Whose
    reason: str
    defect: str


@dataclass(frozen=True, slots=True)
class Calibration:
    """The file: findings of ours alone, and failures of the suite alone."""

    findings: tuple[Entry, ...]
    failures: tuple[Entry, ...]


def load(file: Path = FILE) -> Calibration:
    """Read the file.

    Raises:
        ValueError, KeyError: an entry is not as it must be.
    """
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    return Calibration(
        tuple(
            _entry(one, f"{one.pop('clause')} {one.pop('party')}")
            for one in document.get("finding", [])
        ),
        tuple(_entry(one, one.pop("check")) for one in document.get("failure", [])),
    )


def _entry(table: dict[str, Any], what: str) -> Entry:
    place = Disagreement(table.pop("scenario"), what)
    entry = Entry(
        table.pop("leg"),
        table.pop("revision"),
        place,
        Whose(table.pop("whose")),
        table.pop("reason"),
        table.pop("defect", ""),
    )
    known = entry.leg in ("client", "server") and entry.revision in list(Revision)
    if table or not known or not entry.reason.strip():
        raise ValueError(f"an entry about {place} is not as it must be: {entry}, {table}")
    return entry


def of_run(
    entries: Iterable[Entry], leg: Leg, revision: str, defect: str = ""
) -> tuple[Disagreement, ...]:
    """What the file lists about one leg at one revision, with or without a defect."""
    run = (leg, revision, defect)
    return tuple(one.place for one in entries if (one.leg, one.revision, one.defect) == run)


def our_findings(scenario: str, verdicts: Iterable[Verdict]) -> Iterator[Disagreement]:
    """The MUST findings of ours in the recording of a scenario."""
    for verdict in verdicts:
        if verdict.outcome is Outcome.FAIL:
            broken = (one for one in verdict.findings if one.severity is Outcome.FAIL)
            for party in sorted({finding.party.value for finding in broken}):
                yield Disagreement(scenario, f"{verdict.id} {party}")


def their_failures(scenarios: Iterable[Scenario]) -> Iterator[Disagreement]:
    """The checks of the suite that failed."""
    for scenario in scenarios:
        yield from (Disagreement(scenario.name, one) for one in scenario.failures)


def differences(listed: Iterable[Disagreement], seen: Iterable[Disagreement]) -> list[str]:
    """What is seen and not listed, and what is listed and not seen."""
    entries, found = list(listed), sorted(set(seen))
    unlisted = [one for one in found if not any(entry.covers(one) for entry in entries)]
    stale = [entry for entry in entries if not any(entry.covers(one) for one in found)]
    return [f"not listed: {one}" for one in unlisted] + [f"not seen: {one}" for one in stale]
