"""The use case `check` with probes that are made up: slips of ours, secrets, time."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from clausewise.app import check
from clausewise.app.check import CheckOptions, run
from clausewise.app.selection import Selection
from clausewise.core.errors import TargetError
from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.vocabulary import Direction, Era, Outcome, Revision, TransportKind
from clausewise.probe.run import ProbeOptions, ProbeRun, Progress
from clausewise.trace.tape import Tape, Track
from clausewise.transport.http import HttpTarget
from clausewise.transport.stdio import StdioTarget

UP, DOWN = Direction.CLIENT_TO_SERVER, Direction.SERVER_TO_CLIENT
SESSION: list[tuple[Direction, dict[str, Any]]] = [
    (UP, {"id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"}}}),
    (DOWN, {"id": 1, "result": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "serverInfo": {"name": "s", "version": "1"}}}),
    (UP, {"method": "notifications/initialized"}),
    (UP, {"id": 2, "method": "ping"}),
    (DOWN, {"id": 2, "result": {}}),
    (UP, {"id": 2, "method": "ping"}),
    (DOWN, {"id": 2, "result": {}}),
]  # fmt: skip
"""A legacy session in which the client uses the id 2 twice (BASE-003)."""

_REUSE = 5
TARGET = StdioTarget(("server",))
Probes = Callable[[Any, ProbeOptions, Tape, Callable[[Progress], None]], Any]


def probing(
    monkeypatch: pytest.MonkeyPatch, injected: str | None = None, *verdicts: Verdict
) -> None:
    """Make the probes record SESSION and find `verdicts`."""

    async def probes(
        _target: Any, _options: ProbeOptions, tape: Tape, _progress: Callable[[Progress], None]
    ) -> ProbeRun:
        for number, (direction, payload) in enumerate(SESSION):
            fault = injected if number == _REUSE else None
            track = Track(TransportKind.STDIO, session="s", injected=fault)
            tape.message(track, direction, json.dumps({"jsonrpc": "2.0", **payload}).encode())
        return ProbeRun(Era.LEGACY, (Revision.LEGACY,), None, verdicts)

    monkeypatch.setattr(check, "run_probes", probes)


def by_id(result: RunResult) -> dict[str, Verdict]:
    return {verdict.id: verdict for verdict in result.verdicts}


def test_a_slip_of_our_own_traffic_is_a_crash_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    probing(monkeypatch)
    slipped = by_id(run(TARGET, CheckOptions()))["BASE-003"]
    assert slipped.outcome is Outcome.CRASHED
    assert slipped.reason is not None
    assert slipped.reason.startswith("Clausewise broke the clause itself at seq 5: ")
    assert slipped.findings == ()


def test_a_deliberate_fault_is_no_slip(monkeypatch: pytest.MonkeyPatch) -> None:
    probing(monkeypatch, "an id used again")
    verdicts = run(TARGET, CheckOptions()).verdicts
    assert verdicts
    assert Outcome.CRASHED not in {verdict.outcome for verdict in verdicts}


def test_the_result_hides_secrets_in_findings_reasons_and_commands(
    monkeypatch: pytest.MonkeyPatch,
    verdict: Callable[..., Verdict],
    finding: Callable[..., Finding],
) -> None:
    secret = "abcdef-secret"
    told = finding(f"echoed {secret}")
    probing(
        monkeypatch, "x",
        verdict("MCP-ERR-001", Outcome.FAIL, told),
        verdict(f"MCP-{secret}", Outcome.INCONCLUSIVE),
    )  # fmt: skip
    target = HttpTarget(
        f"http://127.0.0.1:1/mcp?key={secret}x", (("Authorization", f"Bearer {secret}"),)
    )
    result = run(target, CheckOptions())
    found = by_id(result)
    assert found["MCP-ERR-001"].findings[0].message == "echoed [redacted]"
    assert found[f"MCP-{secret}"].reason == "why MCP-[redacted]"
    assert result.target.name == "http://127.0.0.1:1/mcp"


def test_the_saved_trace_holds_no_secret_but_every_event(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(SESSION[4][1], "result", {"echo": 'say "my-secret"'})
    probing(monkeypatch)
    path = tmp_path / "t.jsonl"
    target = StdioTarget(("server",), None, {"KEY": 'say "my-secret"'})
    run(target, CheckOptions(save_trace=path))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 1 + len(SESSION)
    assert lines[5]["payload"]["result"] == {"echo": "[redacted]"}


def test_findings_name_the_saved_trace(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(SESSION[4][1], "error", {"code": 1, "message": "both"})
    probing(monkeypatch, "x")
    path = tmp_path / "t.jsonl"
    result = run(TARGET, CheckOptions(save_trace=path))
    places = {f.at.trace for v in result.verdicts for f in v.findings if f.at}
    assert places == {str(path)}


def test_the_selection_leaves_out_rules_and_clauses(
    monkeypatch: pytest.MonkeyPatch, verdict: Callable[..., Verdict]
) -> None:
    probing(monkeypatch, "x", verdict("MCP-ERR-001", Outcome.PASS))
    selection = Selection.of(["BASE-001"])
    assert list(by_id(run(TARGET, CheckOptions(selection)))) == ["BASE-001"]


def test_a_target_that_never_comes_to_an_end_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forever(*_: Any) -> ProbeRun:
        await anyio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(check, "run_probes", forever)
    monkeypatch.setattr(check, "_GRACE_S", 0.01)
    with pytest.raises(TargetError, match="did not end within") as caught:
        run(TARGET, CheckOptions(max_time_s=0.01))
    assert "--max-time" in caught.value.hint


def test_errors_of_the_probes_hide_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(*_: Any) -> ProbeRun:
        raise TargetError("no abcdef-secret", "try abcdef-secret")

    monkeypatch.setattr(check, "run_probes", fails)
    with pytest.raises(TargetError) as caught:
        run(StdioTarget(("server",), None, {"KEY": "abcdef-secret"}), CheckOptions())
    assert (caught.value.message, caught.value.hint) == ("no [redacted]", "try [redacted]")
