"""What a hostile or broken HTTP client may send, each with a bounded, clear outcome."""

from __future__ import annotations

import json

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from clausewise.core.errors import UsageError
from clausewise.reference.http_layer import HttpConnection, HttpExchange, HttpHead
from clausewise.reference.options import ServerLimits, ServerOptions
from clausewise.reference.server import serve_http
from tests.reference.client import (
    MEDIA,
    META,
    VERSION,
    Client,
    connect,
    modern_headers,
    modern_message,
)

pytestmark = pytest.mark.anyio

DISCOVER = json.dumps(modern_message("server/discover")).encode()
HEADERS = modern_headers("server/discover", {})
SLOW = {"name": "count_slowly", "arguments": {"steps": 1000, "delayMs": 1000}}


def limited(**limits: float) -> ServerOptions:
    return ServerOptions(limits=ServerLimits(**limits))  # type: ignore[arg-type]


def head_bytes(**headers: str) -> bytes:
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    every = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    return f"POST /mcp HTTP/1.1\r\nHost: localhost\r\n{every}{lines}\r\n".encode()


async def test_a_body_over_the_bound_is_413_and_ends_the_connection() -> None:
    async with serve_http(limited(max_body_bytes=100)) as url, connect(url) as client:
        answer = await client.exchange("POST", MEDIA, b"x" * 101)
        assert answer.status == 413
        assert await client.at_end()


async def test_an_endless_chunked_body_is_413() -> None:
    async with serve_http(limited(max_body_bytes=100)) as url, connect(url) as client:
        await client.stream.send(head_bytes(Transfer_Encoding="chunked"))
        await client.stream.send(b"80\r\n" + b"x" * 128 + b"\r\n")
        assert (await raw_status(client)) == 413


async def raw_status(client: Client) -> int:
    """The status of the next answer, read without knowing its request."""
    received = b""
    while b"\r\n" not in received:
        received += await client.stream.receive()
    return int(received.split(b" ")[1])


async def test_a_head_over_the_bound_is_431() -> None:
    async with serve_http(limited(max_head_bytes=1000)) as url, connect(url) as client:
        await client.stream.send(b"GET / HTTP/1.1\r\nX: " + b"y" * 2000)
        assert await raw_status(client) == 431
        assert await client.at_end()


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"POST\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nBad Header: x\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
async def test_what_is_no_http_is_400_and_the_server_lives_on(data: bytes) -> None:
    async with serve_http(ServerOptions()) as url:
        async with connect(url) as client:
            await client.stream.send(data)
            assert await raw_status(client) == 400
            assert await client.at_end()
        async with connect(url) as client:
            assert (await client.modern("server/discover")).status == 200


async def test_a_request_that_never_arrives_in_whole_is_408() -> None:
    async with serve_http(limited(read_s=0.02)) as url, connect(url) as client:
        await client.stream.send(b"POST /mcp HTTP/1.1\r\nHost: a\r\n")
        assert await raw_status(client) == 408
        assert await client.at_end()


async def test_a_silent_connection_is_closed_without_a_word() -> None:
    async with serve_http(limited(idle_s=0.02)) as url, connect(url) as client:
        assert await client.at_end()


async def test_a_client_that_stops_sending_still_gets_its_answer() -> None:
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        await client.send("POST", HEADERS, DISCOVER)
        await client.stream.send_eof()
        assert (await client.answer()).status == 200
        assert await client.at_end()


async def test_a_half_closed_connection_does_not_wait_for_a_slow_answer() -> None:
    options = limited(half_close_s=0.01)
    async with serve_http(options) as url, connect(url) as client:
        await client.send(
            "POST",
            modern_headers("tools/call", SLOW),
            json.dumps(modern_message("tools/call", SLOW)).encode(),
        )
        await client.stream.send_eof()
        assert await client.at_end()


async def test_a_client_that_leaves_a_stream_cancels_its_request() -> None:
    params = SLOW | {"_meta": META | {"progressToken": 1}, "arguments": {"steps": 1000}}
    async with serve_http(limited(max_connections=1)) as url:
        async with connect(url) as client:
            await client.send_modern("tools/call", params)
            await client.head()
            await client.event()
        for _ in range(100):
            async with connect(url) as client:
                await client.send("POST", HEADERS, DISCOVER)
                if (await client.answer()).status == 200:
                    return
        pytest.fail("the cancelled request still holds the only connection")


