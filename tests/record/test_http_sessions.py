"""Whole sessions through the proxy: recorded so that the judge has nothing to say against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest

from clausewise.core.vocabulary import Outcome
from clausewise.judge.engine import JudgeResult, judge
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from clausewise.trace.events import EventKind
from tests.record.wire import Recorder, recording_of
from tests.reference.client import LEGACY_VERSION, MEDIA, Client

pytestmark = pytest.mark.anyio

INFO = {"name": "raw", "version": "1"}
CLIENTS = 50


def message(method: str, params: dict[str, Any] | None = None, id_: int | None = None) -> bytes:
    whole = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
    return json.dumps({name: value for name, value in whole.items() if value is not None}).encode()


async def conforming_session(recorder: Recorder, name: str) -> None:
    """initialize, a list, a call with a stream, the end; `name` comes back in the call."""
    async with recorder.client() as end:
        client = Client(end.stream, urlsplit(recorder.url).netloc)
        hello = {"protocolVersion": LEGACY_VERSION, "capabilities": {}, "clientInfo": INFO}
        begun = await client.exchange("POST", MEDIA, message("initialize", hello, 1))
        own = {
            "Mcp-Session-Id": begun.headers["mcp-session-id"],
            "Mcp-Protocol-Version": LEGACY_VERSION,
        }
        ready = await client.exchange("POST", MEDIA | own, message("notifications/initialized"))
        assert ready.status == 202
        listed = await client.exchange("POST", MEDIA | own, message("tools/list", id_=2))
        assert listed.result["tools"]
        call = {"name": "echo", "arguments": {"text": name}}
        called = await client.exchange("POST", MEDIA | own, message("tools/call", call, 3))
        assert name in json.dumps(called.message)
        ended = await client.exchange("DELETE", own)
        assert ended.status in (200, 204)


def findings(result: JudgeResult) -> list[tuple[str, str]]:
    return [(v.id, f.message) for v in result.verdicts for f in v.findings]


async def test_a_conforming_session_gives_no_finding(tmp_path: Path) -> None:
    async with serve_http(ServerOptions()) as url, recording_of(url, tmp_path) as recorder:
        await conforming_session(recorder, "one")
    result = judge(recorder.events(), trace="s")
    assert findings(result) == []
    assert [str(revision) for revision in result.revisions] == [LEGACY_VERSION]
    assert sum(verdict.outcome is Outcome.PASS for verdict in result.verdicts) > 20


async def test_a_token_in_the_query_is_found_and_not_recorded(tmp_path: Path) -> None:
    async with (
        serve_http(ServerOptions()) as url,
        recording_of(url, tmp_path) as recorder,
        recorder.client() as end,
    ):
        client = Client(end.stream, urlsplit(recorder.url).netloc)
        hello = {"protocolVersion": LEGACY_VERSION, "capabilities": {}, "clientInfo": INFO}
        target = "/mcp?access_token=hidden"
        await client.send("POST", MEDIA, message("initialize", hello, 1), target)
        await client.answer()
    verdicts = {verdict.id: verdict for verdict in judge(recorder.events(), trace="s").verdicts}
    assert verdicts["AUTH-041"].outcome is Outcome.FAIL
    assert "hidden" not in recorder.trace.read_text()


async def test_many_clients_at_once_are_kept_apart(tmp_path: Path) -> None:
    async with (
        serve_http(ServerOptions()) as url,
        recording_of(url, tmp_path) as recorder,
        anyio.create_task_group() as tasks,
    ):
        for number in range(CLIENTS):
            tasks.start_soon(conforming_session, recorder, f"client {number}")
    events = recorder.events()
    assert findings(judge(events, trace="s")) == []
    answers: dict[object, list[str]] = {}
    for event in events:
        if event.kind is EventKind.MESSAGE:
            answers.setdefault(event.exchange, []).append(json.dumps(event.payload))
    for number in range(CLIENTS):
        (asked, told) = next(a for a in answers.values() if f'"client {number}"' in a[0])
        assert f'client {number}"' in told
        assert '"tools/call"' in asked
