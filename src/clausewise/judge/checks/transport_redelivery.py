"""Transports, Streamable HTTP: each message on one stream, each event id once, replays in place."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.event_streams import (
    MAX_STREAMS,
    Stream,
    note_ended,
    note_opened,
    stream_of,
    streams_of,
)
from clausewise.judge.wording import shown
from clausewise.trace.events import Event
from clausewise.wire.jsonrpc import MessageClass

MAX_SENT = 1024
"""Messages of a session that are known again on another stream."""

_OPENING = "server http-response"
_MESSAGES = ("server request", "server notification", "server result", "server error")


@dataclass(slots=True)
class _Sent:
    """Messages sent while several streams were open: on which one, and which others were open."""

    by_digest: dict[bytes, tuple[Stream, frozenset[Stream]]] = field(default_factory=dict)


@check(
    "transport.no-broadcast",
    on=_MESSAGES,
    subject="message sent while several streams were open",
    transport=TransportKind.HTTP,
)
def no_broadcast(message: Message, session: Session, out: Sheet) -> None:
    """A server sends the same message on several streams.

    Why: the client acts on it twice: it answers a request twice, or shows a user two questions.
    Fix: choose one open stream for each message.
    """
    stream = stream_of(message, session)
    if stream is None or stream.exchange.resumes:
        return
    streams = streams_of(session)
    live = streams.live
    sent = session.state(_Sent).by_digest
    if len(live) < 2 and not sent:
        return
    digest = message.digest
    first, open_then = sent.get(digest, (stream, frozenset[Stream]()))
    if first is not stream and stream in open_then and not _is_at_home(message, stream):
        _same_twice(message, session, out)
        return
    if len(live) < 2:
        return
    sent[digest] = (stream, streams.all_live)
    if len(sent) > MAX_SENT:
        forget_older_half(sent)
    if message.kind is not MessageClass.NOTIFICATION:
        out.held(message)


def _is_at_home(message: Message, stream: Stream) -> bool:
    """Whether this is the answer to the stream's own request, which may share its id."""
    return message.is_response and message.request is stream.exchange.request is not None


def _same_twice(message: Message, session: Session, out: Sheet) -> None:
    if session.shared:
        out.undecided(message, MIXED)
    elif message.kind is MessageClass.NOTIFICATION:
        out.undecided(message, "equal notifications on two streams may be of two events")
    else:
        out.broke(
            message,
            "the same message is sent on two streams",
            seen=f"a {message.kind.value} with id {shown(message.id)} on another open stream, too",
            expected="each message on one of the open streams",
        )


no_broadcast.on(_OPENING)(note_opened)
no_broadcast.on("server sse", "lifecycle")(note_ended)


@dataclass(slots=True)
class _Repeated:
    """Streams whose last event bears an id of an earlier event, with that id."""

    ids: dict[Stream, str] = field(default_factory=dict)


@check(
    "transport.event-id-unique",
    on="server sse",
    subject="event id on a stream",
    transport=TransportKind.HTTP,
)
def event_id_unique(event: Event, session: Session, out: Sheet) -> None:
    """An event id is used for two events of a session.

    Why: the id is the place from which a client resumes; with two such places it loses events
    or gets those of another stream.
    Fix: let the id name the stream and the place in it, and never count from the start again.
    """
    sighting = streams_of(session).sighting(event)
    repeated = session.state(_Repeated).ids
    if sighting is None:
        return
    repeated.pop(sighting.stream, None)
    if sighting.earlier is None:
        out.held(event)
    elif session.shared:
        out.undecided(event, MIXED)
    elif not sighting.stream.exchange.resumes:
        if _headers_known(sighting.stream):
            _report_repetition(event, sighting.event_id, "another event of this session", out)
        else:
            out.undecided(event, "the recording does not show whether a stream is resumed")
    else:
        repeated[sighting.stream] = sighting.event_id
        if len(repeated) > MAX_STREAMS:
            forget_older_half(repeated)


@event_id_unique.on(*_MESSAGES)
def _no_replay(message: Message, session: Session, out: Sheet) -> None:
    """A message that comes here is no replay, so its event's id should be new."""
    repeated = session.state(_Repeated).ids
    stream = stream_of(message, session) if repeated else None
    event_id = repeated.pop(stream, None) if stream is not None else None
    if event_id is not None:
        _report_repetition(message, event_id, "another message before", out)


def _headers_known(stream: Stream) -> bool:
    head = stream.exchange.head
    return head is not None and head.has_headers


def _report_repetition(at: Event | Message, event_id: str, seen: str, out: Sheet) -> None:
    out.broke(
        at,
        "an event id is used for two events",
        seen=f"id {shown(event_id)}, which belongs to {seen}",
        expected="an id of its own for each event of the session",
    )


event_id_unique.on(_OPENING)(note_opened)


@check(
    "transport.replay-of-one-stream",
    on="server sse",
    subject="event replayed on a resumed stream",
    transport=TransportKind.HTTP,
)
def replay_of_one_stream(event: Event, session: Session, out: Sheet) -> None:
    """A resumed stream replays events of another stream.

    Why: the client gets messages twice, or takes those of one request for another's.
    Fix: keep events by stream, and replay after Last-Event-ID only those of its own stream.
    """
    sighting = streams_of(session).sighting(event)
    if sighting is None or sighting.earlier is None or not sighting.stream.exchange.resumes:
        return
    if session.shared:
        out.undecided(event, MIXED)
    elif sighting.stream.origin is None:
        out.undecided(event, "the recording does not show which stream is resumed")
    elif sighting.earlier.root is sighting.stream.root:
        out.held(event)
    else:
        out.broke(
            event,
            "a resumed stream replays an event of another stream",
            seen=f"id {shown(sighting.event_id)}, which another stream bore",
            expected="only events of the stream that Last-Event-ID names",
        )


replay_of_one_stream.on(_OPENING)(note_opened)
