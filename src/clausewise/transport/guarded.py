"""Single requests to URLs that somebody else has named, each over a guarded connection."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from clausewise.core.errors import TargetError
from clausewise.trace.tape import Tape
from clausewise.transport.addresses import AddressGuard
from clausewise.transport.answers import Answer
from clausewise.transport.http import open_connection
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpRequest, HttpTarget

_MAX_ADDRESSES = 3

Origin = tuple[str, str, int | None]
"""Scheme, host and port, comparable."""


class GuardedSender:
    """Sends requests on behalf of a conversation with `home`.

    The user's own headers go to the origin of `home` alone, and never the Authorization
    header. Addresses must pass `guard`, unless the origin is that of `home`, which the user
    has named.
    """

    def __init__(self, home: HttpTarget, guard: AddressGuard, tape: Tape, limits: Limits) -> None:
        self._home = home
        self._guard = guard
        self._tape = tape
        self._limits = limits

    async def send(
        self,
        url: str,
        method: str = "GET",
        headers: tuple[tuple[bytes, bytes], ...] = (),
        body: bytes = b"",
    ) -> Answer:
        """Send one request; `headers` come after those that any proper request carries.

        Raises:
            TargetError: the host does not resolve or answer, or is not admitted.
            UsageError: `url` is no http or https URL.
        """
        target = HttpTarget(url, verify=self._home.verify, ca_file=self._home.ca_file)
        if origin_of(url) == origin_of(self._home.url):
            others = tuple(h for h in self._home.headers if h[0].lower() != "authorization")
            return await self._send(replace(target, headers=others), method, headers, body)
        seconds = self._limits.connect_s
        addresses = await self._guard.addresses(target.host, target.port, seconds)
        *others_first, last = addresses[:_MAX_ADDRESSES]
        for address in others_first:
            try:
                return await self._send(replace(target, address=address), method, headers, body)
            except TargetError:
                continue
        return await self._send(replace(target, address=last), method, headers, body)

    async def _send(
        self,
        target: HttpTarget,
        method: str,
        headers: tuple[tuple[bytes, bytes], ...],
        body: bytes,
    ) -> Answer:
        request = HttpRequest(method, (*target.plain_headers(body), *headers), body)
        async with open_connection(target, self._tape, self._limits) as connection:
            return await connection.send(request)


def origin_of(url: str) -> Origin | None:
    """Scheme, host and port of a URL, comparable; None when it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port or {"http": 80, "https": 443}.get(parts.scheme)
