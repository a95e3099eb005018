"""Transports, Streamable HTTP: what the stream of a POST holds, and that of a GET does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Head, Raw
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.event_streams import (
    MAX_STREAMS,
    Stream,
    note_ended,
    note_opened,
    stream_of,
    streams_of,
)
from clausewise.judge.subjects.repeats import is_news
from clausewise.trace.events import Event, Lifecycle
from clausewise.wire.jsonrpc import MessageClass

_S2C = Direction.SERVER_TO_CLIENT
_OPENING = "server http-response"
_ANSWERS = ("server result", "server error")
_MESSAGES = ("server request", "server notification", *_ANSWERS)


class _Start(Enum):
    """How a stream began, as far as it has come."""

    NOTHING = auto()
    NO_ID = auto()
    MESSAGE = auto()
    ID = auto()
    ID_AND_MESSAGE = auto()
    ID_AND_MESSAGE_AND_ID = auto()


@dataclass(slots=True)
class _Starts:
    """Streams whose beginning is still to be judged."""

    by_stream: dict[Stream, _Start] = field(default_factory=dict)


@check(
    "transport.stream-primed",
    on=_OPENING,
    subject="stream of a POST with its SSE fields",
    transport=TransportKind.HTTP,
)
def stream_primed(head: Head, session: Session, out: Sheet) -> None:
    """A stream that answers a POST does not begin with an event of an id and empty data.

    Why: a client that loses the connection before the first message has no id to resume from,
    and the answer is lost.
    Fix: send `id: …` and an empty `data:` as the first event of each stream, and keep what
    follows for a client that comes back with this id.
    """
    note_opened(head, session, out)
    stream = streams_of(session).of(head.event)
    if stream is None or not stream.carries_answer or stream.exchange.injected:
        return
    starts = session.state(_Starts).by_stream
    starts[stream] = _Start.NOTHING
    if len(starts) > MAX_STREAMS:
        forget_older_half(starts)


@stream_primed.on("server sse")
def _start_goes_on(event: Event, session: Session, out: Sheet) -> None:
    stream = streams_of(session).of(event)
    starts = session.state(_Starts).by_stream
    start = starts.get(stream) if stream is not None else None
    if stream is None or start is None or "comment" in event.fields:
        return
    ends, has_id = event.fields.get("end") is True, bool(event.fields.get("id"))
    if start is _Start.ID:
        # The event before had an id and no data, since no message came with it.
        del starts[stream]
        out.held(_opening(stream))
    elif start is _Start.MESSAGE:
        # Fields are recorded here, so the first message had none.
        del starts[stream]
        _report_start(stream, "a message in the first event, which has no id", session, out)
    elif ends:
        del starts[stream]
        if start in (_Start.ID_AND_MESSAGE, _Start.ID_AND_MESSAGE_AND_ID):
            out.undecided(_opening(stream), "the first id may be that of the first message")
    elif start is _Start.ID_AND_MESSAGE and has_id:
        starts[stream] = _Start.ID_AND_MESSAGE_AND_ID
    elif start is _Start.NOTHING or start is _Start.NO_ID:
        starts[stream] = _Start.ID if has_id else _Start.NO_ID


@stream_primed.on(*_MESSAGES)
def _first_message(message: Message, session: Session, out: Sheet) -> None:
    starts = session.state(_Starts).by_stream
    stream = stream_of(message, session) if starts else None
    start = starts.get(stream) if stream is not None else None
    if stream is None or start is None:
        return
    if start is _Start.NOTHING:
        starts[stream] = _Start.MESSAGE
    elif start is _Start.ID:
        starts[stream] = _Start.ID_AND_MESSAGE
    else:
        del starts[stream]
        if start is _Start.NO_ID:
            _report_start(stream, "a message in the first event, which has no id", session, out)
        elif start is _Start.ID_AND_MESSAGE_AND_ID:
            _report_start(stream, "a message in the first event with an id", session, out)
        elif start is _Start.ID_AND_MESSAGE:
            out.undecided(_opening(stream), "the first id may be that of the first message")


@stream_primed.on("server raw")
def _first_is_no_message(raw: Raw, session: Session, out: Sheet) -> None:
    stream = streams_of(session).of(raw.event)
    if stream is not None:
        session.state(_Starts).by_stream.pop(stream, None)


def _report_start(stream: Stream, seen: str, session: Session, out: Sheet) -> None:
    if is_news(None, session, out):
        out.broke(
            _opening(stream),
            "a stream does not begin with an event of an id and empty data",
            seen=seen,
            expected="first an event with an id and empty data",
        )


def _opening(stream: Stream) -> Spot:
    return Spot(stream.opened, _S2C)


@dataclass(slots=True)
class _Awaiting:
    """Streams whose response has not come, each with the seq at which it ended."""

    ended: dict[Stream, int | None] = field(default_factory=dict)


@check(
    "transport.stream-holds-response",
    on=_OPENING,
    subject="stream of a POST up to its response or its end",
    transport=TransportKind.HTTP,
)
def stream_holds_response(head: Head, session: Session, out: Sheet) -> None:
    """A stream that answers a request ends without the response.

    Why: the client has nothing left to wait on; its request hangs until it gives up.
    Fix: send the response on the stream before ending it, or an id by which the client can
    resume it.
    """
    note_opened(head, session, out)
    stream = streams_of(session).of(head.event)
    if stream is None or not stream.carries_answer or stream.exchange.injected:
        return
    awaiting = session.state(_Awaiting).ended
    awaiting[stream] = None
    if len(awaiting) > MAX_STREAMS:
        forget_older_half(awaiting)


@stream_holds_response.on(*_ANSWERS)
def _response_came(message: Message, session: Session, out: Sheet) -> None:
    awaiting = session.state(_Awaiting).ended
    if not awaiting or message.request is None:
        return
    asked = came_on = stream_of(message, session)
    if came_on not in awaiting or came_on.exchange.request is not message.request:
        asked = next((s for s in awaiting if s.exchange.request is message.request), None)
    if asked is None:
        return
    del awaiting[asked]
    if came_on is not None and came_on.root is asked:
        out.held(message)
    elif came_on is not None and came_on.carries_answer:
        out.broke(
            message,
            "a response comes on the stream of another request",
            seen="a response whose request opened another stream",
            expected="the response on the stream that its request opened",
        )


@stream_holds_response.on("server sse")
def _ended_without(event: Event, session: Session, out: Sheet) -> None:
    awaiting, stream = session.state(_Awaiting).ended, streams_of(session).of(event)
    if stream is None:
        return
    if event.fields.get("end") is not True:
        note_ended(event, session, out)
    elif stream in awaiting:
        awaiting[stream] = event.seq


@stream_holds_response.on("client http-request:DELETE")
def _client_leaves(head: Head, session: Session, out: Sheet) -> None:
    awaiting = session.state(_Awaiting).ended
    for stream in [stream for stream, ended in awaiting.items() if ended is None]:
        del awaiting[stream]


@stream_holds_response.on("session-end")
def _never_came(end: Spot, session: Session, out: Sheet) -> None:
    for stream, ended in session.state(_Awaiting).ended.items():
        request = stream.exchange.request
        if ended is None or request is None or request.cancellation is not None:
            continue
        at = Spot(ended, _S2C)
        if stream.has_ids:
            out.undecided(at, "the stream can be resumed, and may go on elsewhere")
        else:
            out.broke(
                at,
                "a stream ends without the response to its request",
                seen=f"the end of the stream that {request.method or 'the request'} opened",
                expected="the response before the end",
            )


@dataclass(slots=True)
class _Answered:
    """Streams that hold their response and go on, each with where it is.

    `overtaken` has those after whose response a whole exchange began and was answered.
    """

    at: dict[Stream, Spot] = field(default_factory=dict)
    overtaken: set[Stream] = field(default_factory=set)

    def drop(self, stream: Stream) -> Spot | None:
        self.overtaken.discard(stream)
        return self.at.pop(stream, None)


@check(
    "transport.stream-ends-after-response",
    on=_OPENING,
    subject="stream of a POST from its response to its end",
    transport=TransportKind.HTTP,
)
def stream_ends_after_response(head: Head, session: Session, out: Sheet) -> None:
    """A server does not end a stream after the response to its request.

    Why: the client cannot tell whether more is to come and keeps a connection for nothing; some
    open no further one.
    Fix: end the response body right after the event with the response.
    """
    note_opened(head, session, out)


@stream_ends_after_response.on(*_MESSAGES)
def _after_response(message: Message, session: Session, out: Sheet) -> None:
    state, stream = session.state(_Answered), stream_of(message, session)
    if state.at and message.is_response:
        _note_overtaken(message, state)
    if stream is None:
        return
    if stream in state.at:
        state.drop(stream)
        _report_open(Spot(message.seq, _S2C), "a further message on the stream", session, out)
    elif (
        message.is_response
        and message.request is not None
        and message.request is stream.exchange.request
        and not stream.exchange.injected
    ):
        if len(state.at) >= MAX_STREAMS:
            state.drop(next(iter(state.at)))
        state.at[stream] = Spot(message.seq, _S2C)


def _note_overtaken(message: Message, state: _Answered) -> None:
    head = message.exchange.head if message.exchange is not None else None
    if head is not None:
        state.overtaken.update(s for s, answered in state.at.items() if answered.seq < head.seq)


@stream_ends_after_response.on("server sse")
def _ended_after(event: Event, session: Session, out: Sheet) -> None:
    stream = streams_of(session).of(event)
    if stream is None or event.fields.get("end") is not True:
        return
    answered = session.state(_Answered).drop(stream)
    if answered is not None:
        out.held(answered)


@stream_ends_after_response.on("lifecycle")
def _broken_off(event: Event, session: Session, out: Sheet) -> None:
    stream, state = streams_of(session).of(event), session.state(_Answered)
    if stream is None or event.fields.get("event") != Lifecycle.ABORT:
        return
    overtaken = stream in state.overtaken
    answered = state.drop(stream)
    if answered is None or event.direction is _S2C:
        return
    if overtaken:
        _report_open(answered, "the stream open while a later request was answered", session, out)
    else:
        out.undecided(answered, "the client closed the stream before the server could")


def _report_open(at: Spot, seen: str, session: Session, out: Sheet) -> None:
    if is_news(seen, session, out):
        out.broke(
            at,
            "a stream is not ended after the response",
            seen=seen,
            expected="the end of the stream",
        )


@check(
    "transport.get-stream-no-response",
    on=_MESSAGES,
    subject="message on a GET stream",
    transport=TransportKind.HTTP,
)
def get_stream_no_response(message: Message, session: Session, out: Sheet) -> None:
    """A server sends a response on a GET stream that resumes no request's stream.

    Why: the client looks for the answer on the stream of its POST, or on what resumes that; here
    it may not be read at all.
    Fix: send each response on the stream that its request opened.
    """
    stream = stream_of(message, session)
    if stream is None or stream.exchange.method != "GET":
        return
    head = stream.exchange.head
    is_response = message.kind in (MessageClass.RESULT, MessageClass.ERROR)
    if is_response and message.request is None:
        # A response to no request is a fault of its own, on any stream.
        return
    if not is_response or stream.root.carries_answer:
        out.held(message)
    elif head is None or not head.has_headers or (stream.exchange.resumes and not stream.origin):
        out.undecided(message, "the recording does not show which stream this one resumes")
    else:
        out.broke(
            message,
            "a response comes on a GET stream that resumes no request's stream",
            seen="a response on a stream opened by GET"
            + (", resumed by GET" if stream.exchange.resumes else " without Last-Event-ID"),
            expected="only requests and notifications of the server",
        )


get_stream_no_response.on(_OPENING)(note_opened)
get_stream_no_response.on("server sse", "lifecycle")(note_ended)
