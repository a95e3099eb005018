"""One HTTP exchange: a request and what came back on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from clausewise.core.vocabulary import Direction
from clausewise.trace.events import Event
from clausewise.trace.raw import CUT_SHORT
from clausewise.wire.jsonrpc import MessageClass

if TYPE_CHECKING:
    from clausewise.judge.session.messages import Message, Request
    from clausewise.judge.session.sessions import Session

EVENT_STREAM = "text/event-stream"

SESSION_HEADER = "mcp-session-id"

_REQUEST = MessageClass.REQUEST
_NOTHING: Mapping[str, Any] = {}


def session_id_of(head: Event) -> str | None:
    """The MCP-Session-Id of an HTTP head, without the white space around it; None without one."""
    value = head.header(SESSION_HEADER)
    return None if value is None else value.strip(" \t")


class Exchange:
    """A request head, what was posted with it, and the head of the response.

    What the heads say is read off once, since every message of the exchange asks for it.

    Attributes:
        head: the request head, None where the recorder kept none.
        session: the session it belongs to.
        labelled: whether the recorder labelled its events; otherwise order alone joins them.
        injected: whether a test driver sent a deliberate fault in it.
        method: the HTTP method, upper case; None where the recorder kept none.
        path: the path, None where the recorder kept none.
        carries_message: whether a message of the client was judged in it.
        posted: class of the message in the request body; None for a body that is no message.
        has_body: whether a body was recorded.
        is_of_older: whether it is of HTTP+SSE, the transport of 2024-11-05.
        initializes: whether the body is an `initialize` request.
        request: the JSON-RPC request it carried, once the session has read it.
        withdrawn: that request after an HTTP refusal: taken not to have arrived.
        answered: the server's request that was answered in it, if it carried a response.
        said: the notification it carried, until the response head comes.
        response: the response head.
        sent_id: the MCP-Session-Id of the request; None without one, or where none was recorded.
        status: its status, None as long as there is none.
        media_type: its media type, lower case, without parameters.
        streams: whether it is a stream of events.
        event_id: id of the SSE event whose message comes next; empty for an event without.
    """

    __slots__ = (
        "_resumes",
        "answered",
        "carries_message",
        "event_id",
        "has_body",
        "head",
        "initializes",
        "injected",
        "is_of_older",
        "labelled",
        "media_type",
        "method",
        "path",
        "posted",
        "request",
        "response",
        "said",
        "sent_id",
        "session",
        "status",
        "streams",
        "withdrawn",
    )

    def __init__(
        self,
        head: Event | None,
        session: Session,
        *,
        labelled: bool = False,
        injected: bool = False,
    ) -> None:
        self.head = head
        self.session = session
        self.labelled = labelled
        self.injected = injected
        fields = head.fields if head is not None else _NOTHING
        method, path = fields.get("method"), fields.get("path")
        self.method: str | None = method.upper() if isinstance(method, str) else None
        self.path: str | None = path if isinstance(path, str) else None
        self.carries_message = False
        self._resumes: bool | None = None
        self.posted: MessageClass | None = None
        self.sent_id = session_id_of(head) if head is not None else None
        self.has_body = False
        self.initializes = False
        self.is_of_older = False
        self.request: Request | None = None
        self.withdrawn: Request | None = None
        self.answered: Request | None = None
        self.said: Message | None = None
        self.response: Event | None = None
        self.status: int | None = None
        self.media_type: str | None = None
        self.streams = False
        self.event_id: str | None = None

    def answer(self, head: Event) -> None:
        """Take in the response head."""
        self.response = head
        self.status = head.status
        value = head.header("content-type")
        self.media_type = None if value is None else value.partition(";")[0].strip().lower()
        self.streams = self.media_type == EVENT_STREAM

    @property
    def is_usual_post(self) -> bool:
        """Whether nothing sets it apart so far: `Only.ODD` says from what, the path aside."""
        head, status = self.head, self.status
        if self.posted is None or self.method != "POST" or not self.labelled or self.injected:
            return False
        if status is not None and (
            self.posted is not _REQUEST or self.initializes or not 200 <= status < 300
        ):
            return False
        path = self.path
        return (
            head is not None
            and path is not None
            and "?" not in path
            and not head.fields.get("query")
            and head.header("authorization") is None
        )

    @property
    def is_refused(self) -> bool:
        """Whether HTTP answered with an error status, or sent the client elsewhere."""
        return self.status is not None and self.status >= 300

    @property
    def is_redirected(self) -> bool:
        """Whether HTTP sent the client elsewhere."""
        return self.status is not None and 300 <= self.status < 400

    @property
    def is_proven(self) -> bool:
        """Whether what came back surely belongs to it.

        Without labels the messages of several streams cannot be told apart.
        """
        return self.labelled or not self.streams

    @property
    def resumes(self) -> bool:
        """Whether it reopens a stream, so that messages may be delivered again."""
        if self._resumes is None:
            head = self.head
            self._resumes = head is not None and head.header("last-event-id") is not None
        return self._resumes


class Head(Struct, eq=False):
    """A request or response head as the checks see it, with its exchange.

    `exchange` is None for a response whose request the recording does not tell, `status` for a
    request. Read-only; a struct, as one is made for each head.
    """

    event: Event
    exchange: Exchange | None
    seq: int
    direction: Direction
    status: int | None


class Raw(Struct, eq=False):
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
