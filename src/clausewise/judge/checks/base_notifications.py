"""Base protocol, Notifications: nobody answers them."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.checks.base_ids import Excused
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Exchange, Head
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.codes import ErrorCode
from clausewise.wire.jsonrpc import MessageClass

MAX_POSTED = 256
"""Notifications of a session whose answer may still show a body."""


@dataclass(slots=True)
class _Posted:
    """Accepted POSTs of notifications that no response was seen to, and the last faulty one."""

    heads: dict[Exchange, Head] = field(default_factory=dict)
    faulty: Exchange | None = None


@check(
    "base.notification-not-answered",
    on="odd server http-response",
    subject="notification of which the recording shows what answers it",
)
def notification_not_answered(head: Head, session: Session, out: Sheet) -> None:
    """A notification is answered by a JSON-RPC response.

    Why: its sender waits for none and finds no request for it; strict ones end the session.
    Fix: look for the id before answering: what has none gets no response, over HTTP a 202
    without a body.
    """
    exchange, status = head.exchange, head.status
    if exchange is None or not exchange.labelled or exchange.injected:
        return
    if exchange.posted is not MessageClass.NOTIFICATION or status not in range(200, 300):
        return
    posted = session.state(_Posted)
    heads = posted.heads
    if exchange is posted.faulty:
        return
    if len(heads) >= MAX_POSTED:
        out.held(heads.pop(next(iter(heads))))
    heads[exchange] = head


@notification_not_answered.on("server result", "server error", "server malformed")
def _answered(message: Message, session: Session, out: Sheet) -> None:
    exchange = message.exchange
    if exchange is None or message.request is not None:
        return
    head = session.state(_Posted).heads.pop(exchange, None)
    if head is not None:
        _broken(message, out)


@notification_not_answered.on("error")
def _answered_in_order(message: Message, session: Session, out: Sheet) -> None:
    """On stdio: an error without id answers a notification where nothing else is unanswered."""
    if session.transport is not TransportKind.STDIO or message.id not in (ABSENT, None):
        return
    asking = session.side(message.direction.opposite)
    if asking.last is not MessageClass.NOTIFICATION or not session.knows_requests:
        return
    if asking.unreadable or session.state(Excused).seq == message.seq:
        return
    if session.shared or asking.open or error_code(message) == ErrorCode.PARSE_ERROR:
        out.undecided(message, "an error without id may answer something before a notification")
    else:
        _broken(message, out)


def _broken(message: Message, out: Sheet) -> None:
    out.broke(
        message,
        "a notification is answered by a response",
        seen=f"a {message.kind.value} with id {shown(message.id)}",
        expected="no response",
    )


@notification_not_answered.on("client flawed notification")
def _with_fault(message: Message, session: Session, out: Sheet) -> None:
    # One with an id may have been taken for a request, one without a method for no message.
    session.state(_Posted).faulty = message.exchange


@notification_not_answered.on("session-end")
def _never_answered(end: Spot, session: Session, out: Sheet) -> None:
    for head in session.state(_Posted).heads.values():
        out.held(head)
