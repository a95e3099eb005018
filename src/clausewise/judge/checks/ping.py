"""Ping: what answers it."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Outcome, TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.codes import ErrorCode
from clausewise.wire.jsonrpc import valid_id

PING = "ping"
MAX_MALFORMED = 1000
"""Malformed pings remembered, whose answers prove nothing."""


@dataclass(slots=True)
class _Malformed:
    """Seqs of pings that are no JSON-RPC requests with params the schema allows."""

    pings: set[int] = field(default_factory=set)


@check("ping.empty-result", on="result:ping", subject="answer to a ping")
def empty_result(message: Message, session: Session, out: Sheet) -> None:
    """A ping is not answered by an empty result.

    Why: the sender takes anything else, or silence, for a dead connection and may end it.
    Fix: answer every ping at once with `"result": {}`, whatever else is going on.
    """
    result = message.member("result")
    if not isinstance(result, dict):
        return
    extra = [name for name in result if name != "_meta"]
    if not extra:
        out.held(message)
    elif session.shared:
        out.undecided(message, MIXED)
    else:
        out.broke(
            message,
            "the result of a ping is not empty",
            seen=f"the member {shown(extra[0])}",
            expected="an empty result",
        )


@empty_result.on("request:ping")
def _sent(message: Message, session: Session, out: Sheet) -> None:
    well_formed = (
        valid_id(message.id)
        and message.member("jsonrpc") == "2.0"
        and isinstance(message.payload.get("params", {}), dict)
    )
    pings = session.state(_Malformed).pings
    if not well_formed and len(pings) < MAX_MALFORMED:
        pings.add(message.seq)


@empty_result.on("error:ping")
def _refused(message: Message, session: Session, out: Sheet) -> None:
    request = message.request
    if request is None or request.cancellation is not None:
        return
    if request.seq in session.state(_Malformed).pings:
        return
    error = message.member("error")
    code = error.get("code", ABSENT) if isinstance(error, dict) else ABSENT
    if message.status is not None and message.status >= 400 and code != ErrorCode.METHOD_NOT_FOUND:
        # Refused for the session, the token or the origin, before anything saw a ping.
        return
    handshake = session.handshake
    if handshake.request is None or request.seq < handshake.request.seq:
        out.undecided(message, "the ping was sent before any initialize request")
    elif session.shared:
        out.undecided(message, MIXED)
    else:
        out.broke(
            message,
            "a ping is answered by an error",
            seen=f"error code {shown(code)}",
            expected="an empty result",
        )


@empty_result.on("session-end")
def _never_answered(end: Spot, session: Session, out: Sheet) -> None:
    if session.transport is not TransportKind.STDIO or session.shared:
        return
    malformed = session.state(_Malformed).pings
    for asking, answering in (
        (session.client, session.server),
        (session.server, session.client),
    ):
        for request in asking.open.values():
            if (
                request.method == PING
                and request.seq < answering.answered_to
                and request.cancellation is None
                and not request.injected
                and request.seq not in malformed
            ):
                out.broke(
                    Spot(request.seq, request.direction.opposite),
                    "a ping is never answered, while later requests are",
                    seen="no answer",
                    expected="an empty result at once",
                    severity=Outcome.WARN,
                )
