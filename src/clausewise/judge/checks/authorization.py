"""Authorization: what the server's refusals say, by challenge and by status."""

from __future__ import annotations

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.exchanges import Exchange, Head
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.challenges import challenges_of
from clausewise.judge.subjects.endpoint import is_with_endpoint
from clausewise.judge.subjects.repeats import is_news
from clausewise.judge.wording import shown
from clausewise.trace.events import Event
from clausewise.wire.authorization.challenges import Challenge

INVALID_TOKEN = "invalid_token"
INSUFFICIENT_SCOPE = "insufficient_scope"
INVALID_REQUEST = "invalid_request"

_STATUSES = {INVALID_TOKEN: 401, INSUFFICIENT_SCOPE: 403, INVALID_REQUEST: 400}
_SCOPE = 'scope="…" with the scopes that are needed'


@check(
    "auth.challenge-scope",
    on="challenge",
    subject="401 with a Bearer challenge",
    transport=TransportKind.HTTP,
)
def challenge_scope(head: Head, session: Session, out: Sheet) -> None:
    """A Bearer challenge names no scopes.

    Why: the client then asks for every scope that the metadata lists, more than it needs.
    Fix: add the scopes that the request needs to the challenge: `scope="files:read"`.
    """
    exchange = head.exchange
    if head.status != 401 or exchange is None or not is_with_endpoint(exchange, session):
        return
    bearers = [c for c in challenges_of(head.event) if c.is_bearer]
    if not bearers:
        return
    if any(challenge.parameters.get("scope", "").strip() for challenge in bearers):
        out.held(head)
    elif is_news(None, session, out):
        out.broke(
            head, "a Bearer challenge names no scopes", seen="no scope parameter", expected=_SCOPE
        )


@check(
    "auth.invalid-token-401",
    on="challenge",
    subject="response that declares invalid_token",
    transport=TransportKind.HTTP,
)
def invalid_token_401(head: Head, session: Session, out: Sheet) -> None:
    """An invalid token is refused by another status than 401.

    Why: only 401 tells the client to get a new token; by another status it gives up.
    Fix: answer a request whose token is invalid or expired with 401 Unauthorized.
    """
    exchange = head.exchange
    if (
        exchange is not None
        and INVALID_TOKEN in _declared(head.event)
        and is_with_endpoint(exchange, session)
    ):
        _judge_invalid_token(head, head.status, session, out)


@invalid_token_401.on("foreign")
def _invalid_token_in_body(body: Message, session: Session, out: Sheet) -> None:
    if _error_in_body(body, session) == INVALID_TOKEN:
        _judge_invalid_token(body, body.status, session, out)


def _judge_invalid_token(
    at: Head | Message, status: int | None, session: Session, out: Sheet
) -> None:
    if status is None:
        return
    if status == 401:
        out.held(at)
    elif is_news(status, session, out):
        out.broke(
            at,
            "an invalid token is refused by another status than 401",
            seen=f"status {status} with error {INVALID_TOKEN}",
            expected="status 401",
        )


@check(
    "auth.error-status",
    on="challenge",
    subject="response that declares an authorization error",
    transport=TransportKind.HTTP,
)
def error_status(head: Head, session: Session, out: Sheet) -> None:
    """The status of a refusal does not fit the authorization error that it declares.

    Why: clients choose by the status whether to authorize, to ask for more scopes or to mend
    the request.
    Fix: answer 401 with invalid_token, 403 with insufficient_scope and 400 with
    invalid_request.
    """
    exchange, errors = head.exchange, _declared(head.event)
    if exchange is None or not errors or not is_with_endpoint(exchange, session):
        return
    for error in errors:
        _judge_status(head, error, exchange, session, out)


@error_status.on("foreign")
def _status_of_body(body: Message, session: Session, out: Sheet) -> None:
    error = _error_in_body(body, session)
    if error is not None and body.exchange is not None:
        _judge_status(body, error, body.exchange, session, out)


def _judge_status(
    at: Head | Message, error: str, exchange: Exchange, session: Session, out: Sheet
) -> None:
    status, due = exchange.status, _STATUSES[error]
    if status is None:
        return
    if status == due:
        out.held(at)
    elif is_news((error, status), session, out):
        needless = error == INVALID_REQUEST and status == 401 and not _sent_token(exchange)
        out.broke(
            at,
            "the status of a refusal does not fit the error that it declares",
            seen=f"status {status} with error {error}",
            expected="no error code, as no token was sent" if needless else f"status {due}",
            severity=Outcome.WARN if needless else None,
        )


