"""The client leg: the official suite as the servers of the reference client."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from tests.official.suite import SuiteRun, run_suite

_ADAPTER = Path(__file__).parent / "client_under_test.py"
_SCENARIO_WITHIN_MS = 240_000
"""The suite starts all scenarios at once, so that each has to wait for its share of the machine."""


def run_client_leg(revision: str, folder: Path, results: Path | None = None) -> SuiteRun:
    """The suite's client scenarios of `revision` with the reference client.

    `folder` gets the recording of each scenario (`recordings`) and the client's exit code;
    `results` is where the suite's own output is to stay.
    """
    command = shlex.join([sys.executable, str(_ADAPTER), str(folder)])
    arguments = ["--command", command, "--timeout", str(_SCENARIO_WITHIN_MS)]
    return run_suite("client", revision, arguments, results)


def recordings(folder: Path) -> dict[str, Path]:
    """The recordings of a leg by scenario."""
    found = sorted(folder.rglob("*.jsonl"))
    return {str(file.relative_to(folder).with_suffix("")): file for file in found}


def exit_codes(folder: Path) -> dict[str, int]:
    """The client's exit codes by scenario."""
    found = sorted(folder.rglob("*.exit"))
    return {str(f.relative_to(folder).with_suffix("")): int(f.read_text()) for f in found}
