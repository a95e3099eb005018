"""Transports, Streamable HTTP: session management."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import SESSION_HEADER, Exchange, Head, session_id_of
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.endpoint import is_marked, is_with_endpoint
from clausewise.judge.subjects.repeats import is_news
from clausewise.judge.wording import shown
from clausewise.wire.jsonrpc import MessageClass

MAX_IDS = 8192
"""Session ids remembered of a recording."""

_OPTIONAL_SPACE = " \t"
_BETWEEN_LINES = re.compile(r",[ \t]+")
_VISIBLE = re.compile(r"[\x21-\x7E]+")


@check(
    "transport.session-id-visible-ascii",
    on="http-response",
    subject="MCP-Session-Id in a response",
    transport=TransportKind.HTTP,
)
def session_id_visible_ascii(head: Head, session: Session, out: Sheet) -> None:
    """A session id is empty or has characters other than visible ASCII.

    Why: the client has to send the id back in a header, where spaces, control characters and
    bytes beyond ASCII are cut off, altered or refused on the way.
    Fix: use an id of the characters 0x21 to 0x7E alone, such as a UUID or a base64url text.
    """
    exchange, lines = head.exchange, head.event.header_values(SESSION_HEADER)
    if not lines or (exchange is not None and not is_with_endpoint(exchange, session)):
        return
    for line in lines:
        # A comma and a space join two lines of a recorder that keeps one.
        for value in _BETWEEN_LINES.split(line.strip(_OPTIONAL_SPACE)):
            if _VISIBLE.fullmatch(value) is not None:
                out.held(head)
            elif is_news(value, session, out):
                out.broke(
                    head,
                    "a session id has characters other than visible ASCII",
                    seen=f"MCP-Session-Id {shown(value)}",
                    expected="one or more characters from 0x21 to 0x7E",
                )


@dataclass(slots=True)
class _Echoes:
    """What a session's requests make of its id.

    Attributes:
        issued: the id that its initialize response gave, or None.
        issued_at: seq of that response, or -1.
        lacking: the first request without it, and `count` how many there are.
        strange: the first request with an id that this recording does not show to be given.
        is_refused: whether the server refused a request of the session.
    """

    issued: str | None = None
    issued_at: int = -1
    lacking: Spot | None = None
    count: int = 0
    strange: Spot | None = None
    is_refused: bool = False


@dataclass(slots=True)
class _Recorded:
    """What the whole recording shows of sessions.

    Attributes:
        issued: the ids that initialize responses gave.
        successes: how many initialize requests HTTP accepted.
        first: seq of the first request to the endpoint.
        initialize: seq of the first initialize request.
    """

    issued: dict[str, None] = field(default_factory=dict)
    successes: int = 0
    first: int = -1
    initialize: int = -1

    @property
    def holds_one_client(self) -> bool:
        """Whether it shows one client from its start, so that all sessions are its own."""
        return self.successes == 1 and self.first == self.initialize


@check(
    "transport.session-id-echoed",
    on="http-request",
    subject="HTTP request in a session with an id",
    transport=TransportKind.HTTP,
)
def session_id_echoed(head: Head, session: Session, out: Sheet) -> None:
    """A request in a session with an id has no MCP-Session-Id, or another one.

    Why: the id is all that ties a request to its session; without it the server refuses the
    request or starts from nothing.
    Fix: send the id of the initialize response in MCP-Session-Id on every later POST, GET and
    DELETE of the session, notifications/initialized included.
    """
    exchange = head.exchange
    if exchange is None or not is_with_endpoint(exchange, session):
        return
    _note_request(head.seq, exchange, session.recording.state(_Recorded))
    if exchange.initializes or not head.event.has_headers:
        return
    echoes = session.state(_Echoes)
    sent = exchange.sent_id
    if sent is not None and sent == echoes.issued:
        out.held(head)
        return
    spot = Spot(head.seq, head.direction)
    if sent is None:
        is_owed = echoes.issued is not None and head.seq > echoes.issued_at
        if is_owed and _is_of_client(exchange):
            echoes.lacking = echoes.lacking or spot
            echoes.count += 1
    elif echoes.issued is None:
        echoes.strange = echoes.strange or spot
    elif is_news(sent, session, out):
        _report_other(spot, sent, out)


@session_id_echoed.on("odd http-response")
def _note_issued(head: Head, session: Session, out: Sheet) -> None:
    exchange, status = head.exchange, head.status
    if exchange is None or status is None:
        return
    if status >= 400:
        session.state(_Echoes).is_refused = True
    if not exchange.initializes or not 200 <= status < 300:
        return
    recorded = session.recording.state(_Recorded)
    recorded.successes += 1
    value = session_id_of(head.event)
    if value is None:
        return
    echoes = session.state(_Echoes)
    echoes.issued, echoes.issued_at = value, head.seq
    recorded.issued[value] = None
    if len(recorded.issued) > MAX_IDS:
        forget_older_half(recorded.issued)


@session_id_echoed.on("session-end")
def _report_echoes(end: Spot, session: Session, out: Sheet) -> None:
    echoes = session.state(_Echoes)
    if echoes.lacking is not None:
        what = "a request lacks" if echoes.count == 1 else f"{echoes.count} requests lack"
        out.broke(
            echoes.lacking,
            f"{what} the MCP-Session-Id header",
            seen="no MCP-Session-Id header",
            expected=f"MCP-Session-Id {shown(echoes.issued)}",
        )
    recorded, sent = session.recording.state(_Recorded), session.session_id
    if (
        echoes.strange is not None
        and sent is not None
        and recorded.issued
        and sent not in recorded.issued
        and recorded.holds_one_client
    ):
        if not echoes.is_refused or session.server.last is MessageClass.RESULT:
            out.undecided(echoes.strange, "the server may know this id from before")
            return
        _report_other(echoes.strange, sent, out)


def _note_request(seq: int, exchange: Exchange, recorded: _Recorded) -> None:
    # Requests of a session that waits for its revision come later than their seq.
    if recorded.first < 0 or seq < recorded.first:
        recorded.first = seq
    if exchange.initializes and (recorded.initialize < 0 or seq < recorded.initialize):
        recorded.initialize = seq


def _is_of_client(exchange: Exchange) -> bool:
    """Whether an MCP client sent it, and not a browser or a health check."""
    if exchange.method == "DELETE" or exchange.posted is not None:
        return True
    return exchange.head is not None and is_marked(exchange.head)


def _report_other(at: Spot, sent: str, out: Sheet) -> None:
    out.broke(
        at,
        "a request has another session id than the server gave",
        seen=f"MCP-Session-Id {shown(sent)}",
        expected="the id of the initialize response",
    )
