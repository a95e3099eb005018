"""Base protocol, Messages: ids across requests and responses of a session."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Located, Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Exchange
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.session.sides import MAX_OPEN_REQUESTS, Side
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.jsonrpc import IdKey, MessageClass, valid_id

_FORGOTTEN = f"more than {MAX_OPEN_REQUESTS} requests were open; the oldest are forgotten"
_READ_FROM_HEADERS = frozenset({401, 403})
_C2S = Direction.CLIENT_TO_SERVER
_STDIO = TransportKind.STDIO


@dataclass(slots=True)
class _Resent:
    """The client's requests sent again before an answer, by id: the second one and the first.

    `is_unseen` says that the recording has no HTTP heads, which might tell of a refusal.
    """

    pairs: dict[IdKey, tuple[Request, Request]] = field(default_factory=dict)
    is_unseen: bool = False


@dataclass(slots=True)
class Excused:
    """The last error without id that is due to unreadable input, by seq."""

    seq: int = -1


@check("base.request-id-unique", on="request", subject="second request of a sender")
def request_id_unique(message: Message, session: Session, out: Sheet) -> None:
    """A request reuses an id that its sender already used in the session.

    Why: the sender cannot tell which of its requests an answer belongs to, and a cancellation
    or a late answer hits the wrong one.
    Fix: count ids up over the whole session, or use UUIDs; do not reuse an id after its answer.
    """
    request = message.request
    if request is None or not (message.is_sound or valid_id(message.id)):
        return
    if request.earlier is None:
        side = session.client if message.direction is _C2S else session.server
        if side.used.are_several:
            out.held(message)
    elif session.shared:
        out.undecided(message, MIXED)
    elif _is_sent_again(request) and session.transport is TransportKind.HTTP:
        # From a server it is one message on two streams, which is another clause's matter.
        if message.direction is _C2S and request.older is not None:
            resent, exchange = session.state(_Resent), message.exchange
            resent.is_unseen = exchange is None or exchange.head is None
            if len(resent.pairs) < MAX_OPEN_REQUESTS:
                resent.pairs[request.key] = (request, request.older)
    else:
        _reused(message, request.earlier, shown(message.id), out)


@request_id_unique.on("server result", "server error")
def _both_answered(message: Message, session: Session, out: Sheet) -> None:
    request = message.request
    if request is None or session.transport is _STDIO:
        return
    pairs = session.state(_Resent).pairs
    pair = pairs.get(request.key) if pairs else None
    if pair is None or any(sent.answered is None for sent in pair):
        return
    del pairs[request.key]
    again, first = pair
    _reused(Spot(again.seq, _C2S), first.seq, shown(message.id), out)


@request_id_unique.on("session-end")
def _resent_at_end(end: Spot, session: Session, out: Sheet) -> None:
    resent = session.state(_Resent)
    for again, _ in resent.pairs.values():
        at = Spot(again.seq, _C2S)
        if resent.is_unseen:
            out.undecided(at, "the recording does not show what HTTP answered to the first")
            continue
        out.broke(
            at,
            "a request is sent again with its id before any answer to the first",
            seen="the same request twice",
            expected="a new id, since the first may still be answered",
            severity=Outcome.WARN,
        )


def _is_sent_again(request: Request) -> bool:
    older = request.older
    if older is None or older.method != request.method:
        return False
    try:
        return bool(older.params == request.params)
    except RecursionError:
        return False


def _reused(at: Located, earlier: int, shown_id: str, out: Sheet) -> None:
    out.broke(
        at,
        f"the id of this request was already used at seq {earlier}",
        seen=f"id {shown_id} again",
        expected="an id that this sender has not used in this session",
    )


@check("base.result-id-matches", on="result", subject="result response", any_input=False)
def result_id_matches(message: Message, session: Session, out: Sheet) -> None:
    """A result does not bear the id of an open request.

    Why: the requester finds its request by the id alone; with another id, or the same digits
    as a string, the answer is lost and the request times out.
    Fix: copy the id of the request, with its JSON type, and answer each request once.
    """
    if message.request is not None:
        other = _answered_elsewhere(message, message.request)
        if other is None:
            out.held(message)
        else:
            _mismatch(message, f"a result answers HTTP request {other} with another id", out)
        return
    reason = _cannot_tell(message, session)
    if reason is not None:
        if reason:
            out.undecided(message, reason)
        return
    _mismatch(message, "a result answers no open request", out)


@check("base.error-id-matches", on="error", subject="error response", any_input=False)
def error_id_matches(message: Message, session: Session, out: Sheet) -> None:
    """An error does not bear the id of its request, although that could be read.

    Why: the requester finds its request by the id alone; an error without it, or with a made-up
    one, leaves the request hanging.
    Fix: copy the id of the request, with its JSON type; leave it out only where the request
    could not be read.
    """
    if message.request is not None:
        other = _answered_elsewhere(message, message.request)
        if other is None:
            out.held(message)
        else:
            _mismatch(message, f"an error answers HTTP request {other} with another id", out)
        return
    if message.id is ABSENT or message.id is None:
        _error_without_id(message, session, out)
        return
    reason = _cannot_tell(message, session)
    if reason is not None:
        if reason:
            out.undecided(message, reason)
    elif message.status is not None and message.status >= 400:
        _refusal_with_id(message, out)
    else:
        _mismatch(message, "an error answers no open request", out)


def _answered_elsewhere(message: Message, request: Request) -> str | None:
    """The id that was due, if a JSON body answers one POST with the id of another."""
    exchange = message.exchange
    if exchange is None or exchange.streams or message.direction is _C2S:
        return None
    if exchange.response is None or not exchange.response.has_headers:
        # It may be a stream.
        return None
    posted = exchange.request or exchange.withdrawn
    if posted is None or posted is request or posted.key == request.key:
        return None
    return f"of seq {posted.seq}"


def _cannot_tell(message: Message, session: Session) -> str | None:
    """Why an unmatched answer proves nothing; empty if it is no occasion; None if it does."""
    if session.shared:
        return MIXED
    if session.side(message.direction.opposite).forgetful:
        return _FORGOTTEN
    if _may_be_lost(message, session):
        return "the POST of the first answer got no HTTP answer, so that it may be lost"
    return None if session.knows_requests else ""


def _may_be_lost(message: Message, session: Session) -> bool:
    """Whether the client had answered the request, in a POST without an HTTP answer so far."""
    if message.direction is not _C2S or message.id is ABSENT:
        return False
    request = session.server.answered.get(message.key)
    posted = request.answered_on if request is not None else None
    return posted is not None and posted.response is None


def _mismatch(message: Message, what: str, out: Sheet, severity: Outcome | None = None) -> None:
    out.broke(
        message,
        what,
        seen=f"id {shown(message.id)}",
        expected="the id of an unanswered request, with its JSON type",
        severity=severity,
    )


def _refusal_with_id(message: Message, out: Sheet) -> None:
    """An unknown id in the body of a 4xx or 5xx."""
    exchange = message.proven_exchange
    if exchange is None:
        out.undecided(message, "the recording does not show which request was refused")
    elif _posted_request(exchange) is not None:
        _mismatch(message, "a refusal bears an id that is not that of its request", out)
    else:
        what = "a refusal bears an id, although no request could be read"
        _mismatch(message, what, out, Outcome.WARN)


def _posted_request(exchange: Exchange) -> Request | None:
    """The well-formed request that was posted, or None."""
    request = exchange.request or exchange.withdrawn
    if request is None or exchange.posted is not MessageClass.REQUEST:
        return None
    return None if isinstance(request.key, tuple) else request


def _error_without_id(message: Message, session: Session, out: Sheet) -> None:
    if message.direction is Direction.CLIENT_TO_SERVER or session.transport is TransportKind.STDIO:
        _error_without_id_in_order(message, session, out)
        return
    exchange = message.proven_exchange
    if exchange is None:
        out.undecided(message, "the recording does not show which request this error answers")
    elif _posted_request(exchange) is None:
        return
    elif not exchange.is_refused:
        _mismatch(message, "an error without id answers a request whose id could be read", out)
    elif exchange.status not in _READ_FROM_HEADERS:
        what = "a refusal without id answers a request whose id could be read"
        _mismatch(message, what, out, Outcome.WARN)


def _error_without_id_in_order(message: Message, session: Session, out: Sheet) -> None:
    """Where messages are ordered, an error without id answers what could not be read."""
    asking: Side = session.side(message.direction.opposite)
    if asking.unreadable:
        asking.unreadable -= 1
        session.state(Excused).seq = message.seq
        out.held(message)
    elif session.shared:
        out.undecided(message, MIXED)
    elif session.knows_requests and asking.last is not MessageClass.NOTIFICATION:
        _mismatch(message, "an error without id answers a request whose id could be read", out)
