"""Fetch a JSON document by GET over the guarded, recorded transport: bounded in every way."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin, urlsplit

from clausewise.core.errors import TargetError, UsageError
from clausewise.core.vocabulary import Direction
from clausewise.trace.tape import Tape
from clausewise.transport.addresses import AddressGuard
from clausewise.transport.answers import Answer, Ending
from clausewise.transport.http import open_connection
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpRequest, HttpTarget
from clausewise.wire.jsontext import JsonTextError, decode

MAX_DOCUMENT_BYTES = 256 * 1024
MAX_ANSWER_S = 5.0
MAX_REDIRECTS = 3
_MAX_ADDRESSES = 3
_OK = 200
_GONE = frozenset({404, 405, 410})


@dataclass(frozen=True, slots=True)
class Document:
    """What a GET for a document gave.

    Attributes:
        url: what was asked for.
        answer: the last answer, or None when there was none at all.
        obstacle: why there was none: not reachable, or not admitted.
    """

    url: str
    answer: Answer | None
    obstacle: str | None = None

    @property
    def value(self) -> Mapping[str, Any] | None:
        """The JSON object that was served as JSON with status 200, else None."""
        return None if self.fault else self._decoded

    @property
    def fault(self) -> str | None:
        """Why there is no document, in a few words; None when there is one."""
        answer = self.answer
        if answer is None:
            return self.obstacle
        if answer.ending is not Ending.COMPLETE:
            return answer.detail or "a broken answer"
        if answer.status != _OK:
            return f"HTTP {answer.status}"
        if answer.media_type != "application/json":
            return f"HTTP 200 with {answer.media_type or 'no media type'}"
        return None if self._decoded is not None else "HTTP 200, and the body is no JSON object"

    @property
    def is_absent(self) -> bool:
        """Whether the host plainly says that nothing of the kind is there."""
        return self.answer is not None and self.answer.status in _GONE

    @property
    def undecided(self) -> str | None:
        """Why nobody can say whether there is a document; None when one can.

        Nothing answered, an overloaded or failing server did, or the answer broke off.
        """
        answer = self.answer
        if answer is None or answer.ending is not Ending.COMPLETE or answer.status is None:
            return f"{self.url}: {self.fault}"
        busy = answer.status == 429 or answer.status >= 500
        return f"{self.url}: {self.fault}" if busy else None

    @property
    def seq(self) -> int | None:
        """Where the answer is in the trace."""
        events = self.answer.events if self.answer is not None else ()
        heads = (e.seq for e in events if e.direction is Direction.SERVER_TO_CLIENT)
        return next(heads, None)

    @property
    def reproduce(self) -> str:
        """A command that fetches it again."""
        return f"curl -sSi -H 'Accept: application/json' {shlex.quote(self.url)}"

    @property
    def _decoded(self) -> Mapping[str, Any] | None:
        try:
            value = decode(self.answer.body) if self.answer is not None else None
        except JsonTextError:
            return None
        return value if isinstance(value, dict) else None


class Fetcher:
    """Fetches documents on behalf of a conversation with `home`.

    The user's own headers go to the origin of `home` alone, and never the Authorization
    header. At most `redirects` are followed, within one origin. Addresses must pass `guard`, unless
    the origin is that of `home`, which the user has named.
    """

    def __init__(
        self,
        home: HttpTarget,
        guard: AddressGuard,
        tape: Tape,
        limits: Limits,
        *,
        redirects: int = MAX_REDIRECTS,
    ) -> None:
        self._home = home
        self._redirects = redirects
        self._guard = guard
        self._tape = tape
        self._limits = replace(
            limits,
            answer_s=min(limits.answer_s, MAX_ANSWER_S),
            max_body_bytes=min(limits.max_body_bytes, MAX_DOCUMENT_BYTES),
        )

    async def get(self, url: str, accept: str = "application/json") -> Document:
        """GET `url`; never raises for what the host at its end does."""
        at, answer = url, None
        for _ in range(1 + self._redirects):
            try:
                answer = await self._get(at, accept)
            except (TargetError, UsageError) as error:
                return Document(url, None, error.message)
            location = answer.header("location")
            if answer.status is None or not 300 <= answer.status < 400 or location is None:
                break
            further = urljoin(at, location)
            if origin_of(further) != origin_of(at):
                break
            at = further
        return Document(url, answer)

    async def _get(self, url: str, accept: str) -> Answer:
        target = HttpTarget(url, verify=self._home.verify, ca_file=self._home.ca_file)
        if origin_of(url) == origin_of(self._home.url):
            others = tuple(h for h in self._home.headers if h[0].lower() != "authorization")
            return await self._ask(replace(target, headers=others), accept)
        host, port, seconds = target.host, target.port, self._limits.connect_s
        addresses = await self._guard.addresses(host, port, seconds)
        *others_first, last = addresses[:_MAX_ADDRESSES]
        for address in others_first:
            try:
                return await self._ask(replace(target, address=address), accept)
            except TargetError:
                continue
        return await self._ask(replace(target, address=last), accept)

    async def _ask(self, target: HttpTarget, accept: str) -> Answer:
        headers = (*target.plain_headers(), (b"Accept", accept.encode("ascii")))
        async with open_connection(target, self._tape, self._limits) as connection:
            return await connection.send(HttpRequest("GET", headers))


def origin_of(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port of a URL, comparable; None when it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port or {"http": 80, "https": 443}.get(parts.scheme)
