"""Recorded HTTP sessions sent again, on HTTP and on stdio."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from clausewise.core.errors import TargetError, UsageError
from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_http
from clausewise.trace.events import Event, EventKind
from clausewise.trace.tape import Tape, Track
from clausewise.transport.answers import Answer
from clausewise.transport.http import HttpRequest, HttpTarget, open_connection
from clausewise.transport.stdio import StdioTarget
from tests.reference.client import META
from tests.replay.sessions import HELLO, coined_session, line, replayed

pytestmark = pytest.mark.anyio

MEDIA = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
MODERN = {"MCP-Protocol-Version": "2026-07-28"}
REFERENCE = StdioTarget((sys.executable, "-m", "clausewise", "reference", "server", "--stdio"))


class Recorder:
    """A client whose exchanges with a server are recorded."""

    def __init__(self, url: str) -> None:
        self._target = HttpTarget(url)
        self.tape = Tape()

    async def exchange(
        self, headers: Mapping[str, str], body: bytes = b"", method: str = "POST"
    ) -> Answer:
        pairs = tuple((name.encode(), value.encode()) for name, value in headers.items())
        request = HttpRequest(method, (*self._target.plain_headers(body), *pairs), body)
        async with open_connection(self._target, self.tape) as connection:
            return await connection.send(request)


async def legacy_session(url: str) -> tuple[Event, ...]:
    """initialize, a list, a call, DELETE."""
    client = Recorder(url)
    begun = await client.exchange(MEDIA, line(id=1, method="initialize", params=HELLO))
    own = {"MCP-Session-Id": begun.header("mcp-session-id") or "", "MCP-Protocol-Version": ""}
    own["MCP-Protocol-Version"] = "2025-11-25"
    await client.exchange(MEDIA | own, line(method="notifications/initialized"))
    await client.exchange(MEDIA | own, line(id=2, method="tools/list"))
    call = {"name": "echo", "arguments": {"text": "hello"}}
    await client.exchange(MEDIA | own, line(id=3, method="tools/call", params=call))
    await client.exchange(own, method="DELETE")
    return client.tape.events


def sent(events: tuple[Event, ...]) -> list[Event]:
    return [
        event
        for event in events
        if event.kind is EventKind.HTTP and event.direction is Direction.CLIENT_TO_SERVER
    ]


def told(answers: Any) -> list[tuple[str, tuple[str, ...]]]:
    return [(answer.title, answer.differences) for answer in answers]


AS_RECORDED = [("initialize", ()), ("tools/list", ()), ("tools/call", ())]


async def test_a_session_is_replayed_under_the_session_id_that_the_server_gives_now() -> None:
    async with serve_http(ServerOptions()) as url:
        recorded = await legacy_session(url)
        result, events = await replayed(recorded, HttpTarget(url))
    assert told(result.answers) == AS_RECORDED
    assert result.notes == ()
    heads = sent(events)
    assert [head.fields["method"] for head in heads] == ["POST"] * 4 + ["DELETE"]
    new = {head.header("mcp-session-id") for head in heads[1:]}
    old = {head.header("mcp-session-id") for head in sent(recorded)[1:]}
    assert len(new) == len(old) == 1
    assert new != old


async def test_a_session_of_http_is_replayed_on_stdio() -> None:
    async with serve_http(ServerOptions()) as url:
        recorded = await legacy_session(url)
    result, events = await replayed(recorded, REFERENCE)
    assert told(result.answers) == AS_RECORDED
    assert {event.transport for event in events} == {TransportKind.STDIO}


async def test_a_session_of_stdio_is_replayed_on_http_with_the_headers_that_http_needs() -> None:
    recorded = await coined_session()
    async with serve_http(ServerOptions()) as url:
        _, events = await replayed(recorded, HttpTarget(url))
    assert [head.header("mcp-session-id") is None for head in sent(events)] == [
        True, False, False, False, False, False,
    ]  # fmt: skip
    assert {head.header("mcp-protocol-version") for head in sent(events)[1:]} == {"2025-11-25"}


async def test_a_modern_request_on_stdio_is_replayed_on_http_with_its_standard_headers() -> None:
    call = {"name": "echo", "arguments": {"text": "hello"}, "_meta": META}
    tape = Tape()
    track = Track(TransportKind.STDIO)
    tape.message(track, Direction.CLIENT_TO_SERVER, line(id=1, method="tools/call", params=call))
    async with serve_http(ServerOptions()) as url:
        result, events = await replayed(tape.events, HttpTarget(url))
    (head,) = sent(events)
    assert head.header("mcp-method") == "tools/call"
    assert head.header("mcp-name") == "echo"
    assert told(result.answers) == [
        ("tools/call", ("answered, which it was not in the recording",))
    ]


async def test_a_status_that_differs_is_told() -> None:
    async with serve_http(ServerOptions()) as url:
        recorded = await legacy_session(url)
    async with serve_http(ServerOptions(protected=True)) as url:
        result, _ = await replayed(recorded, HttpTarget(url))
    differing = dict(told(result.answers))
    assert differing["tools/list"] == ("HTTP status: 200 → 401", "no answer came")
    assert differing["notifications/initialized"] == ("HTTP status: 202 → 401",)
    assert differing["DELETE"][0].startswith("HTTP status: ")


async def test_a_stream_that_the_client_left_is_left_again() -> None:
    async with serve_http(ServerOptions()) as url:
        client = Recorder(url)
        begun = await client.exchange(MEDIA, line(id=1, method="initialize", params=HELLO))
        own = {
            "Accept": "text/event-stream",
            "MCP-Session-Id": begun.header("mcp-session-id") or "",
            "MCP-Protocol-Version": "2025-11-25",
        }
        with anyio.move_on_after(0.2):
            await client.exchange(own, method="GET")
        await client.exchange(own, method="DELETE")
        with anyio.fail_after(10):
            result, events = await replayed(client.tape.events, HttpTarget(url))
    assert [head.fields["method"] for head in sent(events)] == ["POST", "GET", "DELETE"]
    assert told(result.answers) == [("initialize", ())]


async def test_a_server_that_is_not_there_is_told() -> None:
    async with serve_http(ServerOptions()) as url:
        recorded = await legacy_session(url)
    with pytest.raises(TargetError, match="no connection"):
        await replayed(recorded, HttpTarget(url))


async def test_a_hostile_recording_cannot_add_lines_to_a_request() -> None:
    tape = Tape()
    track = Track(TransportKind.HTTP, exchange=1)
    headers = {"accept": "a/b\r\nX-Evil: 1", "mcp-name": "ok", "mcp-method": "x\ny"}
    fields = {"method": "POST / HTTP/1.1\r\nX-Evil: 2\r\n", "path": "/mcp", "headers": headers}
    tape.add(track, Direction.CLIENT_TO_SERVER, EventKind.HTTP, fields)
    tape.message(track, Direction.CLIENT_TO_SERVER, line(id=1, method="ping"))
    async with serve_http(ServerOptions()) as url:
        _, events = await replayed(tape.events, HttpTarget(url))
    (head,) = sent(events)
    assert head.fields["method"] == "POST"
    assert head.header("mcp-name") == "ok"
    assert head.header("accept") is None
    assert head.header("mcp-method") is None


async def test_a_name_that_no_header_can_carry_does_not_end_the_replay() -> None:
    tape = Tape()
    call = {"name": "\ud800", "_meta": META}
    tape.message(
        Track(TransportKind.STDIO),
        Direction.CLIENT_TO_SERVER,
        line(id=1, method="tools/call", params=call),
    )
    async with serve_http(ServerOptions()) as url:
        result, events = await replayed(tape.events, HttpTarget(url))
    assert sent(events)[0].header("mcp-name") == "?"
    assert [answer.title for answer in result.answers] == ["tools/call"]


async def test_certificates_that_cannot_be_read_are_told() -> None:
    async with serve_http(ServerOptions()) as url:
        recorded = await legacy_session(url)
    target = HttpTarget(url.replace("http:", "https:"), ca_file="missing.pem")
    with pytest.raises(UsageError, match=r"missing\.pem"):
        await replayed(recorded, target)


async def test_credentials_of_the_recording_are_not_sent_and_those_given_are() -> None:
    async with serve_http(ServerOptions()) as url:
        client = Recorder(url)
        headers = MEDIA | {"Authorization": "Bearer secret"}
        await client.exchange(headers, line(id=1, method="initialize", params=HELLO))
        _, without = await replayed(client.tape.events, HttpTarget(url))
        given = HttpTarget(url, (("Authorization", "Bearer mine"),))
        _, events = await replayed(client.tape.events, given)
    assert sent(client.tape.events)[0].header("authorization") == "[redacted]"
    assert sent(without)[0].header("authorization") is None
    assert sent(events)[0].header("authorization") == "[redacted]"
    assert json.dumps([event.fields for event in events], default=str).count("mine") == 0
