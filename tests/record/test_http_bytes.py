"""The proxy passes bytes on unchanged and at once, whatever they are."""

from __future__ import annotations

import gzip
import hashlib
import ssl
from pathlib import Path

import anyio
import pytest
import trustme

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import EventKind
from clausewise.transport.limits import Limits
from tests.record.wire import End, half_closed, recorded, recording_of, serving

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
PONG = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def post(host: bytes, body: bytes = PING, *extra: bytes) -> bytes:
    lines = (b"POST /mcp HTTP/1.1", b"Host: " + host, b"Content-Type: application/json", *extra)
    return b"\r\n".join((*lines, b"Content-Length: %d" % len(body), b"", body))


def answer(body: bytes = PONG, kind: bytes = b"application/json") -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (kind, len(body)) + body


async def test_only_the_value_of_host_changes(tmp_path: Path) -> None:
    request = (
        b"POST //a/../b;c?q=%%20&secret=1 HTTP/1.1\r\n"
        b"x-ODD:   spaced  \r\n"
        b"hOsT: %b\r\n"
        b"accept: a\r\nAccept: b\r\n"
        b"Connection: keep-alive, X-Odd\r\n"
        b"Origin: http://example.com\r\n"
        b"Content-Length: 40\r\n\r\n" + PING
    )
    response = (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
        b"HTTP/1.1 299 Odd but  fine\r\nzZ: 1\r\nSet-Cookie: a\r\nset-cookie: b\r\n"
        b"Content-Length: 0\r\n\r\n"
    )

    async def script(server: End) -> None:
        await server.exactly(request % recorder.authority.encode())
        await server.send(response)
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(request % recorder.host)
        await client.exactly(response)
        heads = recorder.of_kind(EventKind.HTTP)
    assert [head.status for head in heads] == [None, 103, 299]
    assert heads[0].fields["path"] == "//a/../b;c"
    assert len({event.exchange for event in recorder.events()}) == 1


async def test_chunks_extensions_and_trailers_pass_as_they_are(tmp_path: Path) -> None:
    body = b"00a;x=y\r\n" + PING[:10] + b"\r\n1E\r\n" + PING[10:] + b"\r\n0\r\nTrail: er\r\n\r\n"
    head = b"POST /mcp HTTP/1.1\r\nHost: %b\r\nTransfer-Encoding: chunked\r\n\r\n"
    response = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        b"Trailer: T\r\n\r\n5\r\n" + PONG[:5] + b"\r\n01f;ext\r\n" + PONG[5:] + b"\r\n000\r\n"
        b"T: 1\r\n\r\n"
    )

    async def script(server: End) -> None:
        await server.exactly(head % recorder.authority.encode() + body)
        await server.send(response)
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        for byte in head % recorder.host + body:
            await client.send(bytes((byte,)))
        await client.exactly(response)
        messages = recorder.of_kind(EventKind.MESSAGE)
    assert [event.payload.get("method", "result") for event in messages] == ["ping", "result"]


async def test_an_event_stream_passes_chunk_by_chunk(tmp_path: Path) -> None:
    head = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    pieces = [
        head,
        b"9\r\n: hello\n\n",
        b"\r\n3\r\n",
        b"id:",
        b"\r\n4\r\n 7\n\n\r\n",
        b"%x\r\ndata: %b\n\n\r\n" % (len(PONG) + 8, PONG),
        b"0\r\n\r\n",
    ]
    arrived = [anyio.Event() for _ in pieces]

    async def script(server: End) -> None:
        await server.until(PING)
        for piece, seen in zip(pieces, arrived, strict=True):
            await server.send(piece)
            await seen.wait()
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host))
        for piece, seen in zip(pieces, arrived, strict=True):
            await client.exactly(piece)
            seen.set()
        await recorder.recorded(lambda event: bool(event.fields.get("end")))
        events = [event for event in recorder.events() if event.stream is not None]
    assert [event.kind for event in events] == ["sse", "sse", "message", "sse"]
    assert events[0].fields == {"comment": "hello"}
    assert events[1].fields == {"id": "7"}
    assert len({event.stream for event in events}) == 1


async def test_bodies_of_many_megabytes_pass_both_ways_and_are_recorded(tmp_path: Path) -> None:
    text = b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"' + b"ab, " * (2 * MIB) + b'"}}'
    result = b'{"jsonrpc":"2.0","id":1,"result":{"a":"' + b"cd, " * (2 * MIB) + b'"}}'

    async def script(server: End) -> None:
        await server.until(b"\r\n\r\n")
        await server.exactly(text)
        await server.send(answer(result))
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host, text))
        await client.exactly(answer(result))
        asked, told = recorder.of_kind(EventKind.MESSAGE)
    assert len(asked.payload["params"]["a"]) == len(told.payload["result"]["a"]) == 8 * MIB


async def test_a_body_beyond_the_bound_passes_and_is_told_as_cut_short(tmp_path: Path) -> None:
    piece, count = b"z" * MIB, 24
    sums: list[str] = []

    async def script(server: End) -> None:
        await server.until(b"\r\n\r\n")
        digest = hashlib.sha256()
        for _ in range(count):
            await server.exactly(piece)
            digest.update(piece)
        sums.append(digest.hexdigest())
        await server.send(answer())
        await server.gone()

    limits = Limits(max_body_bytes=MIB)
    async with recorded(script, tmp_path, limits=limits) as recorder, recorder.client() as client:
        await client.send(post(recorder.host, b"")[:-5] + b"%d\r\n\r\n" % (count * MIB))
        for _ in range(count):
            await client.send(piece)
        await client.exactly(answer())
        (raw,) = recorder.of_kind(EventKind.RAW)
    assert len(sums) == 1
    assert raw.fields["why"].startswith(f"cut short: a body of more than {MIB} bytes")
    assert raw.direction is Direction.CLIENT_TO_SERVER
    assert recorder.trace.stat().st_size < MIB


