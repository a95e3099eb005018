"""Clients and servers that nobody here wrote, recorded together: each finding is reviewed."""

from __future__ import annotations

import json
import signal
import subprocess
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real.conftest import REAL, ROOT, SERVERS, RealServer, running

WITHIN_S = 60
CLAUSEWISE = str(ROOT / ".venv" / "bin" / "clausewise")
CLIENTS = ROOT / ".cache" / "real-clients"
INSPECTOR = CLIENTS / "node_modules" / "@modelcontextprotocol" / "inspector-cli" / "build"
REVIEWED = tomllib.loads(
    (Path(__file__).parent / "reviewed_sessions.toml").read_text(encoding="utf-8")
)["finding"]
FINDINGS = ("fail", "warn", "info", "crashed")
LEAST_PASSES = 20

# On the everything server a call that lasts until it has asked the client for its roots.
TOOLS = {
    "python-sdk": ("find_book", '{"key": "emma"}'),
    "everything": ("trigger-long-running-operation", '{"duration": 0.8, "steps": 2}'),
}
INSPECTIONS: dict[str, list[tuple[str, int]]] = {
    "python-sdk": [
        ("tools/call --tool-name find_book --tool-arg key=emma", 0),
        ("resources/read --uri library://catalogue", 0),
    ],
    "everything": [
        ("tools/call --tool-name echo --tool-arg message=emma", 0),
        # A level that the inspector offers and the protocol does not have.
        ("logging/setLevel --log-level warn", 1),
    ],
}


@dataclass(frozen=True)
class Run:
    """One run of a client: its command, where it runs, the exit code due, a text it prints."""

    command: Sequence[str]
    cwd: Path
    code: int
    prints: str


Client = Callable[[str, Sequence[str]], list[Run]]
"""Gives the runs against a server, by its name and by what the client is told to connect to."""


def python_sdk(mode: str) -> Client:
    script = ROOT / "examples" / "clients" / "python_sdk_client.py"

    def runs(server: str, target: Sequence[str]) -> list[Run]:
        tool, arguments = TOOLS[server]
        options = ("--mode", mode, "--tool", tool, "--arguments", arguments)
        python = str(REAL / "python-sdk" / "bin" / "python")
        return [Run((python, str(script), *options, "--", *target), ROOT, 0, '"called": true')]

    return runs


def typescript_sdk(server: str, target: Sequence[str]) -> list[Run]:
    script = str(CLIENTS / "typescript_sdk_client.mjs")
    return [Run(("node", script, *TOOLS[server], *target), ROOT, 0, '"called":true')]


def inspector(server: str, target: Sequence[str]) -> list[Run]:
    # It looks for its own package.json from the current directory on.
    return [
        Run(
            ("node", "cli.js", "--cli", *target, "--method", *method.split()),
            INSPECTOR,
            code,
            "Invalid option" if code else '"content',
        )
        for method, code in INSPECTIONS[server]
    ]


@dataclass(frozen=True)
class Session:
    """A client and a server on one transport."""

    client_name: str
    client: Client
    server: RealServer

    @property
    def id(self) -> str:
        return f"{self.client_name}-with-{self.server.id}"

    @property
    def is_modern(self) -> bool:
        """Whether the pair agrees on 2026-07-28, which recordings are not judged by."""
        return self.client_name == "python-sdk-auto" and self.server.name == "python-sdk"


SESSIONS = [
    Session(name, client, server)
    for name, client in (
        ("python-sdk-legacy", python_sdk("legacy")),
        ("python-sdk-auto", python_sdk("auto")),
        ("typescript-sdk", typescript_sdk),
        ("inspector", inspector),
    )
    for server in SERVERS
    if server.name in TOOLS
]


@contextmanager
def recorder(server: RealServer, trace: Path) -> Iterator[list[str]]:
    """What a client connects to in place of the server, to be recorded in `trace`."""
    record = [CLAUSEWISE, "record", "-o", str(trace)]
    with running(server) as target:
        if server.transport == "stdio":
            yield [*record, *target]
            return
        with subprocess.Popen(
            [*record, "--upstream", *target], stdout=subprocess.PIPE, text=True
        ) as proxy:
            try:
                assert proxy.stdout is not None
                yield [proxy.stdout.readline().strip()]
                proxy.send_signal(signal.SIGINT)
                assert proxy.wait(WITHIN_S) == 0
            finally:
                proxy.kill()


def record(session: Session, folder: Path) -> None:
    """Record every run of the client; each must go as it would without the recorder."""
    with recorder(session.server, folder / "s.jsonl") as target:
        for run in session.client(session.server.name, target):
            done = subprocess.run(
                run.command,
                cwd=run.cwd,
                capture_output=True,
                text=True,
                timeout=WITHIN_S,
                check=False,
            )
            assert done.returncode == run.code, done.stderr
            assert run.prints in done.stdout + done.stderr


def validated(folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [CLAUSEWISE, "validate", str(folder), "--format", "json", "--fail-on", "never"],
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=False,
    )
    # 3: there was nothing to judge, which the result says, too.
    assert done.returncode in (0, 3), done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def found(result: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    """A message of the finding, by (clause id, outcome, party)."""
    return {
        (verdict["id"], verdict["outcome"], finding["party"]): finding["message"]
        for verdict in result["results"]
        if verdict["outcome"] in FINDINGS
        for finding in verdict["findings"]
    }


def reviewed(session: Session) -> set[tuple[str, str, str]]:
    return {
        (entry["id"], entry["outcome"], entry["party"])
        for entry in REVIEWED
        if session.id in entry["sessions"]
    }


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("session", SESSIONS, ids=lambda session: session.id)
def test_a_recorded_session_gives_exactly_the_reviewed_findings(
    session: Session, tmp_path: Path
) -> None:
    record(session, tmp_path)
    result = validated(tmp_path)
    unexpected = {key: text for key, text in found(result).items() if key not in reviewed(session)}
    stale = reviewed(session) - found(result).keys()
    assert (unexpected, stale) == ({}, set())
    passes = sum(verdict["outcome"] == "pass" for verdict in result["results"])
    if session.is_modern:
        assert (result["revisions"], passes) == (["2026-07-28"], 0)
    else:
        assert "2025-11-25" in result["revisions"]
        assert passes >= LEAST_PASSES


def test_every_reviewed_finding_names_sessions_and_a_reason() -> None:
    known = {session.id for session in SESSIONS}
    for entry in REVIEWED:
        assert set(entry["sessions"]) <= known
        assert len(entry["reason"]) > 40
