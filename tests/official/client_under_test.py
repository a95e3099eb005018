"""The reference client as the official suite starts it: told of the scenario by variables.

    client_under_test.py FOLDER URL

It plays what the scenario needs through the public command, and keeps in FOLDER the recording and
the exit code of each scenario.
"""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

SCRIPTS = Path(__file__).parent / "client_scripts"
_DOCUMENT = "https://conformance-test.local/client-metadata.json"
_ECHO = "json_schema_echo"
_AT_ONCE = 1 + (os.cpu_count() or 1)
_PATIENCE_S = "60"
_ERAS = {"2025-11-25": "legacy", "2026-07-28": "modern"}


Call = Mapping[str, Any]
"""A call of a tool: its name and arguments."""


@dataclass(frozen=True)
class Plan:
    """How to play a scenario: the name of a script, and options beside it."""

    script: str
    options: tuple[str, ...] = ()


PLANS: Mapping[str, Plan] = {
    "initialize": Plan("ping"),
    "tools_call": Plan("add_numbers"),
    "elicitation-sep1034-client-defaults": Plan("elicitation_defaults"),
    "sse-retry": Plan("reconnection"),
    "request-metadata": Plan("request_metadata"),
    "sep-2322-client-request-state": Plan("request_state"),
    "http-standard-headers": Plan("standard_headers"),
    "http-invalid-tool-headers": Plan("invalid_tool_headers"),
    "json-schema-ref-no-deref": Plan("network_reference"),
    "json-schema-2020-12-preservation": Plan("list_tools"),
    "auth/basic-cimd": Plan("test_tool", ("--oauth", "--client-metadata-url", _DOCUMENT)),
    "auth/client-credentials-basic": Plan("test_tool", ("--oauth", "--own-behalf")),
    "auth/client-credentials-jwt": Plan("test_tool", ("--oauth", "--own-behalf")),
}
_PROTECTED = Plan("test_tool", ("--oauth",))


def main(folder: Path, url: str, environ: Mapping[str, str]) -> int:
    """Play the scenario; the exit code is that of the client."""
    scenario = environ["MCP_CONFORMANCE_SCENARIO"]
    context = json.loads(environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    plan = PLANS.get(scenario, _PROTECTED)
    kept = folder / scenario
    kept.parent.mkdir(parents=True, exist_ok=True)
    client = [sys.executable, "-m", "clausewise", "reference", "client", url]
    client += [
        "--timeout",
        _PATIENCE_S,
        "--era",
        _ERAS[environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]],
    ]
    script = SCRIPTS / f"{plan.script}.toml"
    if scenario == "json-schema-2020-12-preservation":
        script = _written(kept, [_schema_returned(client, script)])
    elif "toolCalls" in context:
        script = _written(kept, context["toolCalls"])
    recording = ["--script", str(script), "--save-trace", f"{kept}.jsonl"]
    identity = [*_identity(context, kept)]
    with _turn(folder, scenario):
        completed = subprocess.run([*client, *recording, *plan.options, *identity], check=False)
    kept.with_name(f"{kept.name}.exit").write_text(str(completed.returncode))
    return completed.returncode


@contextmanager
def _turn(folder: Path, scenario: str) -> Iterator[None]:
    """Wait until few other clients run: the suite starts all scenarios at once."""
    place = crc32(scenario.encode()) % _AT_ONCE
    with (folder / f"turn-{place}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _schema_returned(client: list[str], script: Path) -> Call:
    """The call that hands a tool's input schema back as the client has read it."""
    listing = [*client, "--script", str(script), "--format", "jsonl"]
    done = subprocess.run(listing, stdout=subprocess.PIPE, check=True)
    tools = json.loads(done.stdout.splitlines()[0])["outcome"]["result"]["tools"]
    schema = next(tool["inputSchema"] for tool in tools if tool["name"] != _ECHO)
    return {"name": _ECHO, "arguments": {"schema": schema}}


def _written(kept: Path, calls: list[Call]) -> Path:
    """A script that lists the tools and makes `calls`, kept beside the recording."""
    script = kept.with_name(f"{kept.name}.toml")
    script.write_text("\n".join(_steps(calls)), encoding="utf-8")
    return script


def _steps(calls: list[Call]) -> Iterator[str]:
    yield '[[step]]\ndo = "list"\nwhat = "tools"\n'
    for call in calls:
        # Arguments may hold null, which TOML lacks, so they are given as JSON text.
        arguments = _quoted(json.dumps(call["arguments"]))
        yield f'[[step]]\ndo = "call"\ntool = {_quoted(call["name"])}\narguments = {arguments}\n'


def _quoted(text: str) -> str:
    """A basic string of TOML: those of JSON are."""
    return json.dumps(text)


def _identity(context: Mapping[str, Any], kept: Path) -> Iterator[str]:
    """Who the client is, where the suite has registered it."""
    if "client_id" not in context:
        return
    yield from ("--client-id", context["client_id"])
    if "client_secret" in context:
        yield from ("--client-secret", context["client_secret"])
    if "issuer" in context:
        yield from ("--issuer", context["issuer"])
    if "private_key_pem" in context:
        key = kept.with_name(f"{kept.name}.pem")
        key.write_text(context["private_key_pem"])
        yield from ("--client-key", str(key))
        yield from ("--client-key-algorithm", context["signing_algorithm"])


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], os.environ))