async def test_a_compressed_body_passes_compressed_and_is_recorded_decoded(tmp_path: Path) -> None:
    response = answer(gzip.compress(PONG)).replace(
        b"Content-Length", b"Content-Encoding: gzip\r\nContent-Length"
    )

    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(response)
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host))
        await client.exactly(response)
        told = recorder.of_kind(EventKind.MESSAGE)[1]
    assert told.payload == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("coding", [b"br", b"gzip"])
async def test_a_body_that_cannot_be_decoded_proves_no_fault(tmp_path: Path, coding: bytes) -> None:
    response = answer(b"\x1f\x8bgarbage").replace(
        b"Content-Length", b"Content-Encoding: " + coding + b"\r\nContent-Length"
    )

    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(response)
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host))
        await client.exactly(response)
        (raw,) = recorder.of_kind(EventKind.RAW)
    assert raw.fields["why"].startswith("cut short: ")


async def test_keep_alive_keeps_one_connection_and_labels_each_exchange(tmp_path: Path) -> None:
    connections: list[End] = []

    async def script(server: End) -> None:
        connections.append(server)
        for _ in range(3):
            await server.until(PING)
            await server.send(answer())
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        for _ in range(3):
            await client.send(post(recorder.host))
            await client.exactly(answer())
        heads = recorder.of_kind(EventKind.HTTP)
    assert len(connections) == 1
    assert len({head.exchange for head in heads}) == 3
    assert [head.status for head in heads] == [None, 200] * 3


async def test_pipelined_requests_are_told_apart(tmp_path: Path) -> None:
    second = PING.replace(b"1,", b"2,")
    other = PONG.replace(b"1,", b"2,")

    async def script(server: End) -> None:
        await server.until(second)
        await server.send(answer() + answer(other))
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host) + post(recorder.host, second))
        await client.exactly(answer() + answer(other))
        messages = recorder.of_kind(EventKind.MESSAGE)
    assert [event.payload["id"] for event in messages] == [1, 2, 1, 2]
    exchanges = [event.exchange for event in messages]
    assert exchanges[:2] == exchanges[2:]
    assert exchanges[0] != exchanges[1]


async def test_a_client_that_waits_for_100_gets_it_from_the_server(tmp_path: Path) -> None:
    async def script(server: End) -> None:
        await server.until(b"\r\n\r\n")
        await server.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await server.until(PING)
        await server.send(answer())
        await server.gone()

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        whole = post(recorder.host, PING, b"Expect: 100-continue")
        await client.send(whole[: -len(PING)])
        await client.exactly(b"HTTP/1.1 100 Continue\r\n\r\n")
        await client.send(PING)
        await client.exactly(answer())


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00hello",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"nonsense\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\n\r\n",
        b"X" * 100_000,
    ],
)
async def test_what_is_no_http_passes_as_it_stands_and_is_recorded_raw(
    tmp_path: Path, garbage: bytes
) -> None:
    async def script(server: End) -> None:
        await server.exactly(garbage)
        await server.send(b"\xffwhat?")

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(garbage)
        assert await client.rest() == b"\xffwhat?"
        raws = recorder.of_kind(EventKind.RAW)
    assert [raw.direction.sender for raw in raws] == ["client", "server"]
    assert raws[1].fields["why"] == "bytes that answer no request"


async def test_a_response_that_is_no_http_passes_and_is_recorded_raw(tmp_path: Path) -> None:
    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(b"hello\r\n\r\n{}")

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host))
        assert await client.rest() == b"hello\r\n\r\n{}"
        (raw,) = recorder.of_kind(EventKind.RAW)
    assert raw.fields["text"] == "hello\r\n\r\n{}"
    assert "no HTTP/1.1" in raw.fields["why"]


async def test_a_client_that_ends_its_side_still_gets_its_answer(tmp_path: Path) -> None:
    async def script(server: End) -> None:
        await server.rest()
        await server.send(answer())

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host))
        await half_closed(client).send_eof()
        assert await client.rest() == answer()
    assert not recorder.of_kind(EventKind.LIFECYCLE)


async def test_a_body_that_ends_with_the_connection_is_whole(tmp_path: Path) -> None:
    response = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + PONG

    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(response)

    async with recorded(script, tmp_path) as recorder, recorder.client() as client:
        await client.send(post(recorder.host))
        assert await client.rest() == response
        assert len(recorder.of_kind(EventKind.MESSAGE)) == 2
    assert not recorder.of_kind(EventKind.LIFECYCLE)


async def test_a_server_with_tls_is_reached_with_its_certificate_checked(tmp_path: Path) -> None:
    authority = trustme.CA()
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)

    async def script(server: End) -> None:
        await server.until(PING)
        await server.send(answer())
        await server.gone()

    async with serving(script, context) as url:
        async with (
            recording_of(url, tmp_path, ca_file=str(ca_file)) as recorder,
            recorder.client() as client,
        ):
            await client.send(post(recorder.host))
            await client.exactly(answer())
        async with recording_of(url, tmp_path) as recorder, recorder.client() as client:
            await client.send(post(recorder.host))
            assert b"is not trusted" in await client.rest()
