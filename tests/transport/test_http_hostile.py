"""HTTP servers that break, stall, flood or lie: each ends in a clear answer, in bounded time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import Event, EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.answers import Answer, Ending, blocked_reason
from clausewise.transport.http import HttpConnection, HttpRequest, HttpTarget, open_connection
from clausewise.transport.limits import Limits

pytestmark = pytest.mark.anyio

Serve = Callable[..., AbstractAsyncContextManager[str]]

BODY = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}'
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
SIZED = JSON_HEAD + b"Content-Length: %d\r\n\r\n" % len(RESULT) + RESULT
OUT = Direction.CLIENT_TO_SERVER
IN = Direction.SERVER_TO_CLIENT

SMALL = Limits(
    answer_s=5,
    quiet_s=0.02,
    max_body_bytes=200_000,
    max_line_bytes=5_000,
    max_events=100,
    max_header_bytes=8_000,
)
HASTY = Limits(answer_s=0.1, quiet_s=0.02)


async def ask(url: str, limits: Limits = SMALL) -> Answer:
    target = HttpTarget(url)
    async with open_connection(target, Tape(), limits) as connection:
        answer = await connection.send(HttpRequest("POST", target.plain_headers(BODY), BODY))
        if answer.ending is not Ending.COMPLETE:
            assert not connection.alive
    return answer


def saying(data: bytes) -> Callable[[Any], Any]:
    """A script: read the request, say `data`, wait for the caller to go."""

    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(data)
        await caller.gone()

    return script


def hanging_up_after(data: bytes) -> Callable[[Any], Any]:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(data)

    return script


async def until_dead(connection: HttpConnection) -> None:
    with anyio.fail_after(5):
        while connection.alive:
            await anyio.lowlevel.checkpoint()


def last(answer: Answer) -> tuple[Direction, str | None]:
    event = answer.events[-1]
    return event.direction, event.fields.get("event")


def whys(answer: Answer) -> list[str]:
    return [e.fields["why"] for e in answer.events if e.kind is EventKind.RAW]


async def test_a_reset_before_the_head_is_told_apart_from_silence(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.reset()

    async with serve(script) as url:
        answer = await ask(url)
    assert (answer.status, answer.ending) == (None, Ending.RESET)
    assert answer.detail == "the peer reset the connection before it answered"
    assert last(answer) == (IN, "transport-abort")
    assert blocked_reason(answer) == f"the connection broke: {answer.detail}"


@pytest.mark.parametrize(
    ("wire", "detail", "why"),
    [
        (b"", "before it answered", []),
        (
            b"HTTP/1.1 200 OK\r\nConte",
            "in the middle of the response head",
            ["cut short: the response head broke off"],
        ),
        (
            JSON_HEAD + b"Content-Length: 99\r\n\r\n{",
            "in the middle of the body",
            ["cut short: the body broke off"],
        ),
        (
            JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{\r\n",
            "in the middle of the body",
            ["cut short: the body broke off"],
        ),
    ],
)
async def test_a_connection_closed_too_early_is_a_reset(
    serve: Serve, wire: bytes, detail: str, why: list[str]
) -> None:
    async with serve(hanging_up_after(wire)) as url:
        answer = await ask(url)
    assert answer.ending is Ending.RESET
    assert answer.detail == f"the peer closed the connection {detail}"
    assert whys(answer) == why
    assert last(answer) == (IN, "transport-abort")


async def test_a_chunked_stream_that_breaks_off_has_no_end_and_its_rest_is_kept(
    serve: Serve,
) -> None:
    head = SSE_HEAD[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"
    async with serve(hanging_up_after(head + b"20\r\ndata: {}\n\ndata: {")) as url:
        answer = await ask(url)
    assert answer.ending is Ending.RESET
    assert [e.payload for e in answer.messages] == [{}]
    assert whys(answer) == ["cut short: an SSE event without the empty line that ends it"]
    assert not any(e.fields.get("end") for e in answer.events)


@pytest.mark.parametrize(
    "wire",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/1.1 OK\r\n\r\n",
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00",
        RESULT + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    ],
)
async def test_a_head_that_is_no_http_is_garbled_and_kept(serve: Serve, wire: bytes) -> None:
    async with serve(saying(wire)) as url:
        answer = await ask(url)
    assert (answer.status, answer.ending) == (None, Ending.GARBLED)
    assert answer.detail.startswith("no HTTP/1.1: ")
    assert whys(answer) == ["no HTTP/1.1 response head"]
    assert answer.raw_head == wire
    assert last(answer) == (IN, "transport-abort")
    assert blocked_reason(answer) is not None


async def test_a_body_that_is_framed_wrongly_is_garbled_and_kept(serve: Serve) -> None:
    wire = JSON_HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n"
    async with serve(saying(wire)) as url:
        answer = await ask(url)
    assert (answer.status, answer.ending) == (200, Ending.GARBLED)
    assert whys(answer) == [
        "cut short: the body broke off",
        "the piece in which the framing of the body is wrong",
    ]
    assert "zz" in [e for e in answer.events if e.kind is EventKind.RAW][-1].fields["text"]


async def test_an_html_page_is_complete_and_no_message(serve: Serve) -> None:
    page = b"<!doctype html><title>It works</title>"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page)
    async with serve(saying(head + page)) as url:
        answer = await ask(url)
    assert (answer.ending, answer.messages) == (Ending.COMPLETE, ())
    assert whys(answer) == ["a body of type 'text/html'"]


async def test_a_server_that_never_answers_runs_into_the_deadline(serve: Serve) -> None:
    async with serve(saying(b"")) as url:
        answer = await ask(url, HASTY)
    assert (answer.status, answer.ending) == (None, Ending.TIMEOUT)
    assert answer.detail == "no answer in 0.1 s"
    assert last(answer) == (OUT, "transport-abort")
    assert blocked_reason(answer) == "no whole answer in time: no answer in 0.1 s"


async def test_a_server_that_reads_nothing_runs_into_the_deadline(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await anyio.sleep_forever()

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), HASTY) as connection:
            body = b'"' + b"x" * 20_000_000 + b'"'
            answer = await connection.send(HttpRequest("POST", target.plain_headers(body), body))
    assert answer.ending is Ending.TIMEOUT


@pytest.mark.parametrize("head", [b"", JSON_HEAD + b"Content-Length: 999999\r\n\r\n", SSE_HEAD])
async def test_a_trickle_does_not_outlast_the_deadline(serve: Serve, head: bytes) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(head)
        while True:
            await caller.send(b"H" if not head else b":\n")
            await anyio.sleep(0.01)

    async with serve(script) as url:
        with anyio.fail_after(3):
            answer = await ask(url, HASTY)
    assert answer.ending is Ending.TIMEOUT


async def test_an_endless_stream_of_events_runs_into_the_bound(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(SSE_HEAD)
        while True:
            await caller.send(b"data: {}\n\n" * 10)

    async with serve(script) as url:
        answer = await ask(url)
    assert (answer.ending, answer.detail) == (Ending.LIMIT, "more than 100 events")
    assert last(answer) == (OUT, "transport-abort")


async def test_an_endless_event_runs_into_the_bound(serve: Serve) -> None:
    async with serve(saying(SSE_HEAD + b"data: {}\n\ndata: " + b"x" * 6_000)) as url:
        answer = await ask(url)
    assert answer.ending is Ending.LIMIT
    assert answer.detail == "an SSE event of more than 5000 bytes"
    assert len(answer.messages) == 1


async def test_an_endless_body_runs_into_the_bound(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(JSON_HEAD + b"\r\n")
        while True:
            await caller.send(b" " * 10_000)

    async with serve(script) as url:
        answer = await ask(url)
    assert (answer.ending, answer.detail) == (Ending.LIMIT, "a body of more than 200000 bytes")
    assert len(answer.body) < 400_000
    assert whys(answer)[0].startswith("cut short: the body broke off; the first 16384 of")


@pytest.mark.parametrize("endless", [b"a" * 1000, b"a\r\nX-A: " * 100])
async def test_an_endless_head_runs_into_the_bound(serve: Serve, endless: bytes) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(b"HTTP/1.1 200 OK\r\nX-A: ")
        while True:
            await caller.send(endless)

    async with serve(script) as url:
        answer = await ask(url)
    assert answer.ending is Ending.LIMIT
    assert answer.detail == "a response head of more than 8000 bytes"
    assert len(answer.raw_head) < 100_000


@pytest.mark.parametrize(
    ("max_events", "detail"),
    [(100, "more than 100 events"), (100_000, "a response head of more than 8000 bytes")],
)
async def test_endless_interim_heads_run_into_a_bound(
    serve: Serve, max_events: int, detail: str
) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        while True:
            await caller.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 50)

    async with serve(script) as url:
        answer = await ask(url, replace(SMALL, max_events=max_events))
    assert (answer.ending, answer.detail) == (Ending.LIMIT, detail)


async def test_bytes_after_the_end_of_the_answer_are_kept_and_end_the_connection(
    serve: Serve,
) -> None:
    async with serve(saying(SIZED + b'{"more":1}')) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), SMALL) as connection:
            answer = await connection.send(HttpRequest("POST", target.plain_headers(BODY), BODY))
            assert not connection.alive
            refused = await connection.send(HttpRequest("POST", target.plain_headers(BODY), BODY))
    assert answer.ending is Ending.COMPLETE
    assert whys(answer) == ["bytes after the end of the answer"]
    assert refused.ending is Ending.REFUSED
    assert refused.events == ()
    assert blocked_reason(refused) == "no connection: the connection is closed"


async def test_bytes_that_answer_no_request_are_kept(serve: Serve) -> None:
    tape = Tape()
    arrived = anyio.Event()

    async def script(caller: Any) -> None:
        await caller.send(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
        arrived.set()
        await caller.gone()

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, tape, SMALL) as connection:
            await arrived.wait()
            await until_dead(connection)
    (event,) = tape.events
    assert event.fields["why"] == "bytes that answer no request"
    assert event.fields["text"].startswith("HTTP/1.1 408")


async def test_a_server_that_closes_between_requests_leaves_the_connection_dead(
    serve: Serve,
) -> None:
    tape = Tape()
    may_close = anyio.Event()

    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(SIZED)
        await may_close.wait()

    async with serve(script) as url:
        target = HttpTarget(url)
        request = HttpRequest("POST", target.plain_headers(BODY), BODY)
        async with open_connection(target, tape, SMALL) as connection:
            first = await connection.send(request)
            assert connection.alive
            may_close.set()
            await until_dead(connection)
            recorded = tape.next_seq
            second = await connection.send(request)
    assert first.ending is Ending.COMPLETE
    assert second.ending is Ending.REFUSED
    assert tape.next_seq == recorded


async def test_a_connection_the_server_means_to_close_is_not_used_again(serve: Serve) -> None:
    wire = JSON_HEAD + b"Connection: close\r\nContent-Length: 2\r\n\r\n{}"
    async with serve(saying(wire)) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), SMALL) as connection:
            await connection.send(HttpRequest("POST", target.plain_headers(BODY), BODY))
            assert not connection.alive


async def test_a_cancelled_exchange_is_recorded_and_closes_the_connection(serve: Serve) -> None:
    tape = Tape()
    closed = anyio.Event()

    async def script(caller: Any) -> None:
        await caller.request()
        await caller.gone()
        closed.set()

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, tape, SMALL) as connection:
            with anyio.move_on_after(0.05):
                await connection.send(HttpRequest("POST", target.plain_headers(BODY), BODY))
            assert not connection.alive
            await closed.wait()
    assert tape.events[-1].fields == {"event": "transport-abort"}
    assert tape.events[-1].direction is OUT


async def test_an_error_of_the_caller_comes_out_as_it_is_and_closes_the_connection(
    serve: Serve,
) -> None:
    def until(event: Event) -> bool:
        raise LookupError("of the caller")

    async with serve(saying(SSE_HEAD + b"data: {}\n\n")) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), SMALL) as connection:
            with pytest.raises(LookupError, match="of the caller"):
                await connection.send(HttpRequest("GET", target.plain_headers()), until=until)
            assert not connection.alive


async def test_an_ipv6_server_is_reached(serve: Serve) -> None:
    try:
        probe = await anyio.create_tcp_listener(local_host="::1")
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    await probe.aclose()
    async with serve(saying(SIZED), host="::1") as url:
        assert (await ask(url)).status == 200
