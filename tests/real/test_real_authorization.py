"""The reference client with the authorization server of other people's software."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.real.conftest import ROOT, python_server, running

CLAUSEWISE = str(ROOT / ".venv" / "bin" / "clausewise")
OPEN = python_server("fastmcp", "fastmcp_server.py", "streamable-http")
PROTECTED = replace(OPEN, command=(*OPEN.command, "--auth"))
SCRIPT = """
[[step]]
do = "call"
tool = "units"
expect = { "/result/structuredContent/result" = ["foot", "metre", "mile"] }
"""


def drive(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [CLAUSEWISE, "reference", "client", "--format", "jsonl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_client_registers_authorizes_and_is_served(era: str, tmp_path: Path) -> None:
    script, trace = tmp_path / "script.toml", tmp_path / "trace.jsonl"
    script.write_text(SCRIPT)
    with running(PROTECTED) as target:
        shut_out = drive(*target, "--era", era)
        played = drive(
            *target, "--era", era, "--oauth", "--script", str(script), "--save-trace", str(trace)
        )
    assert (shut_out.returncode, "401" in shut_out.stderr) == (3, True), shut_out.stderr
    assert played.returncode == 0, played.stdout + played.stderr
    assert all(json.loads(line)["ok"] for line in played.stdout.splitlines())
    heads = [json.loads(line) for line in trace.read_text().splitlines()]
    sent = [one["headers"].get("authorization") for one in heads if "method" in one]
    assert set(sent) == {None, "[redacted]"}
