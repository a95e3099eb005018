"""Transports, Streamable HTTP: how sessions end, and what both sides owe afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Exchange, Head, session_id_of
from clausewise.judge.session.handshake import INITIALIZE
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.routing import WELL_FORMED
from clausewise.judge.session.sessions import Beginnings, Session
from clausewise.judge.subjects.endpoint import is_with_endpoint
from clausewise.judge.wording import shown
from clausewise.trace.events import Event, Lifecycle

MAX_IDS = 8192
"""Ids of ended sessions remembered of a recording."""

_C2S = Direction.CLIENT_TO_SERVER
_OTHER_REFUSALS = frozenset({401, 403, 407, 408, 421, 429, 500, 502, 503, 504})
"""Statuses that may come before anybody looks at the session."""


@dataclass(slots=True)
class _Terminated:
    """Session ids of the recording whose DELETE was accepted, with the seq of the answer."""

    at: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Refused:
    """The last POST of the session that 404 refused: seq of the answer."""

    at: int | None = None


@check(
    "transport.terminated-session-404",
    on="server http-response",
    subject="request with the id of a terminated session",
    transport=TransportKind.HTTP,
)
def terminated_session_404(head: Head, session: Session, out: Sheet) -> None:
    """A request with the id of a terminated session is not answered by 404.

    Why: 404 is what tells the client to begin a new session; by anything else it goes on with
    one that no longer exists.
    Fix: forget the session when DELETE is accepted, and answer any later request with its id
    with 404 Not Found.
    """
    exchange, status = head.exchange, head.status
    if exchange is None or status is None or status < 200 or not exchange.labelled:
        return
    terminated = session.recording.state(_Terminated).at
    if exchange.initializes:
        # The server may give the id anew.
        terminated.pop(session_id_of(head.event) or "", None)
        return
    sent = exchange.sent_id
    if sent is None or exchange.head is None or not is_with_endpoint(exchange, session):
        return
    ended = terminated.get(sent)
    if ended is not None and exchange.head.seq > ended:
        if not exchange.injected:
            _judge_status(head, exchange, status, out)
    elif exchange.method == "DELETE" and 200 <= status < 300:
        terminated[sent] = head.seq
        if len(terminated) > MAX_IDS:
            forget_older_half(terminated)
    else:
        _note_refusal(head, exchange, status, session, out)


def _judge_status(head: Head, exchange: Exchange, status: int, out: Sheet) -> None:
    if status == 404:
        out.held(head)
    elif status == 405 and exchange.method == "GET":
        out.undecided(head, "405 is also what a server without streams owes any GET")
    elif status in _OTHER_REFUSALS or (status == 400 and not _is_well_formed(exchange)):
        out.undecided(head, f"status {status} may come before anybody looks at the session")
    else:
        out.broke(
            head,
            "a request with the id of a terminated session is not answered by 404",
            seen=f"status {status}, after a DELETE of the session was accepted",
            expected="status 404",
        )


def _is_well_formed(exchange: Exchange) -> bool:
    """Whether it is a GET or DELETE, or posts one JSON-RPC message."""
    return exchange.method != "POST" or exchange.posted in WELL_FORMED


def _note_refusal(
    head: Head, exchange: Exchange, status: int, session: Session, out: Sheet
) -> None:
    refused, asked = session.state(_Refused), exchange.head
    if exchange.posted is None or asked is None or (refused.at is None and status != 404):
        return
    if status == 404:
        refused.at = head.seq
    elif status < 300 and refused.at is not None and asked.seq > refused.at:
        refused.at = None
        out.undecided(head, "a 404 before may have had another cause than the session's end")


@dataclass(slots=True)
class _Loss:
    """The first 404 to a request with the session's id.

    Attributes:
        at: seq of the 404.
        begun: how many sessions had begun when it came.
        others: how many of those had not ended, this one left out.
        went_on: the first later POST with the same id, which may have crossed with the 404.
        again: seq of the 404 to such a POST.
        is_proven: whether a POST with the same id came after that, too.
        lives: whether such a POST was answered after all.
    """

    at: int
    begun: int
    others: int
    went_on: Spot | None = None
    again: int | None = None
    is_proven: bool = False
    lives: bool = False


@dataclass(slots=True)
class _Lost:
    """The 404 that took the session from its client, if one came."""

    loss: _Loss | None = None


@dataclass(slots=True)
class _Ends:
    """What the recording shows of the ends of sessions: lost ids, and how many have ended."""

    lost: dict[str, None] = field(default_factory=dict)
    ended: int = 0


@check(
    "transport.new-session-after-404",
    on="server http-response",
    subject="404 to a request with a session id, and what the client did then",
    transport=TransportKind.HTTP,
)
def new_session_after_404(head: Head, session: Session, out: Sheet) -> None:
    """A client goes on with a session that the server answered with 404.

    Why: the session is gone and will not come back; until the client initializes again nothing
    works.
    Fix: on a 404 drop the session id and send initialize without one.
    """
    exchange, status = head.exchange, head.status
    if exchange is None or not exchange.labelled or exchange.injected or status is None:
        return
    lost = session.state(_Lost)
    if status != 404 and lost.loss is None and exchange.method != "DELETE":
        return
    ends = session.recording.state(_Ends)
    sent = exchange.sent_id
    if sent is None or exchange.head is None or not is_with_endpoint(exchange, session):
        return
    if exchange.method == "DELETE":
        ends.ended += 200 <= status < 300 and lost.loss is None
    elif status == 404 and lost.loss is None and session.begun and exchange.posted is not None:
        begun = session.recording.state(Beginnings).count
        lost.loss = _Loss(head.seq, begun, max(begun - ends.ended - 1, 0))
        ends.ended += 1
        ends.lost[sent] = None
        if len(ends.lost) > MAX_IDS:
            forget_older_half(ends.lost)
    elif lost.loss is not None and exchange.head.seq > lost.loss.at:
        lost.loss.lives = lost.loss.lives or status < 300
        if status == 404 and lost.loss.again is None:
            lost.loss.again = head.seq


@new_session_after_404.on("client http-request")
def _goes_on(head: Head, session: Session, out: Sheet) -> None:
    loss, exchange = session.state(_Lost).loss, head.exchange
    if loss is None or loss.is_proven or exchange is None or exchange.injected:
        return
    if head.seq > loss.at and exchange.posted is not None and exchange.sent_id is not None:
        loss.went_on = loss.went_on or Spot(head.seq, _C2S)
        loss.is_proven = loss.again is not None and head.seq > loss.again


@new_session_after_404.on(f"client request:{INITIALIZE}")
def _initializes_with_id(message: Message, session: Session, out: Sheet) -> None:
    exchange = message.exchange
    sent = exchange.sent_id if exchange is not None else None
    if sent is not None and sent in session.recording.state(_Ends).lost:
        out.broke(
            message,
            "initialize bears the id of a session that the server answered with 404",
            seen=f"MCP-Session-Id {shown(sent)}",
            expected="initialize without a session id",
        )


@new_session_after_404.on("session-end")
def _after_loss(end: Spot, session: Session, out: Sheet) -> None:
    loss = session.state(_Lost).loss
    if loss is None:
        return
    at = loss.went_on or Spot(loss.at, _C2S)
    if loss.lives:
        out.undecided(at, "the session lives on, so that the 404 had another cause")
    elif session.recording.state(Beginnings).count > loss.begun:
        if loss.others:
            out.undecided(at, "the session that began later may be another client's")
        else:
            out.held(at)
    elif loss.went_on is not None and not loss.is_proven:
        out.undecided(at, "the request may have crossed with the 404")
    elif loss.went_on is not None:
        out.broke(
            at,
            "the client goes on with a session that the server answered with 404",
            seen="requests with the same MCP-Session-Id, and no initialize after the 404",
            expected="initialize without a session id",
        )


@dataclass(slots=True)
class _Departure:
    """How the client left: whether it sent DELETE, and where it closed the transport.

    `may_be_lost` says that a GET with the session's id was answered by 404, or nobody knows what.
    """

    deleted: bool = False
    closed: Spot | None = None
    is_certain: bool = True
    may_be_lost: bool = False


@check(
    "transport.session-deleted",
    on="client http-request:DELETE",
    subject="DELETE, or closing, of a session with an id",
    transport=TransportKind.HTTP,
)
def session_deleted(head: Head, session: Session, out: Sheet) -> None:
    """A client leaves without ending its session by DELETE.

    Why: the server keeps the session, its memory and its work until it gives up on it.
    Fix: send DELETE to the endpoint with the MCP-Session-Id before closing; a 405 in answer is
    fine.
    """
    exchange = head.exchange
    if exchange is None or not is_with_endpoint(exchange, session):
        return
    departure = session.state(_Departure)
    if exchange.sent_id is not None and not departure.deleted:
        departure.deleted = True
        out.held(head)


@session_deleted.on("client lifecycle")
def _client_closes(event: Event, session: Session, out: Sheet) -> None:
    if event.fields.get("event") != Lifecycle.CLOSE or event.exchange is not None:
        return
    departure = session.state(_Departure)
    departure.closed = departure.closed or Spot(event.seq, _C2S)
    # Without a label it may close the transport of any session.
    departure.is_certain = event.session is not None or (
        session.recording.state(Beginnings).count == 1
    )


@session_deleted.on("odd server http-response")
def _may_be_told_of_loss(head: Head, session: Session, out: Sheet) -> None:
    exchange = head.exchange
    if head.status != 404:
        return
    is_get = exchange is not None and exchange.method == "GET" and exchange.sent_id is not None
    if is_get or exchange is None or not exchange.labelled:
        session.state(_Departure).may_be_lost = True


@session_deleted.on("session-end")
def _left(end: Spot, session: Session, out: Sheet) -> None:
    departure = session.state(_Departure)
    if departure.closed is None or departure.deleted or session.session_id is None:
        return
    if session.state(_Lost).loss is not None:
        return
    if departure.may_be_lost:
        out.undecided(departure.closed, "a 404 may have said that the session was gone")
        return
    if not departure.is_certain:
        out.undecided(departure.closed, "nobody can say which session's transport was closed")
        return
    out.broke(
        departure.closed,
        "the client leaves without ending its session",
        seen="the transport closed and no DELETE before",
        expected="DELETE with the MCP-Session-Id",
    )
