"""The official suite, installed by `make official-suite`."""

from __future__ import annotations

import fcntl
import subprocess

import pytest

from tests.official.suite import ROOT


@pytest.fixture(scope="session")
def installed() -> None:
    """`make official-suite`, once, though several test processes may ask for it."""
    (ROOT / ".cache").mkdir(exist_ok=True)
    with (ROOT / ".cache" / "official.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", "official-suite"], cwd=ROOT, check=True, timeout=600)
