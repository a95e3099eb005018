"""Run the official conformance suite against the project's own implementations; print tables.

    python -m tests.official.run [--leg LEG …] [--revision REVISION …] [--record FOLDER]

The exit code is 0 when every required scenario passes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_args

from clausewise.core.vocabulary import Revision
from tests.official.client_leg import run_client_leg
from tests.official.server_leg import run_server_leg
from tests.official.suite import Leg, Scenario, SuiteRun

_NAME_WIDTH = 48
_STATUSES = ("SUCCESS", "FAILURE", "WARNING", "SKIPPED")


def table(run: SuiteRun) -> Iterator[str]:
    """The lines that tell how a leg went: each scenario, what failed in it, and the sum."""
    yield f"{run.leg} scenarios of {run.revision}"
    yield ""
    yield f"  {'scenario':{_NAME_WIDTH}} passed failed warned skipped"
    for scenario in run.scenarios:
        yield _row(scenario)
        yield from (f"    {complaint}" for complaint in scenario.complaints if scenario.required)
    passed = sum(scenario.passed for scenario in run.required)
    yield ""
    yield f"  {passed} of {len(run.required)} required scenarios pass"
    yield ""


def _row(scenario: Scenario) -> str:
    counts = [scenario.checks[status] for status in _STATUSES]
    mark = "" if scenario.passed else "  failed"
    if not scenario.required:
        mark = "  passed, not required" if scenario.passed else "  not required"
    cells = " ".join(f"{count:{6 + (index == 3)}}" for index, count in enumerate(counts))
    return f"  {scenario.name:{_NAME_WIDTH}} {cells}{mark}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    revisions = [revision.value for revision in Revision]
    legs: tuple[Leg, ...] = get_args(Leg)
    parser.add_argument("--leg", choices=legs, action="append", help="default: both")
    parser.add_argument("--revision", choices=revisions, action="append", help="default: all")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="keep the sessions there")
    options = parser.parse_args()
    runs = []
    for leg in options.leg or legs:
        for revision in options.revision or revisions:
            runs.append(_run(leg, revision, options.record))
            print("\n".join(table(runs[-1])), flush=True)
    return 0 if all(run.passed for run in runs) else 1


def _run(leg: Leg, revision: str, record: Path | None) -> SuiteRun:
    if leg == "server":
        return run_server_leg(revision, trace=record and record / f"server-{revision}.jsonl")
    if record is not None:
        return run_client_leg(revision, record / f"client-{revision}")
    with TemporaryDirectory(prefix="client-leg-") as folder:
        return run_client_leg(revision, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
