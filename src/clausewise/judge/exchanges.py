"""One HTTP exchange: a request and what came back on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import Event
from clausewise.transport.recording import CUT_SHORT
from clausewise.wire.jsonrpc import MessageClass

if TYPE_CHECKING:
    from clausewise.judge.messages import Request
    from clausewise.judge.sessions import Session

EVENT_STREAM = "text/event-stream"


@dataclass(slots=True, eq=False)
class Exchange:
    """A request head, what was posted with it, and the head of the response.

    Attributes:
        head: the request head, None where the recorder kept none.
        session: the session it belongs to.
        labelled: whether the recorder labelled its events; otherwise order alone joins them.
        posted: class of the message in the request body; None for a body that is no message.
        has_body: whether a body was recorded.
        initializes: whether the body is an `initialize` request.
        request: the JSON-RPC request it carried, once the session has read it.
        withdrawn: that request after an HTTP refusal: taken not to have arrived.
        response: the response head.
        event_id: id of the SSE event whose message comes next.
    """

    head: Event | None
    session: Session
    labelled: bool = False
    posted: MessageClass | None = None
    has_body: bool = False
    initializes: bool = False
    request: Request | None = None
    withdrawn: Request | None = None
    response: Event | None = None
    event_id: str | None = None
    injected: bool = False

    @property
    def method(self) -> str | None:
        """The HTTP method, upper case; None where the recorder kept none."""
        method = self.head.fields.get("method") if self.head is not None else None
        return method.upper() if isinstance(method, str) else None

    @property
    def path(self) -> str | None:
        path = self.head.fields.get("path") if self.head is not None else None
        return path if isinstance(path, str) else None

    @property
    def status(self) -> int | None:
        return self.response.status if self.response is not None else None

    @property
    def is_refused(self) -> bool:
        """Whether HTTP answered with an error status."""
        status = self.status
        return status is not None and status >= 400

    @property
    def media_type(self) -> str | None:
        """The response's media type, lower case, without parameters."""
        value = self.response.header("content-type") if self.response is not None else None
        return None if value is None else value.partition(";")[0].strip().lower()

    @property
    def streams(self) -> bool:
        return self.media_type == EVENT_STREAM

    @property
    def is_proven(self) -> bool:
        """Whether what came back surely belongs to it.

        Without labels the messages of several streams cannot be told apart.
        """
        return self.labelled or not self.streams

    @property
    def resumes(self) -> bool:
        """Whether it reopens a stream, so that messages may be delivered again."""
        return self.head is not None and self.head.header("last-event-id") is not None


@dataclass(frozen=True, slots=True)
class Head:
    """A request or response head as the checks see it, with its exchange.

    `exchange` is None for a response whose request the recording does not tell.
    """

    event: Event
    exchange: Exchange | None

    @property
    def seq(self) -> int:
        return self.event.seq

    @property
    def direction(self) -> Direction:
        return self.event.direction


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes that are no message as the checks see them, with the exchange that carried them.

    `exchange` is None on stdio and where the recording does not tell.
    """

    event: Event
    exchange: Exchange | None

    @property
    def seq(self) -> int:
        return self.event.seq

    @property
    def direction(self) -> Direction:
        return self.event.direction

    @property
    def text(self) -> str | None:
        """What was sent; None for bytes that are not UTF-8."""
        text = self.event.fields.get("text")
        return text if isinstance(text, str) else None

    @property
    def is_blank(self) -> bool:
        return self.text is not None and not self.text.strip()

    @property
    def is_cut_short(self) -> bool:
        """Whether bytes are missing, so that it proves no fault."""
        why = self.event.fields.get("why")
        return isinstance(why, str) and why.startswith(CUT_SHORT)
