"""Which addresses a URL may lead to that somebody else has named."""

from __future__ import annotations

import anyio
import pytest

from clausewise.core.errors import TargetError
from clausewise.transport.addresses import (
    AddressGuard,
    Neighbourhood,
    guard_for,
    guard_of,
    names_loopback,
    neighbourhood,
)
from clausewise.transport.targets import HttpTarget

PUBLIC = AddressGuard(frozenset({Neighbourhood.PUBLIC}))


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("93.184.216.34", "public"),
        ("2606:2800:220:1::1", "public"),
        ("127.0.0.1", "loopback"),
        ("127.8.9.1", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("2002:7f00:1::", "loopback"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),
        ("fd00::1", "private"),
        ("::ffff:10.0.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("0.0.0.0", "reserved"),
        ("224.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("::", "reserved"),
    ],
)
def test_each_address_is_in_one_neighbourhood(address: str, where: str) -> None:
    assert neighbourhood(address) == where


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("localhost", True),
        ("app.localhost", True),
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost.example.com", False),
        ("10.0.0.1", False),
        ("", False),
    ],
)
def test_loopback_is_told_by_its_spelling(host: str, is_loopback: bool) -> None:
    assert names_loopback(host) is is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "0.0.0.0"])
def test_the_guard_refuses_what_is_not_public(host: str) -> None:
    with pytest.raises(TargetError, match="must not send us"):
        anyio.run(PUBLIC.addresses, host, 80, 5.0)


def test_a_target_may_name_its_own_neighbourhood_and_public_hosts() -> None:
    guard = anyio.run(guard_of, HttpTarget("http://127.0.0.1:8000/mcp"), 5.0)
    assert anyio.run(guard.addresses, "127.0.0.2", 80, 5.0) == ("127.0.0.2",)
    assert anyio.run(guard.addresses, "93.184.216.34", 80, 5.0) == ("93.184.216.34",)
    with pytest.raises(TargetError):
        anyio.run(guard.addresses, "10.0.0.1", 80, 5.0)


def test_a_public_target_may_not_name_this_machine() -> None:
    assert guard_for(["93.184.216.34"]) == PUBLIC


def test_a_name_that_does_not_resolve_is_an_error() -> None:
    with pytest.raises(TargetError, match="does not resolve"):
        anyio.run(PUBLIC.addresses, "nowhere.invalid", 80, 5.0)
