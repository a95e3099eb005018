"""Servers that nobody here wrote: every finding about them is reviewed, and no other is made."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import SERVERS, RealServer, run_check, running

REVIEWED = tomllib.loads((Path(__file__).parent / "reviewed.toml").read_text(encoding="utf-8"))
FINDINGS = ("fail", "warn", "info", "crashed")


def found(result: dict[str, Any]) -> dict[tuple[str, str], list[str]]:
    """Messages of all findings, by (rule or clause id, outcome)."""
    return {
        (verdict["id"], verdict["outcome"]): [f["message"] for f in verdict["findings"]]
        for verdict in result["results"]
        if verdict["outcome"] in FINDINGS
    }


def reviewed(server: RealServer) -> set[tuple[str, str]]:
    return {
        (entry["id"], entry["outcome"])
        for entry in REVIEWED["finding"]
        if server.id in entry["servers"]
    }


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.id)
def test_a_real_server_gives_exactly_the_reviewed_findings(server: RealServer) -> None:
    with running(server) as target:
        completed = run_check(["--format", "json", *target])
    assert completed.returncode in (0, 1), completed.stderr
    result = json.loads(completed.stdout)
    unexpected = {key: text for key, text in found(result).items() if key not in reviewed(server)}
    stale = reviewed(server) - found(result).keys()
    assert (unexpected, stale) == ({}, set())


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.id)
def test_a_real_server_is_judged_in_its_eras(server: RealServer) -> None:
    with running(server) as target:
        result = json.loads(run_check(["--format", "json", *target]).stdout)
    legacy_only = server.name == "everything"
    assert result["era"] == ("legacy" if legacy_only else "dual")
    passed = {v["kind"] for v in result["results"] if v["outcome"] == "pass"}
    assert passed == ({"clause"} if legacy_only else {"clause", "rule"})


def test_every_reviewed_finding_names_servers_and_a_reason() -> None:
    known = {server.id for server in SERVERS}
    for entry in REVIEWED["finding"]:
        assert set(entry["servers"]) <= known
        assert len(entry["reason"]) > 40
