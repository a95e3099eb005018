"""Authorization: how the client sends its access token."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import unquote_plus

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Exchange, Head
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.challenges import challenges_of
from clausewise.judge.subjects.endpoint import is_marked, is_with_endpoint
from clausewise.judge.subjects.repeats import is_news

MAX_SENT = 1024
"""Requests with a token that are remembered until a challenge shows that one was due."""

_TOKEN_PARAMETER = "access_token"
_REDACTED = ("redacted", "***")
_BEARER = "bearer"


@dataclass(slots=True)
class _Demanded:
    """What the recording shows of tokens and of the demand for them.

    Attributes:
        at: seq of the first Bearer challenge, None before there is one.
        sent: requests that may come after it, and whether each has the header. A refused
            initialize request is seen late, since its session never gets a revision.
    """

    at: int | None = None
    sent: list[tuple[Spot, bool]] = field(default_factory=list)


def _is_of_client(exchange: Exchange, session: Session) -> bool:
    """Whether an MCP client sent this request to the endpoint, headers recorded."""
    head = exchange.head
    return (
        head is not None
        and head.has_headers
        and not exchange.injected
        and _is_with_path(exchange, session)
        and (exchange.posted is not None or exchange.method == "DELETE" or is_marked(head))
    )


def _is_with_path(exchange: Exchange, session: Session) -> bool:
    """As `is_with_endpoint`, whatever the query of the request."""
    path, endpoint = exchange.path, session.endpoint
    if path is not None and endpoint is not None and "?" in path + endpoint:
        return path.partition("?")[0] == endpoint.partition("?")[0]
    return is_with_endpoint(exchange, session)


def _query_names(exchange: Exchange) -> list[str] | None:
    """The names in the query; None where nobody can say whether there was a query."""
    head, path = exchange.head, exchange.path
    recorded = head.fields.get("query") if head is not None else None
    if isinstance(recorded, list):
        return [name for name in recorded if isinstance(name, str)]
    if path is None or "?" not in path:
        return None
    query = path.partition("?")[2].partition("#")[0]
    return [unquote_plus(pair.partition("=")[0]) for pair in query.split("&")]


def _sends_token_in_query(exchange: Exchange) -> bool:
    return _TOKEN_PARAMETER in (_query_names(exchange) or ())


@check(
    "auth.authorization-header",
    on="odd client http-request",
    subject="token sent after a Bearer challenge",
    transport=TransportKind.HTTP,
)
def authorization_header(head: Head, session: Session, out: Sheet) -> None:
    """A client sends its access token elsewhere than in the Authorization header.

    Why: servers look for it there and nowhere else; elsewhere it also ends up in logs.
    Fix: send `Authorization: Bearer …` with each request.
    """
    exchange = head.exchange
    if exchange is None:
        return
    value = head.event.header("authorization")
    if value is None and not _sends_token_in_query(exchange):
        return
    if not _is_of_client(exchange, session):
        return
    if value is not None and not _is_bearer(value):
        # The two may have agreed on a scheme of their own.
        return
    demanded, spot = session.recording.state(_Demanded), Spot(head.seq, head.direction)
    if not is_news(value is None, session, out):
        return
    if demanded.at is not None and demanded.at < head.seq:
        _book(spot, value is not None, out)
    elif len(demanded.sent) < MAX_SENT:
        demanded.sent.append((spot, value is not None))


def _book(at: Spot, in_header: bool, out: Sheet) -> None:
    if in_header:
        out.held(at)
    else:
        out.broke(
            at,
            "the access token is not sent in the Authorization header",
            seen=f"{_TOKEN_PARAMETER} in the query and no Authorization header",
            expected="Authorization: Bearer …",
        )


def _is_bearer(value: str) -> bool:
    """Whether a header value is of the scheme Bearer, or its scheme is redacted."""
    scheme = value.lstrip(" [<").lower()
    return scheme.startswith((_BEARER, *_REDACTED))


@authorization_header.on("odd server http-response")
def _note_challenge(head: Head, session: Session, out: Sheet) -> None:
    if head.status != 401 or not any(c.is_bearer for c in challenges_of(head.event)):
        return
    demanded = session.recording.state(_Demanded)
    if demanded.at is not None and demanded.at < head.seq:
        return
    demanded.at = head.seq
    sent, demanded.sent = demanded.sent, []
    for spot, in_header in sent:
        if spot.seq > head.seq:
            _book(spot, in_header, out)
        else:
            demanded.sent.append((spot, in_header))


@dataclass(slots=True)
class _Authorized:
    """Whether the session's client has sent authorization that was not refused since."""

    sends: bool = False


@check(
    "auth.every-request-authorized",
    on="client http-request",
    subject="request after one with authorization in the same session",
    transport=TransportKind.HTTP,
)
def every_request_authorized(head: Head, session: Session, out: Sheet) -> None:
    """A request lacks the authorization that earlier ones of the session had.

    Why: a session id authorizes nobody; the server has to refuse the request.
    Fix: add the Authorization header to every POST, GET and DELETE of the session.
    """
    exchange, state = head.exchange, session.state(_Authorized)
    is_authorized = head.event.header("authorization") is not None
    if not is_authorized and not state.sends:
        return
    if exchange is None or not _is_of_client(exchange, session):
        return
    if is_authorized:
        if state.sends:
            out.held(head)
        state.sends = True
    elif session.shared:
        out.undecided(head, MIXED)
    elif is_news(None, session, out):
        out.broke(
            head,
            "a request lacks the authorization that earlier ones had",
            seen="no Authorization header",
            expected="the Authorization header on every request",
        )


@every_request_authorized.on("odd server http-response")
def _note_refusal(head: Head, session: Session, out: Sheet) -> None:
    # The client may begin authorization anew by asking without a token.
    if head.status == 401:
        session.state(_Authorized).sends = False


@check(
    "auth.no-token-in-query",
    on="odd client http-request",
    subject="authorized request with the names of its query",
    transport=TransportKind.HTTP,
)
def no_token_in_query(head: Head, session: Session, out: Sheet) -> None:
    """A client sends an access token in the query of the URI.

    Why: URIs are written to logs, histories and Referer headers, and the token with them.
    Fix: send the token in the Authorization header alone.
    """
    exchange = head.exchange
    if exchange is None or exchange.injected:
        return
    names = _query_names(exchange)
    if names is None or not _is_with_path(exchange, session):
        return
    if _TOKEN_PARAMETER in names:
        if is_news(None, session, out):
            out.broke(
                head,
                "an access token is sent in the query of the URI",
                seen=f"{_TOKEN_PARAMETER} in the query",
                expected="no token in the URI",
            )
    elif head.event.header("authorization") is not None:
        out.held(head)
