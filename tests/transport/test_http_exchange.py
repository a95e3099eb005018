"""An HTTP exchange with a server that behaves: what goes out, comes back and is recorded."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
import pytest

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import Event, EventKind
from clausewise.trace.tape import Tape
from clausewise.transport.answers import Ending
from clausewise.transport.http import HttpRequest, HttpTarget, open_connection
from clausewise.transport.limits import Limits

pytestmark = pytest.mark.anyio

Serve = Callable[..., AbstractAsyncContextManager[str]]

LIMITS = Limits(connect_s=5, answer_s=5, quiet_s=0.02)
BODY = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}'
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
SSE_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream; charset=utf-8\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
OUT = Direction.CLIENT_TO_SERVER
IN = Direction.SERVER_TO_CLIENT


def post(target: HttpTarget, body: bytes = BODY) -> HttpRequest:
    return HttpRequest("POST", target.plain_headers(body), body)


def sized(body: bytes, head: bytes = JSON_HEAD) -> bytes:
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def outline(events: tuple[Event, ...]) -> list[tuple[Direction, EventKind, Any]]:
    """Direction, kind and content of each event."""
    content: dict[EventKind, Callable[[Event], Any]] = {
        EventKind.MESSAGE: lambda e: e.payload.get("id") if isinstance(e.payload, dict) else None,
        EventKind.HTTP: lambda e: e.fields.get("method") or e.fields.get("status"),
        EventKind.RAW: lambda e: e.fields["why"],
        EventKind.LIFECYCLE: lambda e: e.fields["event"],
        EventKind.SSE: lambda e: dict(e.fields),
    }
    return [(e.direction, e.kind, content[e.kind](e)) for e in events]


async def test_the_request_goes_out_exactly_as_given(serve: Serve) -> None:
    seen: list[bytes] = []

    async def script(caller: Any) -> None:
        seen.append(await caller.request())
        await caller.send(sized(RESULT))

    headers = (
        (b"mCp-MeThOd", b"tools/call"),
        (b"Accept", b"a"),
        (b"accept", b"b"),
        (b"Mcp-Param-X", b"a\x01b\xff"),
        (b"Content-Length", b"2"),
    )
    async with serve(script) as url:
        target = HttpTarget(url + "?key=secret")
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(HttpRequest("pOST", headers, b"{}"))
    assert answer.status == 200
    expected = (
        b"pOST /mcp?key=secret HTTP/1.1\r\nmCp-MeThOd: tools/call\r\nAccept: a\r\naccept: b\r\n"
        b"Mcp-Param-X: a\x01b\xff\r\nContent-Length: 2\r\n\r\n{}"
    )
    assert seen == [expected]


async def test_a_json_answer_is_recorded_under_one_exchange_and_matched_by_id(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(sized(RESULT))

    tape = Tape()
    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, tape, LIMITS) as connection:
            answer = await connection.send(post(target), session="s", injected="a fault")
    assert outline(tape.events) == [
        (OUT, EventKind.HTTP, "POST"),
        (OUT, EventKind.MESSAGE, 1),
        (IN, EventKind.HTTP, 200),
        (IN, EventKind.MESSAGE, 1),
    ]
    assert answer.events == tape.events
    assert {(e.exchange, e.session) for e in tape.events} == {(answer.exchange, "s")}
    assert [e.injected for e in tape.events] == ["a fault", "a fault", None, None]
    assert tape.events[1].text == BODY
    assert answer.ending is Ending.COMPLETE
    assert answer.body == RESULT
    assert answer.media_type == "application/json"
    assert answer.headers[0] == (b"Content-Type", b"application/json")
    assert answer.raw_head == sized(RESULT)[: -len(RESULT)]
    assert answer.response_to(1) is tape.events[3]
    assert answer.response_to("1") is None


async def test_credentials_and_the_query_never_reach_the_tape(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        for _ in range(2):
            await caller.request()
            await caller.send(sized(RESULT, JSON_HEAD + b"Set-Cookie: secret\r\n"))

    tape = Tape()
    async with serve(script) as url:
        target = HttpTarget(
            url + "?token=secret",
            (("Authorization", "Bearer secret"), ("X-Api-Key", "secret"), ("Cookie", "secret")),
        )
        async with open_connection(target, tape, LIMITS) as connection:
            await connection.send(post(target))
            path = HttpRequest("GET", target.plain_headers(), path="/else?token=secret")
            await connection.send(path)
    recorded = repr(tape.events)
    assert "secret" not in recorded
    assert "'path': '/mcp'" in recorded
    assert "'path': '/else'" in recorded


async def test_each_exchange_on_a_kept_connection_has_its_own_number(serve: Serve) -> None:
    connections = 0

    async def script(caller: Any) -> None:
        nonlocal connections
        connections += 1
        for _ in range(3):
            await caller.request()
            await caller.send(sized(RESULT))

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answers = [await connection.send(post(target)) for _ in range(3)]
    assert connections == 1
    assert [a.ending for a in answers] == [Ending.COMPLETE] * 3
    assert len({a.exchange for a in answers}) == 3


@pytest.mark.parametrize(
    "wire",
    [
        sized(RESULT),
        JSON_HEAD
        + b"Transfer-Encoding: chunked\r\n\r\n"
        + chunk(RESULT[:9])
        + chunk(RESULT[9:])
        + b"0\r\nTrailer: x\r\n\r\n",
        JSON_HEAD + b"Connection: close\r\n\r\n" + RESULT,
        b"HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n" + RESULT,
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + sized(RESULT),
    ],
    ids=["content-length", "chunked", "close-delimited", "http-1.0", "interim-heads"],
)
@pytest.mark.parametrize("piece", [1, 7, 10_000])
async def test_every_framing_gives_the_same_message(serve: Serve, wire: bytes, piece: int) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        for start in range(0, len(wire), piece):
            await caller.send(wire[start : start + piece])

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(post(target))
    assert answer.ending is Ending.COMPLETE
    assert answer.body == RESULT
    assert answer.response_to(1) is not None
    statuses = [e.status for e in answer.events if e.status is not None]
    assert statuses == ([100, 103, 200] if b"103 Early" in wire else [200])


async def test_a_stream_is_recorded_as_it_arrives_and_ends_by_itself(serve: Serve) -> None:
    stream = (
        b": hello\n\nid: 1\nretry: 500\ndata:\n\ndata:\n\n"
        b'event: ping\ndata: {"x":1}\n\n'
        b'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'
        b"oops\n"
        b'id: 2\nevent: message\ndata: {"jsonrpc":"2.0",\ndata: "id":1,"result":{}}\n\n'
    )

    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(SSE_HEAD + chunk(stream) + b"0\r\n\r\n")
        await caller.gone()

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(post(target))
            assert connection.alive
    assert answer.ending is Ending.COMPLETE
    assert answer.media_type == "text/event-stream"
    assert outline(answer.events[3:]) == [
        (IN, EventKind.SSE, {"comment": "hello"}),
        (IN, EventKind.SSE, {"id": "1", "retry": 500}),
        (IN, EventKind.SSE, {}),
        (IN, EventKind.SSE, {"event": "ping"}),
        (IN, EventKind.RAW, "the data of an SSE event of type 'ping'"),
        (IN, EventKind.MESSAGE, None),
        (IN, EventKind.RAW, "an SSE line that names no known field"),
        (IN, EventKind.SSE, {"id": "2", "event": "message"}),
        (IN, EventKind.MESSAGE, 1),
        (IN, EventKind.SSE, {"end": True}),
    ]
    assert {e.stream for e in answer.events[3:]} == {f"stream-{answer.exchange}"}
    assert {e.stream for e in answer.events[:3]} == {None}
    assert len(answer.messages) == 2


async def test_utf8_and_blank_lines_split_over_chunks_are_joined(serve: Serve) -> None:
    stream = 'data: {"jsonrpc":"2.0","id":1,"result":{"text":"世界\u2028"}}\r\n\r\n'.encode()

    async def script(caller: Any) -> None:
        await caller.request()
        pieces = (chunk(stream[i : i + 1]) for i in range(len(stream)))
        await caller.send(SSE_HEAD + b"".join(pieces) + b"0\r\n\r\n")

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(post(target))
    response = answer.response_to(1)
    assert response is not None
    assert response.payload["result"] == {"text": "世界\u2028"}


async def test_an_awaited_message_ends_the_reading_of_an_endless_stream(serve: Serve) -> None:
    closed = anyio.Event()
    asked: list[Event] = []

    def until(event: Event) -> bool:
        asked.append(event)
        return bool(event.payload.get("id") == 1)

    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(SSE_HEAD + chunk(b"data: " + RESULT + b"\n\ndata: {}\n\n"))
        await caller.gone()
        closed.set()

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            with anyio.fail_after(LIMITS.answer_s / 2):
                answer = await connection.send(post(target), until=until)
            await closed.wait()
            assert not connection.alive
    assert answer.ending is Ending.CUT
    assert answer.response_to(1) is not None
    assert len(answer.messages) == 2
    assert asked == [answer.messages[0]]
    assert outline(answer.events[-1:]) == [(OUT, EventKind.LIFECYCLE, "transport-abort")]


async def test_a_stream_that_ends_after_the_awaited_message_is_complete(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(SSE_HEAD + chunk(b"data: " + RESULT + b"\n\n"))
        await caller.send(b"0\r\n\r\n")

    async with serve(script) as url:
        target = HttpTarget(url)
        limits = Limits(quiet_s=5)
        async with open_connection(target, Tape(), limits) as connection:
            answer = await connection.send(post(target), until=lambda e: e.payload.get("id") == 1)
    assert answer.ending is Ending.COMPLETE
    assert answer.events[-1].fields == {"end": True}


@pytest.mark.parametrize("status", [202, 204, 301, 401, 405, 503])
async def test_a_status_without_a_body_is_just_given_back(serve: Serve, status: int) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        head = b"HTTP/1.1 %d X\r\nLocation: /other\r\n" % status
        await caller.send(head + (b"\r\n" if status == 204 else b"Content-Length: 0\r\n\r\n"))

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(post(target))
    assert (answer.status, answer.ending, answer.body) == (status, Ending.COMPLETE, b"")
    assert [e.kind for e in answer.events[2:]] == [EventKind.HTTP]


async def test_the_answer_to_a_head_request_has_no_body_whatever_its_length_says(
    serve: Serve,
) -> None:
    async def script(caller: Any) -> None:
        for _ in range(2):
            await caller.request()
            await caller.send(JSON_HEAD + b"Content-Length: 99\r\n\r\n")

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            request = HttpRequest("HEAD", target.plain_headers())
            answers = [await connection.send(request) for _ in range(2)]
    assert [(a.ending, a.body) for a in answers] == [(Ending.COMPLETE, b"")] * 2


@pytest.mark.parametrize(
    ("content_type", "body", "kind", "why"),
    [
        ("application/json", b"[1]", EventKind.MESSAGE, ""),
        ("application/problem+json; charset=utf-8", b'"x"', EventKind.MESSAGE, ""),
        ("text/html", RESULT, EventKind.MESSAGE, ""),
        ("application/json", RESULT + RESULT, EventKind.RAW, "no JSON"),
        ("application/json", b"\xff", EventKind.RAW, "no JSON: not UTF-8"),
        ("text/plain", b"404", EventKind.RAW, "a body of type 'text/plain'"),
        ("text/html", b"<p>" + b"x" * 20_000, EventKind.RAW, "the first 16384 of 20003 bytes"),
        (
            "text/html",
            b"<p>" + "世".encode() * 6_000,
            EventKind.RAW,
            "the first 16383 of 18003 bytes",
        ),
    ],
)
async def test_a_body_is_a_message_or_raw_with_a_reason(
    serve: Serve, content_type: str, body: bytes, kind: EventKind, why: str
) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: " + content_type.encode() + b"\r\n"
        await caller.send(sized(body, head))

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(post(target))
    (event,) = answer.events[3:]
    assert event.kind is kind
    assert why in event.fields.get("why", "")
    assert ("base64" in event.fields) == (body == b"\xff")
    assert answer.body == body


async def test_a_body_in_a_coding_nobody_asked_for_is_raw(serve: Serve) -> None:
    body = gzip.compress(RESULT)

    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(sized(body, JSON_HEAD + b"Content-Encoding: gzip\r\n"))

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(post(target))
    (event,) = answer.events[3:]
    assert event.fields["why"] == "a body in the coding 'gzip', which was not asked for"
    assert "base64" in event.fields
    assert answer.messages == ()


async def test_the_coding_identity_is_no_coding(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(sized(RESULT, JSON_HEAD + b"Content-Encoding: Identity\r\n"))

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(post(target))
    assert answer.response_to(1) is not None


async def test_a_request_body_that_is_no_json_is_recorded_raw(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.request()
        await caller.send(sized(b""))

    async with serve(script) as url:
        target = HttpTarget(url)
        async with open_connection(target, Tape(), LIMITS) as connection:
            answer = await connection.send(post(target, b"{"), injected="no JSON")
    event = answer.events[1]
    assert (event.kind, event.fields["text"], event.injected) == (EventKind.RAW, "{", "no JSON")
