"""Evidence from the official conformance suite: its output folders, through a mapping to clauses.

The suite writes a `checks.json` for each scenario, in a folder named after scenario and time.
`suite_mapping` knows which clauses and rules each check in each scenario looks at.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clausewise.core.errors import UsageError
from clausewise.core.matrix import Evidence, EvidenceKind, Problem, ProblemKind, Source
from clausewise.core.results import worst
from clausewise.core.vocabulary import Outcome, Party, Revision
from clausewise.matrix.assembly import Gathered, Statement
from clausewise.matrix.evidence.severity import breach_of
from clausewise.matrix.evidence.suite_mapping import Meaning, suite_mapping
from clausewise.wire.jsontext import JsonTextError, decode

CHECKS = "checks.json"
MAX_BYTES = 64 * 1024 * 1024

_FOLDER = re.compile(r"(?P<scenario>.+)-(?P<time>\d{4}-\d\d-\d\dT[\d-]+Z)")
_SERVER_LEG = "server-"
_OUTCOMES = {
    "SUCCESS": Outcome.PASS,
    "FAILURE": Outcome.FAIL,
    "WARNING": Outcome.WARN,
    "SKIPPED": Outcome.NOT_OBSERVED,
}
_LOGGED = "INFO"
_BROKEN = (Outcome.FAIL, Outcome.WARN)


@dataclass(frozen=True, slots=True)
class Check:
    """One check of the suite as it went: `message` says what was wrong, or is empty."""

    scenario: str
    id: str
    outcome: Outcome
    message: str

    @property
    def name(self) -> str:
        return f"{self.scenario}/{self.id}"


def gather(folder: Path, name: str, revision: Revision, party: Party) -> Gathered:
    """What the results in `folder`, to be called `name`, show; of a scenario the latest run.

    A check of a required scenario that the mapping lacks is told, and so is a failure that breaks
    no clause by itself; the tally is of the required scenarios.

    Raises:
        UsageError: there are no results of this party's leg, or they are not the suite's.
    """
    checks = list(read_results(folder, name, party))
    mapped = suite_mapping(revision)
    statements: list[Statement] = []
    problems: list[Problem] = []
    for same in _by_name(checks).values():
        meaning = mapped.meaning(same[0].scenario, same[0].id)
        statements += _statements(name, meaning, same)
        if mapped.requires(same[0].scenario):
            problems += _problems(name, meaning, same, revision)
    counts = Counter(check.outcome for check in checks if mapped.requires(check.scenario))
    source = Source(EvidenceKind.OFFICIAL, name, dict(sorted(counts.items())))
    return Gathered(tuple(statements), (source,), tuple(problems))


def read_results(folder: Path, name: str, party: Party) -> Iterator[Check]:
    """The checks of the latest run of each scenario below `folder`, without what is only logged.

    Raises:
        UsageError: as `gather`.
    """
    latest: dict[str, tuple[str, Path]] = {}
    for scenario, time, file in _runs(folder, name):
        of_server = scenario.startswith(_SERVER_LEG)
        if of_server is (party is Party.SERVER):
            bare = scenario.removeprefix(_SERVER_LEG) if of_server else scenario
            latest[bare] = max(latest.get(bare, ("", file)), (time, file))
    if not latest:
        raise UsageError(
            f"no results of {party} scenarios in {name}",
            "Name the folder given to the official suite as --output-dir.",
        )
    for scenario, (_, file) in sorted(latest.items()):
        yield from _checks(scenario, file)


def _runs(folder: Path, name: str) -> Iterator[tuple[str, str, Path]]:
    """Scenario, time and file of each run. A scenario with `/` in its name is a folder in one."""
    if not folder.is_dir():
        raise UsageError(f"{name} is no folder", "Run the official suite with --output-dir.")
    for place, _, files in os.walk(folder):
        if CHECKS in files:
            inside = Path(place).relative_to(folder).as_posix()
            match = _FOLDER.fullmatch(inside)
            if match is not None:
                yield match["scenario"], match["time"], Path(place, CHECKS)


def _checks(scenario: str, file: Path) -> Iterator[Check]:
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    if len(content) > MAX_BYTES:
        raise UsageError(f"{file} is longer than {MAX_BYTES} bytes")
    try:
        entries = decode(content)
    except JsonTextError as error:
        raise UsageError(f"{file} is no JSON: {error}") from None
    if not isinstance(entries, list):
        raise UsageError(f"{file} is no list of checks")
    for number, entry in enumerate(entries):
        check = _check(scenario, entry)
        if check is None:
            raise UsageError(f"{file}: entry {number} is no check of the official suite")
        if entry["status"] != _LOGGED:
            yield check


def _check(scenario: str, entry: Any) -> Check | None:
    if not isinstance(entry, dict):
        return None
    id_, status, message = entry.get("id"), entry.get("status"), entry.get("errorMessage", "")
    if not isinstance(id_, str) or status not in (*_OUTCOMES, _LOGGED):
        return None
    outcome = _OUTCOMES.get(status, Outcome.INFO)
    return Check(scenario, id_, outcome, message if isinstance(message, str) else "")


def _by_name(checks: list[Check]) -> dict[str, list[Check]]:
    found: dict[str, list[Check]] = {}
    for check in checks:
        found.setdefault(check.name, []).append(check)
    return found


def _statements(name: str, meaning: Meaning | None, same: list[Check]) -> Iterator[Statement]:
    """One piece of evidence a clause: the worst of a check that a scenario may make often."""
    outcome = worst(check.outcome for check in same)
    message = _message(same, outcome)
    for id_ in meaning.ids if meaning is not None else ():
        shown, detail = breach_of(id_, outcome), message
        if outcome in _BROKEN and meaning is not None and not meaning.breaks:
            shown = Outcome.NOT_OBSERVED
            detail = f"the check failed, which may have other causes: {message}"
        yield Statement(
            id_, Evidence(EvidenceKind.OFFICIAL, shown, same[0].name, name, detail=detail)
        )


def _problems(
    name: str, meaning: Meaning | None, same: list[Check], revision: Revision
) -> Iterator[Problem]:
    check, outcome = same[0].name, worst(check.outcome for check in same)
    if meaning is None:
        message = f"the check {check} is not mapped to clauses of {revision}"
        yield Problem(ProblemKind.UNMAPPED_CHECK, name, message)
    elif outcome in _BROKEN and not (meaning.ids and meaning.breaks):
        message = f"{check} failed, which breaks no clause by itself: {_message(same, outcome)}"
        yield Problem(ProblemKind.UNTIED_FAILURE, name, message)


def _message(same: list[Check], outcome: Outcome) -> str:
    return next((check.message for check in same if check.outcome is outcome), "")
