"""Transports, Streamable HTTP: the MCP-Protocol-Version header."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.vocabulary import PUBLISHED_REVISIONS, TransportKind
from clausewise.judge.gate import JUDGED, VERSION_HEADER
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Exchange, Head
from clausewise.judge.session.handshake import is_version_token
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.endpoint import is_with_endpoint
from clausewise.judge.subjects.repeats import is_news
from clausewise.judge.wording import shown

_COME_FIRST = frozenset({401, 403, 404, 405, 406, 415, 421, 429})
"""Statuses by which other rules may refuse a request before its version is looked at."""

_KNOWN = frozenset({*PUBLISHED_REVISIONS, "2024-10-07"})
"""Dates that a server may support: the revisions', and that of a draft which SDKs still take."""


@dataclass(slots=True)
class _Unnamed:
    """Requests without a version header: the first and how many."""

    first: Spot | None = None
    count: int = 0


@check(
    "transport.protocol-version-header",
    on="http-request",
    subject="HTTP request after the initialize result",
    transport=TransportKind.HTTP,
)
def protocol_version_header(head: Head, session: Session, out: Sheet) -> None:
    """An HTTP request after initialization lacks the MCP-Protocol-Version header.

    Why: a server without sessions knows the version from nothing else, and has to assume
    2025-03-26.
    Fix: send MCP-Protocol-Version with the negotiated version on every POST, GET and DELETE
    after initialize, notifications/initialized included.
    """
    exchange = head.exchange
    if (
        not _is_after_result(head, session)
        or not head.event.has_headers
        or exchange is None
        or exchange.initializes
        or _may_initialize(exchange)
        or not is_with_endpoint(exchange, session)
    ):
        return
    if head.event.header(VERSION_HEADER) is not None:
        out.held(head)
        return
    unnamed = session.state(_Unnamed)
    unnamed.count += 1
    unnamed.first = unnamed.first or Spot(head.seq, head.direction)


def _may_initialize(exchange: Exchange) -> bool:
    """Whether it is a POST without session id and, so far, without a body in the recording."""
    return exchange.method == "POST" and not exchange.has_body and exchange.sent_id is None


def _is_after_result(head: Head, session: Session) -> bool:
    """Whether the request came after the initialize result; its body may come later still."""
    result_seq = session.handshake.result_seq
    return result_seq is not None and head.seq > result_seq


@protocol_version_header.on("session-end")
def _report_unnamed(end: Spot, session: Session, out: Sheet) -> None:
    unnamed = session.state(_Unnamed)
    if unnamed.first is None:
        return
    what = "a request lacks" if unnamed.count == 1 else f"{unnamed.count} requests lack"
    out.broke(
        unnamed.first,
        f"{what} the MCP-Protocol-Version header",
        seen="no MCP-Protocol-Version header",
        expected="MCP-Protocol-Version with the negotiated version",
    )


@check(
    "transport.protocol-version-negotiated",
    on="http-request",
    subject="MCP-Protocol-Version header after the initialize result",
    transport=TransportKind.HTTP,
)
def protocol_version_negotiated(head: Head, session: Session, out: Sheet) -> None:
    """A request names another protocol version than the negotiated one.

    Why: the server answers by the version that the header names, or refuses the request.
    Fix: keep the protocolVersion of the initialize result and send it in MCP-Protocol-Version.
    """
    exchange, negotiated = head.exchange, session.handshake.version
    if (
        negotiated is None
        or not _is_after_result(head, session)
        or exchange is None
        or exchange.initializes
        or not is_with_endpoint(exchange, session)
    ):
        return
    if head.event.header(VERSION_HEADER) == negotiated:
        out.held(head)
        return
    values = [value.strip() for value in head.event.header_values(VERSION_HEADER)]
    others = [value for value in values if value != negotiated]
    if not values:
        return
    if not others:
        out.held(head)
    elif session.shared:
        out.undecided(head, MIXED)
    elif is_news(others[0], session, out):
        out.broke(
            head,
            "a request names another protocol version than the negotiated one",
            seen=f"MCP-Protocol-Version {shown(others[0])}",
            expected=f"MCP-Protocol-Version {shown(negotiated)}",
        )


@check(
    "transport.unsupported-version-header-rejected",
    on="http-response",
    subject="answer to a request with an invalid or unsupported MCP-Protocol-Version",
    transport=TransportKind.HTTP,
)
def unsupported_version_header_rejected(head: Head, session: Session, out: Sheet) -> None:
    """A request with an invalid or unsupported protocol version is not refused with 400.

    Why: the client goes on by rules that the server does not follow, and nobody notices.
    Fix: answer 400 Bad Request to every request after initialize whose MCP-Protocol-Version
    is no version that the server supports.
    """
    named, status = _version_named(head, session), head.status
    if named is None or status is None or status < 200:
        return
    if status == 400:
        out.held(head)
    elif is_version_token(named) and not _is_unheard_of(named):
        out.undecided(head, f"the server may support {shown(named)}")
    elif status in _COME_FIRST or status >= 500 or 300 <= status < 400:
        out.undecided(head, f"status {status} may have another cause than the version")
    elif is_news((named, status), session, out):
        out.broke(
            head,
            "a request with an invalid or unsupported protocol version is not refused with 400",
            seen=f"status {status} to MCP-Protocol-Version {shown(named)}",
            expected="status 400",
        )


def _version_named(head: Head, session: Session) -> str | None:
    """The version in the request that `head` answers, if the server may have to refuse it."""
    exchange = head.exchange
    if exchange is None or exchange.head is None or exchange.initializes:
        return None
    if exchange.head.header(VERSION_HEADER) == (session.handshake.version or JUDGED):
        return None
    values = exchange.head.header_values(VERSION_HEADER)
    if len(values) != 1:
        return None
    named = values[0].strip()
    if named == (session.handshake.version or JUDGED) or not is_with_endpoint(exchange, session):
        return None
    return named


def _is_unheard_of(version: str) -> bool:
    """Whether a date is no revision's, and not one of a revision yet to come."""
    return version not in _KNOWN and version < PUBLISHED_REVISIONS[-1]
