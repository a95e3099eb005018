"""HTTPS: a trusted certificate works, anything else is a clear error before anything is sent."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
import trustme

from clausewise.core.errors import TargetError, UsageError
from clausewise.trace.tape import Tape
from clausewise.transport.answers import Ending
from clausewise.transport.http import HttpRequest, HttpTarget, open_connection
from clausewise.transport.limits import Limits

pytestmark = pytest.mark.anyio

Serve = Callable[..., AbstractAsyncContextManager[str]]

RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}'
SIZED = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(RESULT) + RESULT


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def ca_file(authority: trustme.CA, tmp_path: Path) -> str:
    path = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


def server_context(authority: trustme.CA, host: str = "127.0.0.1") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    return context


async def answering(caller: Any) -> None:
    for _ in range(2):
        await caller.request()
        await caller.send(SIZED)
    await caller.gone()


async def unreachable(target: HttpTarget, limits: Limits = Limits()) -> TargetError:
    with pytest.raises(TargetError) as caught:
        async with open_connection(target, Tape(), limits):
            raise AssertionError("there is no connection")
    return caught.value


async def test_a_trusted_certificate_carries_several_exchanges(
    serve: Serve, authority: trustme.CA, ca_file: str
) -> None:
    shaken_hands = anyio.Event()

    async def script(caller: Any) -> None:
        shaken_hands.set()  # the session tickets of TLS 1.3 are on their way
        await answering(caller)

    async with serve(script, tls=server_context(authority)) as url:
        target = HttpTarget(url, ca_file=ca_file)
        async with open_connection(target, Tape()) as connection:
            await shaken_hands.wait()
            for _ in range(2):
                assert connection.alive
                answer = await connection.send(HttpRequest("GET", target.plain_headers()))
                assert answer.ending is Ending.COMPLETE
                assert answer.response_to(1) is not None


async def test_a_close_between_requests_is_seen_through_tls(
    serve: Serve, authority: trustme.CA, ca_file: str
) -> None:
    async def once(caller: Any) -> None:
        await caller.request()
        await caller.send(SIZED)

    async with serve(once, tls=server_context(authority)) as url:
        target = HttpTarget(url, ca_file=ca_file)
        async with open_connection(target, Tape()) as connection:
            await connection.send(HttpRequest("GET", target.plain_headers()))
            with anyio.fail_after(5):
                while connection.alive:
                    await anyio.lowlevel.checkpoint()


async def test_a_certificate_of_an_unknown_authority_is_refused(
    serve: Serve, authority: trustme.CA
) -> None:
    async with serve(answering, tls=server_context(authority)) as url:
        error = await unreachable(HttpTarget(url))
    assert "is not trusted: " in error.message
    assert "authority" in error.hint


async def test_a_certificate_for_another_host_is_refused(
    serve: Serve, authority: trustme.CA, ca_file: str
) -> None:
    async with serve(answering, tls=server_context(authority, "example.org")) as url:
        error = await unreachable(HttpTarget(url, ca_file=ca_file))
    assert "is not trusted: IP address mismatch" in error.message


async def test_without_verification_any_certificate_will_do(
    serve: Serve, authority: trustme.CA
) -> None:
    async with serve(answering, tls=server_context(authority, "example.org")) as url:
        target = HttpTarget(url, verify=False)
        async with open_connection(target, Tape()) as connection:
            answer = await connection.send(HttpRequest("GET", target.plain_headers()))
    assert answer.status == 200


async def test_a_server_that_speaks_plain_http_is_told(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.stream.receive()
        await caller.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with serve(script) as url:
        error = await unreachable(HttpTarget(url.replace("http:", "https:")))
    assert "no TLS connection to 127.0.0.1" in error.message
    assert "http://" in error.hint


async def test_a_server_that_hangs_up_in_the_handshake_is_told(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.stream.receive()

    async with serve(script) as url:
        error = await unreachable(HttpTarget(url.replace("http:", "https:")))
    assert "no TLS connection to 127.0.0.1" in error.message


async def test_a_handshake_that_stalls_runs_into_the_deadline(serve: Serve) -> None:
    async def script(caller: Any) -> None:
        await caller.gone()

    async with serve(script) as url:
        target = HttpTarget(url.replace("http:", "https:"))
        error = await unreachable(target, Limits(connect_s=0.1))
    assert error.message.endswith("in 0.1 s")


async def test_a_missing_file_of_authorities_is_a_usage_error(tmp_path: Path) -> None:
    target = HttpTarget("https://127.0.0.1:1/", ca_file=str(tmp_path / "none.pem"))
    with pytest.raises(UsageError, match=r"cannot read certificates from .*none\.pem"):
        async with open_connection(target, Tape()):
            raise AssertionError("there is no connection")
