"""The reference client with servers that nobody here wrote: served everywhere, and blameless."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import ROOT, SERVERS, RealServer, running

CLAUSEWISE = (sys.executable, "-m", "clausewise")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLAUSEWISE, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def judged(trace: Path) -> dict[str, Any]:
    completed = run("validate", str(trace), "--party", "client", "--format", "json")
    assert completed.stdout, completed.stderr
    result: dict[str, Any] = json.loads(completed.stdout)
    return result


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("era", ["auto", "legacy", "modern"])
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.id)
def test_a_real_server_serves_the_client_which_keeps_every_clause(
    server: RealServer, era: str, tmp_path: Path
) -> None:
    if server.name == "everything" and era == "modern":
        pytest.skip("this server speaks no modern version")
    trace = tmp_path / "session.jsonl"
    with running(server) as target:
        completed = run(
            "reference",
            "client",
            "--era",
            era,
            "--format",
            "jsonl",
            "--timeout",
            "30",
            "--save-trace",
            str(trace),
            *target,
        )
    steps = [json.loads(line) for line in completed.stdout.splitlines()]
    failed = [(step["values"], step["complaints"]) for step in steps if not step["ok"]]
    assert (completed.returncode, failed) == (0, []), completed.stderr
    assert {"list", "call", "read", "get"} <= {step["do"] for step in steps}
    result = judged(trace)
    broken = {
        verdict["id"]: verdict["findings"]
        for verdict in result["results"]
        if verdict["outcome"] in ("fail", "warn", "info", "crashed")
    }
    assert broken == {}
    if "2025-11-25" in result["revisions"]:
        assert "pass" in {verdict["outcome"] for verdict in result["results"]}
