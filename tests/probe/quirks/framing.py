"""Quirks of HTTP: how answers are framed, what stands in front of the server."""

from __future__ import annotations

import gzip
import json
import secrets
from collections import deque
from dataclasses import replace

import anyio

from clausewise.reference.defects.rewiring import on_head
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.http_outlet import SSE_HEADERS
from clausewise.reference.options import ServerOptions
from clausewise.reference.wiring import ENDPOINT
from tests.probe.quirks.serving import Front, Quirk

_CHUNK_BYTES = 7


def is_json(head: HttpHead) -> bool:
    """Whether an answer is JSON."""
    return ("Content-Type", "application/json") in head.headers


def retyped(head: HttpHead, media_type: str) -> HttpHead:
    """The head with another Content-Type."""
    others = tuple(header for header in head.headers if header[0] != "Content-Type")
    return replace(head, headers=(("Content-Type", media_type), *others))


class Closing(HttpExchange):
    """Closes the connection after each answer."""

    async def respond(self, head: HttpHead, body: bytes = b"") -> None:
        self.keep_alive = False
        await super().respond(head, body)

    async def open(self, head: HttpHead) -> None:
        self.keep_alive = False
        await super().open(head)


class CloseDelimited(HttpExchange):
    """The end of the connection is the end of the answer, as in HTTP/1.0."""

    async def respond(self, head: HttpHead, body: bytes = b"") -> None:
        await self.open(head)
        await self.send_raw(body)

    async def open(self, head: HttpHead) -> None:
        self.started, self.keep_alive = True, False
        await self.send_raw(self._head_bytes(head, ("Connection", "close")))

    async def write(self, data: bytes) -> None:
        await self.send_raw(data)

    async def close(self) -> None:
        """The connection closes after the answer."""


class Chunked(HttpExchange):
    """Chunks of a few bytes, with extensions and a trailer, after an interim answer."""

    async def respond(self, head: HttpHead, body: bytes = b"") -> None:
        if not body:
            await super().respond(head, body)
            return
        await self.open(head)
        await self.write(body)
        await self.close()

    async def open(self, head: HttpHead) -> None:
        await self.send_raw(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        await super().open(head)

    async def write(self, data: bytes) -> None:
        for at in range(0, len(data), _CHUNK_BYTES):
            piece = data[at : at + _CHUNK_BYTES]
            await self.send_raw(b"%X;ext=1\r\n%b\r\n" % (len(piece), piece))

    async def close(self) -> None:
        await self.send_raw(b"0\r\nServer-Timing: total;dur=1\r\n\r\n")


class Streaming(HttpExchange):
    """Answers every request that succeeds by a stream."""

    async def respond(self, head: HttpHead, body: bytes = b"") -> None:
        if head.status != 200 or not is_json(head) or self.request.method != "POST":
            await super().respond(head, body)
            return
        others = tuple(header for header in head.headers if header[0] != "Content-Type")
        await self.open(replace(head, headers=SSE_HEADERS + others))
        if self.request.value("mcp-method") is None:  # 2025-11-25 wants an event to resume after
            await self.write(b"id: %b\ndata: \n\n" % secrets.token_hex(8).encode())
        await self.write(b"data: " + body + b"\n\n")
        await self.close()


class Wordy(Streaming):
    """Streams with everything that Server-Sent Events allow, CRLF line ends among it."""

    async def open(self, head: HttpHead) -> None:
        await super().open(head)
        await super().write(b"\xef\xbb\xbf: welcome\r\n\r\nretry: 1000\r\n\r\n: keep-alive\r\n\r\n")

    async def write(self, data: bytes) -> None:
        lines = []
        for line in data.split(b"\n"):
            name, _, value = line.partition(b": ")
            if name == b"data" and value:
                text = json.dumps(json.loads(value), indent=1)
                lines += [b"event:message", b":aside"]
                lines += [b"data:" + part.encode() for part in text.split("\n")]
            else:
                lines.append(line)
        await super().write(b"\r\n".join(lines) + b": keep-alive\r\n\r\n")


class CarriageReturns(Streaming):
    """Streams whose lines end with a lone CR, each in a chunk of its own."""

    async def write(self, data: bytes) -> None:
        for line in data.split(b"\n")[:-1]:
            await super().write(line + b"\r")


class Compressed(HttpExchange):
    """Compresses what the client lets it compress."""

    async def respond(self, head: HttpHead, body: bytes = b"") -> None:
        if body and "gzip" in (self.request.value("accept-encoding") or ""):
            extra = (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))
            head, body = replace(head, headers=head.headers + extra), gzip.compress(body)
        await super().respond(head, body)


class Shouting(HttpExchange):
    """Odd but right spelling of header names, values and the status line."""

    def _head_bytes(self, head: HttpHead, framing: tuple[str, str]) -> bytes:
        status, _, rest = super()._head_bytes(head, framing).partition(b"\r\n")
        lines = []
        for line in rest[:-4].split(b"\r\n"):
            name, _, value = line.partition(b": ")
            lines.append(name.upper() + b":\t" + value + b" ")
        code = status.split(b" ")[1]
        return b"HTTP/1.1 " + code + b" \r\n" + b"\r\n".join(lines) + b"\r\n\r\n"


class Pretty(HttpExchange):
    """JSON with line breaks, blanks, escapes, and its members in another order."""

    async def respond(self, head: HttpHead, body: bytes = b"") -> None:
        if is_json(head) and body:
            members = reversed(json.loads(body).items())
            body = b"\r\n " + json.dumps(dict(members), indent="\t").encode() + b"\r\n\r\n"
        await super().respond(head, body)


