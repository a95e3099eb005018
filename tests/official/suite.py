"""The official conformance suite: how to run a leg of it, and what came of each scenario."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

ROOT = Path(__file__).resolve().parents[2]
EXPECTED_FAILURES = Path(__file__).parent / "expected-failures.yaml"

Leg = Literal["server", "client"]
"""Whose conformance is tested."""

_MODULES = ROOT / ".cache" / "official" / "node_modules"
SOURCE = _MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
_COMMAND = (str(_MODULES / "node" / "bin" / "node"), str(SOURCE))
_RUN_WITHIN_S = 300.0
_RESULT_FOLDER = re.compile(r"(?:server-)?(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario as it went.

    Attributes:
        required: whether the revision requires it; others are run and told.
        checks: how many checks have each status, of SUCCESS, FAILURE, WARNING, SKIPPED, INFO.
        complaints: id and message of each check that failed or warned.
        failures: the ids of the checks that failed.
    """

    name: str
    required: bool
    checks: Counter[str]
    complaints: tuple[str, ...]
    failures: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether something was shown to hold and nothing to fail.

        The suite counts a scenario without any check as passed; here that is no pass.
        """
        return self.checks["SUCCESS"] > 0 and self.checks["FAILURE"] == 0


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """A leg of the suite at one revision: what it said, and every scenario in its order.

    `seconds` is how long the suite itself took.
    """

    leg: Leg
    revision: str
    exit_code: int
    output: str
    scenarios: tuple[Scenario, ...]
    seconds: float = 0.0

    @property
    def required(self) -> tuple[Scenario, ...]:
        return tuple(scenario for scenario in self.scenarios if scenario.required)

    @property
    def passed(self) -> bool:
        """Whether the suite agrees that the revision's requirements are met, and they are."""
        return self.exit_code == 0 and all(scenario.passed for scenario in self.required)


def run_suite(
    leg: Leg, revision: str, arguments: Sequence[str], results: Path | None = None
) -> SuiteRun:
    """Run what `revision` requires of one side; `arguments` name the implementation.

    `results` is where the suite's own output is to stay.

    Raises:
        CalledProcessError: the suite does not know the revision.
        TimeoutExpired: it did not end in time.
    """
    with TemporaryDirectory(prefix="official-") as temporary:
        folder = str(results or temporary)
        began = time.monotonic()
        completed = _run(
            leg,
            *("--requirements", revision),
            *("--expected-failures", str(EXPECTED_FAILURES)),
            *("--output-dir", folder),
            *arguments,
        )
        seconds = time.monotonic() - began
        found = dict(_results(Path(folder)))
    required = required_scenarios(leg, revision)
    names = [*required, *(name for name in sorted(found) if name not in required)]
    scenarios = tuple(_scenario(name, name in required, found.get(name, [])) for name in names)
    return SuiteRun(leg, revision, completed.returncode, completed.stdout, scenarios, seconds)


def required_scenarios(leg: Leg, revision: str) -> tuple[str, ...]:
    """The names of the scenarios that `revision` requires of one side, in the suite's order.

    Raises:
        CalledProcessError: the suite does not know the revision.
    """
    listed = _run("list", "--requirements", revision)
    listed.check_returncode()
    _, heading, section = listed.stdout.partition(f"{leg.capitalize()} scenarios (")
    if not heading:
        raise ValueError(f"the suite lists no {leg} scenarios of {revision}:\n{listed.stdout}")
    lines = section.split("\n\n")[0].splitlines()
    return tuple(line.strip()[2:] for line in lines if line.strip().startswith("- "))


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*_COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_RUN_WITHIN_S,
        check=False,
    )


def _results(folder: Path) -> Iterator[tuple[str, list[dict[str, object]]]]:
    """The checks of each scenario that was run, from the files that the suite wrote."""
    for file in folder.rglob("checks.json"):
        match = _RESULT_FOLDER.fullmatch(str(file.parent.relative_to(folder)))
        if match is None:
            raise ValueError(f"{file.parent} is not named as results of the suite are")
        yield match["scenario"], json.loads(file.read_text(encoding="utf-8"))


def _scenario(name: str, required: bool, checks: list[dict[str, object]]) -> Scenario:
    complaints = tuple(
        f"{check['id']}: {check.get('errorMessage')}"
        for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    )
    counts = Counter(str(check["status"]) for check in checks)
    failed = dict.fromkeys(str(check["id"]) for check in checks if check["status"] == "FAILURE")
    return Scenario(name, required, counts, complaints, tuple(failed))
