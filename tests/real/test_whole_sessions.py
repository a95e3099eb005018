"""Official SDK clients have whole sessions with the reference server, in both eras, recorded.

What they do is in `sdk_sessions`; each finding about a recording is reviewed.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from clausewise.core.vocabulary import Outcome, Revision
from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.features.content import Content
from tests.official.message_shapes import answers
from tests.official.recorded_rules import judged, recorded_traffic
from tests.real.conftest import REAL, ROOT, RealServer
from tests.real.test_real_clients import (
    CLAUSEWISE,
    CLIENTS,
    INSPECTOR,
    WITHIN_S,
    found,
    recorder,
    validated,
)

LEGACY, MODERN = Revision.LEGACY.value, Revision.MODERN.value
REVIEWED = tomllib.loads(
    (Path(__file__).parent / "reviewed_whole_sessions.toml").read_text(encoding="utf-8")
)["finding"]
COMMAND = (CLAUSEWISE, "reference", "server", "--logging")
SERVERS = (
    RealServer("reference", "stdio", (*COMMAND, "--stdio")),
    RealServer("reference", "streamable-http", (*COMMAND, "--http", "127.0.0.1:{port}"), "/mcp"),
)
OFFERED = Content(ChangeFeed())
DONE: dict[str, Any] = {
    "tools": len(OFFERED.tools),
    "resources": len(OFFERED.resources),
    "templates": len(OFFERED.templates),
    "prompts": len(OFFERED.prompts),
    "echo": "hé",
    "all_content": "One block of every kind.",
    "add": '{"sum": 3}',
    "fail": "error",
    "count_slowly": "Counted to 3.",
    "greet_user": "Hello, Ada!",
    "query_region": "'q' in öst: 0 of at most 5 rows",
    "answer_later": "The answer came after the connection was closed.",
    "collect_profile": "Collected name.",
    "visit_page": "The page was visited.",
    "ask_model": "m answered: So.",
    "ask_model_with_tools": "m answered: So.",
    "list_roots": '["file:///home/ada"]',
    "log_every_level": "Logged 8 messages, of which you get those you want.",
    "welcome": "Welcome to the reference server.",
    "diary": "Nothing happened today.",
    "greet": 1,
    "tell_story": 2,
    "languages": ["german", "greek"],
    "sections": ["messages", "metadata"],
    "unknown tool": -32602,
    # The messages of level warning and above.
    "logged": 5,
}
"""What came of what every client does."""

TASKS = {
    "report": "Whales: a report of 2 chapters.",
    "get": "working",
    "cancel": "cancelled",
    "list": ["completed", "completed", "cancelled"],
}
INSPECTIONS = (
    ("tools/list", '"count_slowly"'),
    ("tools/call --tool-name echo --tool-arg text=emma", '"emma"'),
    ("tools/call --tool-name all_content", '"resource_link"'),
    ("tools/call --tool-name add --tool-arg a=1 --tool-arg b=2", '"structuredContent"'),
    ("tools/call --tool-name fail", '"isError": true'),
    ("tools/call --tool-name count_slowly", "Counted to 3."),
    ("tools/call --tool-name answer_later", "after the connection was closed"),
    ("resources/list", "reference://texts/welcome"),
    ("resources/templates/list", "reference://notes/{topic}"),
    ("resources/read --uri reference://images/pixel", '"blob"'),
    ("prompts/list", '"greet"'),
    ("prompts/get --prompt-name greet --prompt-args name=Emma", "Greet Emma"),
    ("logging/setLevel --log-level error", "{}"),
)
"""Methods that the inspector asks for, each in a session of its own, and what it then prints."""


@dataclass(frozen=True)
class Client:
    """An official client: the command for a session with a target, and the revision it speaks."""

    name: str
    command: Callable[[Sequence[str]], Sequence[str]]
    revision: str


def python_sdk(mode: str) -> Callable[[Sequence[str]], Sequence[str]]:
    script = ROOT / "tests" / "real" / "sdk_sessions" / "python_sdk.py"
    python = str(REAL / "python-sdk" / "bin" / "python")
    return lambda target: (python, str(script), mode, *target)


def node(script: str, *options: str) -> Callable[[Sequence[str]], Sequence[str]]:
    return lambda target: ("node", str(CLIENTS / script), *options, *target)


SDK_CLIENTS = (
    Client("python-sdk-legacy", python_sdk("legacy"), LEGACY),
    Client("python-sdk-auto", python_sdk("auto"), MODERN),
    Client("typescript-client-legacy", node("typescript_client.mjs", "legacy"), LEGACY),
    Client("typescript-client-auto", node("typescript_client.mjs", "auto"), MODERN),
    Client("typescript-sdk", node("typescript_sdk.mjs"), LEGACY),
)
SESSIONS = [
    *(f"{client.name}-with-{server.id}" for client in SDK_CLIENTS for server in SERVERS),
    *(f"inspector-with-{server.id}" for server in SERVERS),
]


def run(command: Sequence[str], cwd: Path = ROOT) -> str:
    """What a client prints that must end well."""
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=WITHIN_S, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def disagreements(session: str, folder: Path) -> tuple[object, object]:
    """The findings about a recorded legacy session that are not reviewed, and the stale reviews."""
    seen = found(validated(folder))
    listed = {
        (entry["id"], entry["outcome"], entry["party"])
        for entry in REVIEWED
        if session in entry["sessions"]
    }
    return {key: text for key, text in seen.items() if key not in listed}, listed - seen.keys()


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.id)
@pytest.mark.parametrize("client", SDK_CLIENTS, ids=lambda client: client.name)
def test_an_official_client_has_a_whole_session(
    client: Client, server: RealServer, tmp_path: Path
) -> None:
    with recorder(server, tmp_path / "s.jsonl") as target:
        did = json.loads(run(client.command(target)))
    assert {name: did[name] for name in DONE} == DONE
    assert did.get("revision", LEGACY) == client.revision
    # Version 1 of the TypeScript SDK drops a progress notification that comes with the response.
    assert did["progress"][:1] == [1]
    assert len(did.get("events", did["changes"])) == 4
    if client.name == "typescript-sdk":
        assert did["tasks"] == TASKS
        assert did["counted"][-2:] == ["completed", "Counted to 3."]
    if client.revision == LEGACY:
        assert disagreements(f"{client.name}-with-{server.id}", tmp_path) == ({}, set())
    else:
        # Version 2 of the TypeScript SDK starts a server of its own just to ask for its versions.
        faults = [fault for trace in tmp_path.glob("*.jsonl") for _, fault in answers(trace)]
        assert ({*faults}, len(faults) > 40) == ({None}, True)
        if server.transport != "stdio":
            assert broken_rules(tmp_path / "s.jsonl") == []


def broken_rules(trace: Path) -> list[object]:
    """The rules that the server breaks in a modern session over HTTP."""
    verdicts = list(judged(recorded_traffic(trace)))
    assert sum(verdict.outcome is Outcome.PASS for verdict in verdicts) > 20
    broken = (Outcome.FAIL, Outcome.WARN, Outcome.CRASHED)
    return [(v.id, v.findings) for v in verdicts if v.outcome in broken]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.id)
def test_the_inspector_gets_everything_it_asks_for(server: RealServer, tmp_path: Path) -> None:
    with recorder(server, tmp_path / "s.jsonl") as words:
        target = words if len(words) == 1 else [as_script(words, tmp_path / "server")]
        for method, printed in INSPECTIONS:
            # It looks for its own package.json from the current directory on.
            command = ("node", "cli.js", "--cli", *target, "--method", *method.split())
            assert printed in run(command, INSPECTOR), method
    assert disagreements(f"inspector-with-{server.id}", tmp_path) == ({}, set())


def as_script(words: Sequence[str], script: Path) -> str:
    """A command without arguments, for the inspector takes a server's options for its own."""
    script.write_text(f"#!/bin/sh\nexec {shlex.join(words)}\n")
    script.chmod(0o700)
    return str(script)


def test_every_reviewed_finding_names_sessions_and_a_reason() -> None:
    for entry in REVIEWED:
        assert entry["sessions"]
        assert set(entry["sessions"]) <= set(SESSIONS)
        assert len(entry["reason"]) > 40
