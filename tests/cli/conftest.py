"""Run `clausewise` in this process, and a few small traces."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from clausewise.cli.main import main


@pytest.fixture
def clausewise(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Callable[..., CompletedProcess[str]]:
    """Runs `clausewise` in an empty folder with no setting from outside."""
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name in ("NO_COLOR", "FORCE_COLOR") or name.startswith("CLAUSEWISE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> CompletedProcess[str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        printed = capfd.readouterr()
        assert isinstance(caught.value.code, int)
        return CompletedProcess(arguments, caught.value.code, printed.out, printed.err)

    return run


def _message(seq: int, direction: str, payload: dict[str, Any]) -> str:
    event = {
        "seq": seq,
        "direction": direction,
        "transport": "stdio",
        "kind": "message",
        "payload": {"jsonrpc": "2.0", **payload},
    }
    return json.dumps(event) + "\n"


@pytest.fixture
def sound_trace(tmp_path: Path) -> Path:
    """A short session of 2025-11-25 without fault."""
    path = tmp_path / "sound.jsonl"
    path.write_text(_session(second_id=3))
    return path


@pytest.fixture
def broken_trace(tmp_path: Path) -> Path:
    """The same session, but the client uses a request id twice (BASE-003)."""
    path = tmp_path / "broken.jsonl"
    path.write_text(_session(second_id=2))
    return path


def _session(second_id: int) -> str:
    up, down = "client-to-server", "server-to-client"
    initialize = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "client", "version": "1"},
    }
    result = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "serverInfo": {"name": "server", "version": "1"},
    }
    payloads: list[tuple[str, dict[str, Any]]] = [
        (up, {"id": 1, "method": "initialize", "params": initialize}),
        (down, {"id": 1, "result": result}),
        (up, {"method": "notifications/initialized"}),
        (up, {"id": 2, "method": "ping"}),
        (down, {"id": 2, "result": {}}),
        (up, {"id": second_id, "method": "ping"}),
        (down, {"id": second_id, "result": {}}),
    ]
    return "".join(_message(seq, way, payload) for seq, (way, payload) in enumerate(payloads, 1))