class Tardy(HttpExchange):
    """Takes its time before each answer."""

    async def respond(self, head: HttpHead, body: bytes = b"") -> None:
        await anyio.sleep(0.03)
        await super().respond(head, body)


def every_nth(number: int, head: HttpHead) -> Front:
    """Answers every so-manieth request to the endpoint with `head` alone."""
    count = 0

    async def front(exchange: HttpExchange) -> bool:
        nonlocal count
        count += 1
        if count % number:
            return True
        await exchange.respond(head, b"try again later")
        return False

    return front


def at_most(per_second: int) -> Front:
    """Refuses what goes beyond so many requests in the second before."""
    let_in: deque[float] = deque(maxlen=per_second)

    async def front(exchange: HttpExchange) -> bool:
        now = anyio.current_time()
        if len(let_in) == per_second and now - let_in[0] < 1:
            await exchange.respond(_LATER, b"try again later")
            return False
        let_in.append(now)
        return True

    return front


def wants_key(exchange_header: str, value: str) -> Front:
    """Forbids who has not the key."""

    async def front(exchange: HttpExchange) -> bool:
        if exchange.request.value(exchange_header) == value:
            return True
        await exchange.respond(HttpHead(403, (("Content-Type", "text/plain"),)), b"no key")
        return False

    return front


def gateway() -> Front:
    """Answers OPTIONS and HEAD itself."""
    cors = (("Access-Control-Allow-Origin", "https://app.example"), ("Vary", "Origin"))

    async def front(exchange: HttpExchange) -> bool:
        if exchange.request.method == "OPTIONS":
            await exchange.respond(HttpHead(204, cors))
        elif exchange.request.method == "HEAD":
            await exchange.respond(HttpHead(200, cors))
        else:
            return True
        return False

    return front


def redirecting(status: int, to: str) -> Front:
    """Sends who comes to the endpoint to another path, which serves."""

    async def front(exchange: HttpExchange) -> bool:
        if exchange.request.path == ENDPOINT:
            await exchange.respond(HttpHead(status, (("Location", to),)))
            return False
        if exchange.request.path == to:
            exchange.request = replace(exchange.request, path=ENDPOINT)
        return True

    return front


def bare_refusals() -> Front:
    """Refuses other methods and foreign origins without a word."""

    async def front(exchange: HttpExchange) -> bool:
        request = exchange.request
        origin = request.value("origin")
        if origin is not None and "127.0.0.1" not in origin and "localhost" not in origin:
            await exchange.respond(HttpHead(403, (("Content-Type", "text/html"),)), b"<h1>No")
        elif request.method not in ("POST", "GET", "DELETE"):
            await exchange.respond(HttpHead(405, (("Allow", "POST"),)))
        else:
            return True
        return False

    return front


def post_only() -> Front:
    """Offers neither GET nor DELETE, as both revisions allow."""

    async def front(exchange: HttpExchange) -> bool:
        if exchange.request.method == "POST" or exchange.request.path != ENDPOINT:
            return True
        text = (("Content-Type", "text/plain; charset=utf-8"), ("Allow", "POST"))
        await exchange.respond(HttpHead(405, text), b"Method Not Allowed")
        return False

    return front


def with_headers(*headers: tuple[str, str]):  # type: ignore[no-untyped-def]
    return on_head(lambda _a, _h: True, lambda head: replace(head, headers=head.headers + headers))


_LATER = HttpHead(429, (("Retry-After", "1"), ("Content-Type", "text/plain")))
BUSY = HttpHead(503, (("Retry-After", "1"), ("Content-Type", "text/plain")))

QUIRKS = (
    Quirk("closes the connection after each answer", exchange=Closing),
    Quirk("ends each answer with the connection", exchange=CloseDelimited),
    Quirk("sends tiny chunks, a trailer and interim answers", exchange=Chunked),
    Quirk("answers by streams alone", exchange=Streaming),
    Quirk("sends comments, retry, a BOM and multi-line data with CRLF", exchange=Wordy),
    Quirk("ends the lines of streams with CR", exchange=CarriageReturns),
    Quirk("compresses its answers", exchange=Compressed),
    Quirk("spells header names in capitals", exchange=Shouting),
    Quirk("writes JSON over many lines", exchange=Pretty),
    Quirk("takes its time", exchange=Tardy),
    Quirk(
        "names the character set of its media types",
        rewire=on_head(
            lambda _a, head: is_json(head),
            lambda head: retyped(head, 'Application/JSON ;Charset="UTF-8"'),
        ),
    ),
    Quirk(
        "adds headers of all kinds",
        rewire=with_headers(
            ("Server", "nginx"),
            ("Set-Cookie", "a=b; HttpOnly"),
            ("Set-Cookie", "c=d; HttpOnly"),
            ("Vary", "Origin"),
            ("X-Frame-Options", "DENY"),
            ("Alt-Svc", 'h3=":443"'),
            ("Mcp-Extra", "1"),
        ),
    ),
    Quirk("limits the rate", front=lambda: at_most(60)),
    Quirk(
        "forbids clients without a key of its own",
        front=lambda: wants_key("x-api-key", "s3cret"),
        headers=(("X-Api-Key", "s3cret"),),
    ),
    Quirk("stands behind a gateway that answers OPTIONS and HEAD", front=gateway),
    Quirk("refuses without a JSON body", front=bare_refusals),
    Quirk("offers POST alone", front=post_only),
    Quirk("is at the root", at="/"),
    Quirk("is deep below, with a query", at="/v1/teams/blue/mcp-server?tenant=7"),
    Quirk("is on IPv6", options=ServerOptions(host="::1")),
)