def _sent_token(exchange: Exchange) -> bool:
    """Whether the recording shows that the request had an Authorization header."""
    return exchange.head is not None and exchange.head.header("authorization") is not None


@check(
    "auth.insufficient-scope-response",
    on="challenge",
    subject="response about insufficient scopes",
    transport=TransportKind.HTTP,
)
def insufficient_scope_response(head: Head, session: Session, out: Sheet) -> None:
    """A refusal for insufficient scopes is not a 403 with all that the client needs.

    Why: a client steps up its authorization only if it learns that scopes are lacking, which
    ones, and where the metadata is.
    Fix: answer 403 with `WWW-Authenticate: Bearer error="insufficient_scope", scope="…",
    resource_metadata="…"`.
    """
    exchange, challenges = head.exchange, challenges_of(head.event)
    if exchange is None or not challenges or not is_with_endpoint(exchange, session):
        return
    declaring = [c for c in challenges if c.error == INSUFFICIENT_SCOPE]
    if not declaring and head.status == 403 and _sent_token(exchange):
        declaring = [c for c in challenges if c.is_bearer and c.error is None]
    if declaring:
        bearers = [c for c in declaring if c.is_bearer]
        _judge_insufficient_scope(head, (bearers or declaring)[0], exchange, session, out)


@insufficient_scope_response.on("foreign")
def _insufficient_scope_in_body(body: Message, session: Session, out: Sheet) -> None:
    exchange = body.exchange
    if exchange is None or _error_in_body(body, session) != INSUFFICIENT_SCOPE:
        return
    challenges = challenges_of(exchange.response) if exchange.response is not None else ()
    if not any(challenge.is_bearer for challenge in challenges):
        _judge_insufficient_scope(body, None, exchange, session, out)


def _judge_insufficient_scope(
    at: Head | Message,
    challenge: Challenge | None,
    exchange: Exchange,
    session: Session,
    out: Sheet,
) -> None:
    faults = [] if exchange.status == 403 else [f"status {exchange.status}"]
    if challenge is None:
        faults.append("no challenge")
    else:
        if not challenge.is_bearer:
            faults.append(f"scheme {shown(challenge.scheme)}")
        faults += [
            f"no {name}"
            for name in ("error", "scope", "resource_metadata")
            if not challenge.parameters.get(name, "").strip()
        ]
    if not faults:
        out.held(at)
    elif is_news(tuple(faults), session, out):
        out.broke(
            at,
            "a refusal for insufficient scopes lacks something that the client needs",
            seen=", ".join(faults),
            expected=f"status 403 and a Bearer challenge with error {INSUFFICIENT_SCOPE}, "
            "scope and resource_metadata",
        )


@check(
    "auth.insufficient-scope-names-scopes",
    on="challenge",
    subject="challenge with insufficient_scope",
    transport=TransportKind.HTTP,
)
def insufficient_scope_names_scopes(head: Head, session: Session, out: Sheet) -> None:
    """A challenge for insufficient scopes does not say which scopes are needed.

    Why: the client cannot ask for scopes that it is not told; it retries with the same ones.
    Fix: add `scope="…"` with the scopes that the request needs, separated by spaces.
    """
    exchange, challenges = head.exchange, challenges_of(head.event)
    if exchange is None or not challenges or not is_with_endpoint(exchange, session):
        return
    for challenge in challenges:
        if challenge.error != INSUFFICIENT_SCOPE:
            continue
        scope = challenge.parameters.get("scope")
        if challenge.names_scopes:
            out.held(head)
        elif is_news(scope, session, out):
            out.broke(
                head,
                "a challenge for insufficient scopes does not say which are needed",
                seen="no scope parameter" if scope is None else f"scope {shown(scope)}",
                expected=_SCOPE,
            )


def _declared(head: Event) -> tuple[str, ...]:
    """The authorization errors that the challenges of a response declare, each once."""
    errors = (challenge.error for challenge in challenges_of(head))
    return tuple(dict.fromkeys(error for error in errors if error in _STATUSES))


def _error_in_body(body: Message, session: Session) -> str | None:
    """The authorization error that only the JSON body of a refusal declares, or None."""
    exchange, payload = body.exchange, body.payload
    if (
        body.direction is Direction.CLIENT_TO_SERVER
        or exchange is None
        or exchange.response is None
        or not isinstance(payload, dict)
        or not is_with_endpoint(exchange, session)
    ):
        return None
    error = payload.get("error")
    if not isinstance(error, str) or error not in _STATUSES:
        return None
    if error == INVALID_REQUEST and exchange.status not in (400, 401):
        # Any bad request may be called so, and a foreign Origin; only a challenge would tell.
        return None
    return None if _declared(exchange.response) else error
