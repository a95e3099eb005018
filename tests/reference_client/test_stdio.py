"""What a client owes a server process, tried with processes that are difficult."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from clausewise.core.errors import TargetError
from clausewise.reference.client.run import ClientOptions, run_client
from clausewise.trace.tape import Tape
from clausewise.transport.targets import StdioTarget
from tests.reference_client.driving import AUTO, LEGACY, MODERN, complaints, drive_peer
from tests.reference_client.scripted import Json

PING = '[[step]]\ndo = "ping"\n'


def call(tool: str, more: str = "") -> str:
    return f'[[step]]\ndo = "call"\ntool = "{tool}"\n{more}'


def lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8").split("\n")[:-1]


def messages(log: Path) -> list[Json]:
    return [json.loads(line) for line in lines(log) if line.startswith("{")]


def methods(log: Path) -> list[str | None]:
    return [message.get("method") for message in messages(log)]


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32000, -32603, 1])
def test_any_error_that_is_not_modern_leads_to_initialize(code: int, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert complaints(drive_peer(f"legacy-error:{code}", PING, AUTO, log)) == []
    said = ["server/discover", "initialize", "notifications/initialized", "ping"]
    assert methods(log) == said
    assert lines(log).count("start") == 1


def test_silence_leads_to_initialize_and_nothing_is_cancelled(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert complaints(drive_peer("silent", PING, replace(AUTO, seconds=1.0), log)) == []
    said = ["server/discover", "initialize", "notifications/initialized", "ping"]
    assert methods(log) == said


def test_a_server_that_exits_when_probed_is_started_again_for_initialize(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert complaints(drive_peer("exits-on-discover", PING, AUTO, log)) == []
    assert methods(log)[:2] == ["server/discover", "initialize"]
    assert lines(log).count("start") == 2


def test_a_modern_client_probes_first_and_tells_that_the_server_is_not_modern(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    with pytest.raises(TargetError, match="does not speak 2026-07-28"):
        drive_peer("legacy-error:-32601", PING, MODERN, log)
    assert methods(log) == ["server/discover"]


# clause: BASE-003
def test_ids_are_not_used_twice_though_the_era_changes(tmp_path: Path) -> None:
    log = tmp_path / "log"
    drive_peer("legacy-error:-32601", PING, AUTO, log)
    ids = [message["id"] for message in messages(log) if "id" in message]
    assert len(ids) == len(set(ids)) == 3


# clause: TRAN-021
def test_noise_on_stderr_is_no_failure_and_blocks_nothing(tmp_path: Path) -> None:
    assert complaints(drive_peer("noisy", PING, LEGACY, tmp_path / "log")) == []


def test_a_server_is_ended_by_closing_its_input_first(tmp_path: Path) -> None:
    log, tape = tmp_path / "log", Tape()
    drive_peer("stubborn", PING, LEGACY, log, tape)
    assert lines(log)[-2:] == ["EOF", "SIGTERM"]
    codes = [event.fields["code"] for event in tape.events if "code" in event.fields]
    assert codes == [-9]


def test_a_server_that_keeps_to_the_rules_is_not_killed(tmp_path: Path) -> None:
    log, tape = tmp_path / "log", Tape()
    drive_peer("", PING, LEGACY, log, tape)
    assert lines(log)[-1] == "EOF"
    assert [event.fields["code"] for event in tape.events if "code" in event.fields] == [0]


@pytest.mark.parametrize("options", [LEGACY, MODERN], ids=["legacy", "modern"])
def test_a_request_without_an_answer_is_cancelled_by_its_id(
    options: ClientOptions, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    script = call("hang", "within = 0.3\n") + call("t")
    results = drive_peer("", script, options, log)
    assert [bool(one.complaints) for one in results] == [True, False]
    called = next(m for m in messages(log) if m.get("method") == "tools/call")
    (cancelled,) = [m for m in messages(log) if m.get("method") == "notifications/cancelled"]
    assert cancelled["params"]["requestId"] == called["id"]


def test_a_modern_server_that_dies_is_started_again_and_listened_to_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = '[[step]]\ndo = "listen"\nname = "l"\ntools = true\n' + call("crash") + call("t")
    assert complaints(drive_peer("", script, MODERN, log)) == []
    assert lines(log).count("start") == 2
    assert methods(log).count("subscriptions/listen") == 2


def test_a_modern_client_answers_no_request_of_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert complaints(drive_peer("", call("ask") + call("t"), MODERN, log)) == []
    assert None not in methods(log)


def test_a_modern_subscription_is_cancelled_by_notification(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = '[[step]]\ndo = "listen"\nname = "l"\ntools = true\n[[step]]\ndo = "stop"\nof = "l"\n'
    assert complaints(drive_peer("", script, MODERN, log)) == []
    listen = next(m for m in messages(log) if m.get("method") == "subscriptions/listen")
    (cancelled,) = [m for m in messages(log) if m.get("method") == "notifications/cancelled"]
    assert cancelled["params"]["requestId"] == listen["id"]


def test_a_line_is_one_message_whatever_the_arguments_hold(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = call("t", 'arguments = { text = "one\\ntwo\\r\\n\\u2028é" }\n')
    assert complaints(drive_peer("", script, MODERN, log)) == []
    called = next(m for m in messages(log) if m.get("method") == "tools/call")
    assert called["params"]["arguments"]["text"] == "one\ntwo\r\n\u2028é"


def test_a_command_that_does_not_exist_is_told() -> None:
    with pytest.raises(TargetError, match="was not found"):
        anyio.run(run_client, StdioTarget(("no-such-program-here",)), AUTO, Tape())
