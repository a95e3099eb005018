"""What carries messages to the server and back, whichever the transport."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from clausewise.core.vocabulary import TransportKind
from clausewise.reference.client.inbox import Inbox, Pending
from clausewise.reference.client.outgoing import Headers, Outgoing
from clausewise.transport.answers import Ending


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of one delivery; the messages that came back went to the inbox.

    Attributes:
        status: the HTTP status; None on stdio or when no head came.
        headers: those of the HTTP response.
        ending: why waiting stopped.
        detail: the ending in words; empty when complete.
        streamed: whether the answer was an SSE stream.
        last_event_id: of the SSE stream, if its last event with an `id` had one.
        retry_ms: how long the server wants a client to wait before it reconnects.
        again: credentials were renewed, so that the same request is worth another try.
    """

    status: int | None = None
    headers: Headers = ()
    ending: Ending = Ending.COMPLETE
    detail: str = ""
    streamed: bool = False
    last_event_id: str | None = None
    retry_ms: int | None = None
    again: bool = False

    def header(self, name: str) -> str | None:
        """The first value of the header `name` (any case), or None."""
        for key, value in self.headers:
            if key.lower() == name.lower():
                return value
        return None


class Channel(Protocol):
    """A connection to one server; sessions follow each other on it."""

    @property
    def kind(self) -> TransportKind: ...

    @property
    def alive(self) -> bool:
        """Whether something can still be sent."""

    def attach(self, inbox: Inbox, label: str | None) -> None:
        """What arrives goes to `inbox` from now on; `label` names the session on the tape."""

    async def exchange(self, outgoing: Outgoing, asked: Pending | None, seconds: float) -> Receipt:
        """Send, and wait for the response to `asked`, at most `seconds`.

        Without `asked` the wait ends with the HTTP answer, on stdio at once.
        """

    async def listening(self, seconds: float) -> None:
        """Wait until the server has answered the GET for its own messages, at most `seconds`.

        It may drop what it wants to ask before. Returns at once where there is no such GET.
        """

    def cut(self, asked: Pending) -> bool:
        """Break the stream that carries the answer to `asked`; False where there is none."""

    async def restart(self) -> bool:
        """Begin anew with a server that is gone; False where that is not this side's work."""