async def test_surplus_connections_are_503() -> None:
    async with serve_http(limited(max_connections=1)) as url, connect(url) as first:
        assert (await first.modern("server/discover")).status == 200
        async with connect(url) as second:
            assert await raw_status(second) == 503
        assert (await first.modern("server/discover")).status == 200


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff", -32700),
        (b"NaN", -32700),
        (b"[" * 200_000, -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', -32602),
        (b'{"id":1,"method":"x"}', -32600),
    ],
)
async def test_a_body_that_is_no_request_has_its_code(body: bytes, code: int) -> None:
    headers = {**MEDIA, "MCP-Protocol-Version": VERSION, "Mcp-Method": "x"}
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        answer = await client.exchange("POST", headers, body)
        assert (answer.status, answer.error["code"]) == (400, code)


async def test_requests_sent_ahead_are_answered_in_order() -> None:
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        request = head_bytes(Content_Length=str(len(DISCOVER))) + DISCOVER
        await client.stream.send(request * 3)
        received = b""
        while received.count(b'"supportedVersions"') < 3:
            received += await client.stream.receive()
        assert received.count(b"HTTP/1.1 200 OK\r\n") == 3


async def test_more_sent_ahead_than_the_bound_is_read_later() -> None:
    options = limited(max_head_bytes=2000)
    async with serve_http(options) as url, connect(url) as client:
        request = head_bytes(Content_Length=str(len(DISCOVER))) + DISCOVER
        await client.stream.send(request * 50)
        received = b""
        while received.count(b'"supportedVersions"') < 50:
            received += await client.stream.receive()


async def test_a_client_that_waits_for_100_continue_is_told_to_go_on() -> None:
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        expecting = head_bytes(Content_Length=str(len(DISCOVER)), Expect="100-continue")
        await client.stream.send(expecting)
        assert await raw_status(client) == 100
        await client.stream.send(DISCOVER)
        assert await raw_status(client) == 200


async def test_an_http_1_0_client_gets_a_stream_that_ends_with_the_connection() -> None:
    params = {"name": "count_slowly", "arguments": {"delayMs": 0}}
    meta = META | {"progressToken": 1}
    body = json.dumps(modern_message("tools/call", params | {"_meta": meta})).encode()
    lines = "".join(f"{k}: {v}\r\n" for k, v in modern_headers("tools/call", params).items())
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        head = f"POST /mcp HTTP/1.0\r\nContent-Length: {len(body)}\r\n{lines}\r\n"
        await client.stream.send(head.encode() + body)
        received = b""
        with pytest.raises(anyio.EndOfStream):
            while True:
                received += await client.stream.receive()
        assert b"Transfer-Encoding" not in received
        assert received.count(b"data: ") == 4


async def test_a_close_token_ends_the_connection_after_the_answer() -> None:
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        answer = await client.modern("server/discover", headers={"Connection": "Close"})
        assert answer.headers["connection"] == "close"
        assert await client.at_end()


# clause: TRAN-008
@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "example.com", "::"])
async def test_an_address_that_is_no_loopback_needs_permission(host: str) -> None:
    with pytest.raises(UsageError, match="no loopback address"):
        async with serve_http(ServerOptions(host=host)):
            pass


async def test_a_port_in_use_is_a_usage_error() -> None:
    async with serve_http(ServerOptions()) as url:
        port = int(url.rpartition(":")[2].partition("/")[0])
        with pytest.raises(UsageError, match="cannot listen"):
            async with serve_http(ServerOptions(port=port)):
                pass


async def test_a_request_that_outlives_its_client_runs_to_its_end() -> None:
    gone, ended = anyio.Event(), anyio.Event()

    async def handler(exchange: HttpExchange) -> None:
        exchange.outlives_client = True
        await exchange.open(HttpHead(200))
        await gone.wait()
        for _ in range(3):
            await exchange.write(b"x" * 1_000_000)
        ended.set()

    async def serve(stream: SocketStream) -> None:
        async with stream:
            await HttpConnection(stream, 1, handler, ServerLimits()).serve()

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, serve)
        port = listener.extra(SocketAttribute.local_port)
        async with connect(f"http://127.0.0.1:{port}/mcp") as client:
            await client.send("GET", {})
            await client.head()
        gone.set()
        with anyio.fail_after(30):
            await ended.wait()
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("text", ["\ud800", "\x00", "\u2028", "😀", "x" * 1_000_000])
async def test_any_text_comes_back_as_it_was(text: str) -> None:
    params = {"name": "echo", "arguments": {"text": text}}
    async with serve_http(ServerOptions()) as url, connect(url) as client:
        answer = await client.modern("tools/call", params)
        assert answer.result["content"][0]["text"] == text
