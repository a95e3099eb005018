"""However a connection ends, the other side learns it and the trace tells who broke off."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Direction
from clausewise.judge.engine import judge
from clausewise.record.proxy import ProxyOptions
from clausewise.trace.events import EventKind, Lifecycle
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget
from tests.record.test_http_bytes import PING, answer, post
from tests.record.wire import End, closed_port, recorded, recording_of

pytestmark = pytest.mark.anyio

STREAM = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"9\r\n: hello\n\n\r\n"
)


def is_abort(event: object) -> bool:
    return getattr(event, "fields", {}).get("event") == Lifecycle.ABORT


@pytest.mark.parametrize("how", ["close", "reset"])
async def test_a_client_that_goes_away_ends_the_stream_at_the_server(
    tmp_path: Path, how: str
) -> None:
    gone = anyio.Event()

    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(STREAM)
        await server.gone()
        gone.set()

    async with recorded(script, tmp_path) as recorder:
        async with recorder.client() as client:
            await client.send(post(recorder.host))
            await client.exactly(STREAM)
            if how == "reset":
                await client.reset()
        await gone.wait()
        abort = await recorder.recorded(is_abort)
    assert abort.direction is Direction.CLIENT_TO_SERVER
    assert abort.exchange == recorder.of_kind(EventKind.HTTP)[0].exchange


async def test_a_client_that_went_away_is_not_waited_for_by_a_server_that_ignores_it(
    tmp_path: Path,
) -> None:
    released = anyio.Event()

    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(STREAM)
        await server.rest()
        await released.wait()

    limits = Limits(answer_s=0.2)
    async with recorded(script, tmp_path, limits=limits) as recorder:
        async with recorder.client() as client:
            await client.send(post(recorder.host))
            await client.exactly(STREAM)
        abort = await recorder.recorded(is_abort)
        released.set()
    assert abort.direction is Direction.CLIENT_TO_SERVER


async def test_a_server_that_closes_in_mid_body_is_seen_to_by_the_client(tmp_path: Path) -> None:
    part = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"

    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(part)

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host))
        assert await client.rest() == part
        abort = await recorder.recorded(is_abort)
    assert abort.direction is Direction.SERVER_TO_CLIENT
    (raw,) = recorder.of_kind(EventKind.RAW)
    assert raw.fields["why"] == "cut short: the body broke off"


async def test_a_reset_by_the_server_is_a_reset_for_the_client(tmp_path: Path) -> None:
    async def script(server: End) -> None:
        await server.until(PING)
        await server.reset()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host))
        with pytest.raises(anyio.BrokenResourceError):
            await client.rest()
        abort = await recorder.recorded(is_abort)
    assert abort.direction is Direction.SERVER_TO_CLIENT


async def test_a_server_that_answers_before_the_request_ends_is_heard(tmp_path: Path) -> None:
    refusal = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

    async def script(server: End) -> None:
        await server.until(b"\r\n\r\n")
        await server.send(refusal)
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host)[:-10])
        await client.exactly(refusal)
    assert [head.status for head in recorder.of_kind(EventKind.HTTP)] == [None, 413]


async def test_a_server_out_of_reach_is_a_502_that_blames_nobody(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{await closed_port()}/mcp"
    async with recording_of(url, tmp_path) as recorder:
        async with recorder.client() as client:
            await client.send(post(recorder.host))
            told = await client.rest()
        await recorder.recorded(is_abort)
    assert told.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert b"Connection: close\r\n" in told
    assert b"\r\n\r\nclausewise record: " in told and b"Connect call failed" in told
    events = recorder.events()
    assert [event.kind for event in events] == ["http", "message", "raw", "lifecycle"]
    assert events[2].fields["why"].startswith("cut short: the server was not reached: ")
    assert len({event.exchange for event in events}) == 1
    assert len(recorder.complaints) == 1
    verdicts = judge(events, trace="s").verdicts
    assert not [f for v in verdicts for f in v.findings if f.party.value == "server"]


async def test_a_large_upload_to_a_server_out_of_reach_still_gets_its_502(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{await closed_port()}/mcp"
    body = b'"' + b"a" * 4_000_000 + b'"'
    async with recording_of(url, tmp_path) as recorder:
        async with recorder.client() as client:
            await client.send(post(recorder.host, body))
            assert b" 502 " in await client.rest()
        await recorder.recorded(is_abort)
    (message,) = recorder.of_kind(EventKind.MESSAGE)
    assert len(message.payload) == 4_000_000


@pytest.mark.parametrize("host", [b"attacker.example", b"attacker.example:80", b"10.0.0.1"])
async def test_a_foreign_host_is_refused_on_loopback(tmp_path: Path, host: bytes) -> None:
    reached: list[End] = []

    async def script(server: End) -> None:
        reached.append(server)

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(host))
        told = await client.until(b"\n")
    assert told == b"HTTP/1.1 403 Forbidden\r\n"
    assert not reached
    assert not recorder.events()
    assert "refused a request for the host" in recorder.complaints[0]


@pytest.mark.parametrize("host", [b"localhost:1", b"LOCALHOST", b"[::1]:99", b"127.9.9.9", b""])
async def test_any_name_of_this_machine_is_served(tmp_path: Path, host: bytes) -> None:
    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(answer())
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(host))
        await client.exactly(answer())


async def test_stopping_the_recorder_blames_nobody(tmp_path: Path) -> None:
    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(STREAM + b"5\r\ndata:\r\n")
        await server.gone()

    async with AsyncExitStack() as client_side, recorded(script, tmp_path) as recorder:
        client = await client_side.enter_async_context(recorder.client())
        await client.send(post(recorder.host))
        await client.exactly(STREAM)
        await recorder.recorded(lambda event: "comment" in event.fields)
    assert not any(map(is_abort, recorder.events()))
    assert recorder.of_kind(EventKind.RAW)[0].fields["why"].startswith("cut short: ")


def test_only_loopback_is_listened_on_unless_allowed() -> None:
    upstream = HttpTarget("http://127.0.0.1:3001/mcp")
    with pytest.raises(UsageError, match=r"0\.0\.0\.0 is no loopback address"):
        ProxyOptions(upstream, "0.0.0.0")
    assert ProxyOptions(upstream, "0.0.0.0", allow_remote=True).is_own_host("any.example")


def test_a_query_of_the_upstream_is_refused_since_it_could_not_be_added() -> None:
    with pytest.raises(UsageError, match="has a query"):
        ProxyOptions(HttpTarget("http://127.0.0.1:3001/mcp?key=1"))
