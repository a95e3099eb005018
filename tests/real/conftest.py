"""Real servers and clients, installed by `make real-servers real-clients` once a test run."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT / ".cache" / "real-servers"
START_WITHIN_S = 60.0


@dataclass(frozen=True)
class RealServer:
    """One server on one transport: how to start it, and the line that says it listens."""

    name: str
    transport: str
    command: tuple[str, ...]
    listening: str = ""
    env: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return f"{self.name}-{self.transport}"


def python_server(name: str, script: str, transport: str) -> RealServer:
    command = (str(REAL / name / "bin" / "python"), str(ROOT / "examples" / "servers" / script))
    if transport == "stdio":
        return RealServer(name, transport, command)
    return RealServer(name, transport, (*command, "--http", "127.0.0.1:{port}"), "Uvicorn running")


def features_server(transport: str) -> RealServer:
    """The Python SDK again, with a tool for each of its features."""
    server = python_server("python-sdk", "python_sdk_features.py", transport)
    return replace(server, name="python-sdk-features")


def everything_server(transport: str) -> RealServer:
    package = "node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    command = ("node", str(REAL / "everything" / package))
    if transport == "stdio":
        return RealServer("everything", transport, (*command, "stdio"))
    return RealServer(
        "everything",
        transport,
        (*command, "streamableHttp"),
        "listening on port",
        {"PORT": "{port}"},
    )


SERVERS = [
    server(transport)
    for server in (
        lambda transport: python_server("python-sdk", "python_sdk_server.py", transport),
        lambda transport: python_server("fastmcp", "fastmcp_server.py", transport),
        features_server,
        everything_server,
    )
    for transport in ("stdio", "streamable-http")
]


@pytest.fixture(scope="session")
def installed() -> None:
    """`make real-servers real-clients`, once, though several test processes may ask for it."""
    (ROOT / ".cache").mkdir(exist_ok=True)
    with (ROOT / ".cache" / "real-servers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(
            ["make", "-s", "real-servers", "real-clients"], cwd=ROOT, check=True, timeout=600
        )


@contextmanager
def running(server: RealServer) -> Iterator[list[str]]:
    """The arguments that name the server to `clausewise check`, while it runs."""
    if server.transport == "stdio":
        yield ["--", *server.command]
        return
    port = str(free_port())
    command = [part.format(port=port) for part in server.command]
    env = os.environ | {key: value.format(port=port) for key, value in server.env.items()}
    with subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            _wait_until_listening(process, server.listening)
            yield [f"http://127.0.0.1:{port}/mcp"]
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_listening(process: subprocess.Popen[str], sign: str) -> None:
    listening = threading.Event()
    said: list[str] = []

    def read() -> None:
        for line in process.stdout or ():
            said.append(line)
            if sign in line:
                listening.set()

    threading.Thread(target=read, daemon=True).start()
    if not listening.wait(START_WITHIN_S):
        raise AssertionError(f"no {sign!r} within {START_WITHIN_S:.0f} s; it said: {said}")


def run_check(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / ".venv" / "bin" / "clausewise"), "check", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
