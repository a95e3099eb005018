"""Lifecycle, Initialization: the order of requests around the handshake."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import SESSION_HEADER
from clausewise.judge.session.handshake import INITIALIZE, INITIALIZED
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.session.sides import MAX_OPEN_REQUESTS
from clausewise.judge.wording import shown
from clausewise.trace.events import Lifecycle
from clausewise.wire.jsonrpc import IdKey, MessageClass

PING = "ping"
DISCOVER = "server/discover"

_C2S = Direction.CLIENT_TO_SERVER


@dataclass(slots=True)
class _First:
    """The first message of a session that should have been initialize, until that is certain."""

    settled: bool = False
    spot: Spot | None = None
    method: str | None = None


@check(
    "lifecycle.first-interaction-initialize",
    on=("opening request", "opening notification"),
    subject="beginning of a session",
    handshake=True,
)
def first_interaction_initialize(message: Message, session: Session, out: Sheet) -> None:
    """A session begins with something else than the client's initialize request.

    Why: before it, neither side knows the version and the features of the other.
    Fix: send initialize first, wait for its result, then send the rest.
    """
    first = session.state(_First)
    if first.settled:
        return
    if message.method == INITIALIZE and message.direction is _C2S:
        first.settled = True
        if first.spot is None:
            out.held(message)
        else:
            _too_early(first, first.spot, out)
    elif session.handshake.request is not None:
        first.settled = True
    elif first.spot is None and message.method != DISCOVER:
        # A client that also speaks the next revision may look for it with server/discover.
        first.spot = Spot(message.seq, message.direction)
        first.method = message.method


@first_interaction_initialize.on("session-end")
def _never_initialized(end: Spot, session: Session, out: Sheet) -> None:
    first = session.state(_First)
    driven = session.client.has_injected or session.handshake.request is not None
    if not first.settled and first.spot is not None and session.opened and not driven:
        _too_early(first, first.spot, out)


def _too_early(first: _First, spot: Spot, out: Sheet) -> None:
    out.broke(
        spot,
        "a session begins with something else than initialize",
        seen=f"{shown(first.method)} from the {spot.direction.sender.value}",
        expected="the client's initialize request",
        # A ping before the server has answered is exempt elsewhere on the page.
        severity=Outcome.WARN if first.method == PING else None,
    )


@dataclass(slots=True)
class _Readiness:
    """What the client did between the initialize result and its initialized notification.

    `moved_on` is its first request that was answered meanwhile, `late` the request that the
    notification comes too late for, `traffic` whether it sent anything else at all.
    """

    owed_since: Spot | None = None
    late: Spot | None = None
    moved_on: Spot | None = None
    traffic: bool = False
    misspelled: bool = False


@check(
    "lifecycle.initialized-notification",
    on="result:initialize",
    subject="successful initialize that the client goes on from",
)
def initialized_notification(message: Message, session: Session, out: Sheet) -> None:
    """After a successful initialize the client never says that it is initialized.

    Why: a server holds back its own requests until it comes, and some refuse all others.
    Fix: send notifications/initialized directly after the initialize result.
    """
    state = session.state(_Readiness)
    state.owed_since = Spot(message.seq, _C2S)
    state.late = state.moved_on = None
    state.traffic = state.misspelled = False


@initialized_notification.on("client opening notification", "client opening request")
def _client_goes_on(message: Message, session: Session, out: Sheet) -> None:
    state = session.state(_Readiness)
    if state.owed_since is None or message.direction is not _C2S:
        return
    if message.method == INITIALIZED:
        state.owed_since = None
        if state.late is None:
            out.held(message)
            return
        out.broke(
            message,
            "the initialized notification comes after other requests",
            seen=f"a request at seq {state.late.seq}, then the notification",
            expected="the notification directly after the initialize result",
            severity=Outcome.WARN,
        )
        return
    state.traffic = True
    state.misspelled = state.misspelled or message.method == "initialized"
    is_operation = message.kind is MessageClass.REQUEST and message.method not in (PING, INITIALIZE)
    if is_operation and session.transport is TransportKind.STDIO and state.late is None:
        state.late = Spot(message.seq, message.direction)


@initialized_notification.on("opening result", "opening error")
def _request_answered(message: Message, session: Session, out: Sheet) -> None:
    state = session.state(_Readiness)
    request = message.request
    if state.owed_since is None or request is None or request.direction is not _C2S:
        return
    if (
        request.seq > state.owed_since.seq
        and request.method not in (PING, INITIALIZE)
        and not request.injected
        and state.moved_on is None
    ):
        state.moved_on = Spot(request.seq, request.direction)
        state.late = state.late or state.moved_on


@initialized_notification.on("session-end")
def _never_ready(end: Spot, session: Session, out: Sheet) -> None:
    state = session.state(_Readiness)
    closed_after_use = session.closed is Lifecycle.CLOSE and state.traffic
    if state.owed_since is None or not (state.moved_on or closed_after_use):
        return
    at = state.moved_on or state.owed_since
    if session.shared:
        out.undecided(at, MIXED)
        return
    out.broke(
        at,
        "the client uses the session and never sends the initialized notification",
        seen='a notification "initialized"' if state.misspelled else "no such notification",
        expected=f"{INITIALIZED} after the initialize result",
    )


@check(
    "lifecycle.client-requests-before-init-response",
    on="client opening request",
    subject="client request between initialize and its answer",
)
def client_requests_before_init_response(message: Message, session: Session, out: Sheet) -> None:
    """The client sends a request other than ping before initialize is answered.

    Why: the server may not have settled the version yet and may refuse or misread the request.
    Fix: wait for the initialize result before sending further requests.
    """
    handshake = session.handshake
    if not handshake.pending or message.direction is not _C2S:
        return
    if message.request is handshake.request and message.seq != handshake.overlapping_seq:
        return
    if message.method == PING or _bears_issued_id(message, session):
        out.held(message)
        return
    out.broke(
        message,
        "the client sends a request before initialize is answered",
        seen=f"method {shown(message.method)}",
        expected="no request but ping until the answer",
    )


def _bears_issued_id(message: Message, session: Session) -> bool:
    """Whether the POST shows the session id that came with the answer, so that it was read."""
    head = message.exchange.head if message.exchange is not None else None
    session_id = session.session_id
    return session_id is not None and head is not None and head.header(SESSION_HEADER) == session_id


@dataclass(slots=True)
class _Early:
    """Server requests before the initialized notification, not yet decided, by id."""

    spots: dict[IdKey, tuple[Spot, str | None]] = field(default_factory=dict)


@check(
    "lifecycle.server-requests-before-initialized",
    on="server opening request",
    subject="server request before the initialized notification",
)
def server_requests_before_initialized(message: Message, session: Session, out: Sheet) -> None:
    """The server sends a request other than ping before the client is initialized.

    Why: a client that has not finished its part of the handshake may not be able to answer.
    Fix: hold requests back until notifications/initialized arrives.
    """
    handshake = session.handshake
    if message.direction is _C2S or handshake.request is None:
        return
    if handshake.initialized_seq is not None:
        return
    if message.method == PING:
        out.held(message)
    elif session.shared:
        out.undecided(message, MIXED)
    elif not handshake.succeeded or session.transport is TransportKind.STDIO:
        _server_too_early(Spot(message.seq, message.direction), message.method, out)
    elif message.request is not None:
        early = session.state(_Early).spots
        if len(early) < MAX_OPEN_REQUESTS:
            early[message.request.key] = (Spot(message.seq, message.direction), message.method)


@server_requests_before_initialized.on("client opening result", "client opening error")
def _answered_before_initialized(message: Message, session: Session, out: Sheet) -> None:
    if message.direction is not _C2S or session.transport is TransportKind.STDIO:
        return
    request = message.request
    found = session.state(_Early).spots.pop(request.key, None) if request is not None else None
    if found is not None:
        _server_too_early(*found, out)


@server_requests_before_initialized.on(f"notification:{INITIALIZED}")
def _crossed_with_initialized(message: Message, session: Session, out: Sheet) -> None:
    early = session.state(_Early).spots
    for spot, _ in early.values():
        out.undecided(
            spot, "the server may have read the initialized notification before it was recorded"
        )
    early.clear()


@server_requests_before_initialized.on("session-end")
def _initialized_never_came(end: Spot, session: Session, out: Sheet) -> None:
    for spot, method in session.state(_Early).spots.values():
        _server_too_early(spot, method, out)


def _server_too_early(spot: Spot, method: str | None, out: Sheet) -> None:
    out.broke(
        spot,
        "the server sends a request before the client is initialized",
        seen=f"method {shown(method)}",
        expected="no request but ping until notifications/initialized",
    )
