"""Fetch a JSON document by GET over the guarded, recorded transport: bounded in every way."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin

from clausewise.core.errors import TargetError, UsageError
from clausewise.core.vocabulary import Direction
from clausewise.trace.tape import Tape
from clausewise.transport.addresses import AddressGuard
from clausewise.transport.answers import Answer, Ending
from clausewise.transport.guarded import GuardedSender, origin_of
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget
from clausewise.wire.jsontext import JsonTextError, decode

MAX_DOCUMENT_BYTES = 256 * 1024
MAX_ANSWER_S = 5.0
MAX_REDIRECTS = 3
_OK = 200
_GONE = frozenset({404, 405, 410})

Turn = Callable[[], Awaitable[None]]
"""Returns when the next request may be sent."""


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
    """Fetches documents on behalf of a conversation with `home`, as a GuardedSender sends.

    At most `redirects` are followed, within one origin.
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
        self._redirects = redirects
        bounds = replace(
            limits,
            answer_s=min(limits.answer_s, MAX_ANSWER_S),
            max_body_bytes=min(limits.max_body_bytes, MAX_DOCUMENT_BYTES),
        )
        self._sender = GuardedSender(home, guard, tape, bounds)

    async def get(
        self, url: str, accept: str = "application/json", *, turn: Turn | None = None
    ) -> Document:
        """GET `url`, each request after its `turn`; never raises for what the host does."""
        at, answer = url, None
        for _ in range(1 + self._redirects):
            if turn is not None:
                await turn()
            try:
                answer = await self._sender.send(at, headers=((b"Accept", accept.encode("ascii")),))
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
