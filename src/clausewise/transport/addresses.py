"""Which addresses a URL may lead to that a target, not the user, has named."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

import anyio

from clausewise.core.errors import TargetError
from clausewise.transport.targets import HttpTarget

_NAT64 = IPv6Network("64:ff9b::/96")
_LOW_32_BITS = 0xFFFFFFFF


class Neighbourhood(StrEnum):
    """What kind of network an address belongs to."""

    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    RESERVED = "reserved"
    """Multicast, unspecified and the like: no host is there."""


def neighbourhood(address: str) -> Neighbourhood:
    """The network that `address` (IPv4 or IPv6 text) belongs to.

    An IPv6 address that carries an IPv4 address (mapped, 6to4, NAT64) is where that one is.

    Raises:
        ValueError: it is no address.
    """
    found = _carried(ip_address(address.partition("%")[0]))
    if found.is_loopback:
        return Neighbourhood.LOOPBACK
    if found.is_link_local:
        return Neighbourhood.LINK_LOCAL
    if found.is_multicast or found.is_unspecified or found.is_reserved:
        return Neighbourhood.RESERVED
    return Neighbourhood.PUBLIC if found.is_global else Neighbourhood.PRIVATE


def _carried(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in _NAT64:
        inner = IPv4Address(int(address) & _LOW_32_BITS)
    return inner or address


def names_loopback(host: str) -> bool:
    """Whether a host name or address is this machine by its spelling alone."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return neighbourhood(host) is Neighbourhood.LOOPBACK
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class AddressGuard:
    """Admits the addresses of some neighbourhoods and no others."""

    admitted: frozenset[Neighbourhood]

    async def addresses(self, host: str, port: int, seconds: float) -> tuple[str, ...]:
        """The admitted addresses of `host`, best first: connect to these, not to the name.

        Raises:
            TargetError: the name does not resolve in `seconds`, or only to addresses that
                are not admitted.
        """
        known = await look_up(host, port, seconds)
        admitted = tuple(one for one in known if neighbourhood(one) in self.admitted)
        if not admitted:
            where = " and ".join(sorted({neighbourhood(one) for one in known}))
            raise TargetError(
                f"{host} is at a {where} address, where a server elsewhere must not send us"
            )
        return admitted


async def guard_of(target: HttpTarget, seconds: float) -> AddressGuard:
    """The guard for URLs that `target` names: public addresses, and its own neighbourhood.

    Raises:
        TargetError: the target's host does not resolve.
    """
    own = await look_up(target.host, target.port, seconds)
    return guard_for(own)


def guard_for(addresses: Iterable[str]) -> AddressGuard:
    """The guard for URLs that somebody at one of `addresses` names."""
    return AddressGuard(frozenset({Neighbourhood.PUBLIC, *map(neighbourhood, addresses)}))


async def look_up(host: str, port: int, seconds: float) -> tuple[str, ...]:
    """The addresses of `host`, best first.

    Raises:
        TargetError: it does not resolve in `seconds`.
    """
    try:
        with anyio.fail_after(seconds):
            found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "no answer in time"
        raise TargetError(
            f"the host name {host} does not resolve: {why}",
            "Check the spelling of the host and the network.",
        ) from None
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))
