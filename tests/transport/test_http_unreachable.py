"""Servers that are not there: a clear error each."""

from __future__ import annotations

import socket

import anyio
import pytest

from clausewise.core.errors import TargetError
from clausewise.trace.tape import Tape
from clausewise.transport.http import HttpTarget, open_connection
from clausewise.transport.limits import Limits

pytestmark = pytest.mark.anyio


async def test_a_port_where_nothing_listens_is_a_clear_error() -> None:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    await listener.aclose()
    with pytest.raises(TargetError, match=f"no connection to 127.0.0.1 port {port}: ") as caught:
        async with open_connection(HttpTarget(f"http://127.0.0.1:{port}/"), Tape(), Limits()):
            raise AssertionError("there is no connection")
    assert "Check that the server runs" in caught.value.hint


async def test_a_host_that_does_not_resolve_is_a_clear_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    with pytest.raises(TargetError) as caught:
        async with open_connection(HttpTarget("http://nowhere.invalid/mcp"), Tape(), Limits()):
            raise AssertionError("there is no connection")
    expected = "the host name nowhere.invalid does not resolve: Name or service not known"
    assert caught.value.message == expected
