"""Commands that reproduce a finding do so, and never show a credential."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys

import anyio
import anyio.to_thread
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clausewise.probe.conversation.reproduce import quoted, reproduction
from clausewise.probe.conversation.request import ABSENT, Request, compose
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.conftest import ROOT
from tests.probe.fake_server import serve_http, stdio_command

BOUND_S = 30


def shell(command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["/bin/bash", "-c", command], capture_output=True, timeout=BOUND_S, check=False, cwd=ROOT
    )


def test_a_curl_line_sends_the_same_request() -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    seen: list[dict[str, str]] = []

    async def run() -> bytes:
        def watch(request: object, right: object) -> object:
            seen.append(dict(request.headers))  # type: ignore[attr-defined]
            return right

        async with serve_http(watch) as url:  # type: ignore[arg-type]
            request = compose("tools/list", None, 3, {"headers": {"Accept": None, "X-Empty": ""}})
            command = reproduction(HttpTarget(url), request)
            done = await anyio.to_thread.run_sync(shell, command)
            return done.stdout

    output = anyio.run(run)
    assert b"HTTP/1.1 200" in output
    assert json.loads(output.splitlines()[-1])["id"] == 3
    assert "accept" not in seen[0]
    assert seen[0]["x-empty"] == ""
    assert seen[0]["mcp-method"] == "tools/list"


def test_a_get_without_headers_adds_none() -> None:
    request = Request(None, None, ABSENT, (), b"", "GET", "/sse")
    command = reproduction(HttpTarget("http://127.0.0.1:1/mcp?x=1"), request)
    assert "-X GET" in command
    assert "-H 'Accept:'" in command
    assert "Content-Type" not in command
    assert shlex.split(command)[-1] == "http://127.0.0.1:1/sse"


def test_credentials_become_variables() -> None:
    target = HttpTarget(
        "https://example.com/mcp",
        headers=(("Authorization", "Bearer s3cret"), ("X-Api-Key", "t0ken")),
    )
    command = reproduction(target, compose("ping", None, 1, {}))
    assert '"Authorization: Bearer $TOKEN"' in command
    assert '"X-Api-Key: $X_API_KEY"' in command
    assert "s3cret" not in command
    assert "t0ken" not in command


def test_a_line_is_piped_into_the_command() -> None:
    target = StdioTarget(stdio_command(), cwd=str(ROOT), env={"SECRET": "s3cret"})
    command = reproduction(target, compose("tools/call", {"name": "it's"}, 3, {}))
    assert "s3cret" not in command
    done = shell(command)
    assert json.loads(done.stdout)["id"] == 3


def test_several_requests_go_to_one_process_in_their_order() -> None:
    target = StdioTarget(stdio_command(), cwd=str(ROOT))
    requests = (compose("ping", None, number, {}) for number in (4, 5))
    done = shell(reproduction(target, *requests))
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [4, 5]


def test_requests_in_turn_go_to_a_process_one_after_the_other() -> None:
    target = StdioTarget(stdio_command(), cwd=str(ROOT))
    requests = (compose("ping", None, number, {}) for number in (4, 5))
    command = reproduction(target, *requests, in_turn=True)
    assert command.count("printf") == 2
    assert [json.loads(line)["id"] for line in shell(command).stdout.splitlines()] == [4, 5]


def test_several_requests_are_one_curl_command() -> None:
    requests = (compose("ping", None, number, {}) for number in (4, 5))
    words = shlex.split(reproduction(HttpTarget("http://127.0.0.1:1/mcp"), *requests))
    assert words.count("curl") == words.count("--next") == 1
    assert words.count("http://127.0.0.1:1/mcp") == words.count("--data-binary") == 2


@settings(deadline=None, max_examples=25)
@given(st.binary(max_size=40).filter(lambda data: b"\0" not in data))
def test_any_bytes_survive_the_shell(data: bytes) -> None:
    done = shell(f"printf %s {quoted(data)}")
    assert done.stdout == data


@pytest.mark.parametrize(
    "text", ["plain", "it's", "$(touch x)", "`x`", "\x1b[31m", "a\nb", "Grüße"]
)
def test_a_word_is_one_word_without_control_characters(text: str) -> None:
    word = quoted(text.encode())
    assert word.replace("ü", "u").replace("ß", "s").isprintable()
    assert shell(f"printf %s {word}").stdout == text.encode()


def test_the_program_is_quoted() -> None:
    target = StdioTarget((sys.executable, "my server.py"))
    assert "'my server.py'" in reproduction(target, compose("ping", None, 1, {}))
