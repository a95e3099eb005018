"""Elicitation, URL mode: completion notifications and the error that requires elicitations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, TransportKind
from clausewise.judge.ledger import Located, Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.memory import Memory, forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.elicitations import (
    ELICIT,
    URL,
    is_url_required,
    listed_elicitations,
    mode_of,
)
from clausewise.judge.wording import ABSENT, shown

MAX_ELICITATIONS = 10_000
"""Elicitation ids remembered a session, and in a recording; older ones are forgotten."""

MAX_EARLY = 1000
"""Completions with an unknown id remembered a session until its end."""

_S2C = Direction.SERVER_TO_CLIENT


@dataclass(slots=True)
class _Established:
    """The elicitation ids that servers gave, in a session or in a whole recording."""

    ids: dict[str, None] = field(default_factory=dict)
    forgetful: bool = False

    def add(self, elicitation_id: str) -> None:
        self.ids[elicitation_id] = None
        if len(self.ids) > MAX_ELICITATIONS:
            forget_older_half(self.ids)
            self.forgetful = True


@dataclass(slots=True)
class _Early:
    """Completions whose ids were unknown so far: streams have no order among each other."""

    completions: list[tuple[Spot, str]] = field(default_factory=list)


@check(
    "elicitation.complete-notification-id",
    on="notification:notifications/elicitation/complete",
    subject="notifications/elicitation/complete",
)
def complete_notification_id(message: Message, session: Session, out: Sheet) -> None:
    """A completion notification bears no id of an earlier elicitation.

    Why: the client finds the elicitation by this id alone and must ignore unknown ones, so the
    user's request is never retried.
    Fix: send the `elicitationId` of the elicitation/create request, or of the -32042 error, that
    began the interaction.
    """
    if message.direction is not _S2C:
        return
    elicitation_id = message.params.get("elicitationId", ABSENT)
    if not isinstance(elicitation_id, str):
        _without_id(message, f"elicitationId {shown(elicitation_id)}", out)
        return
    if elicitation_id in session.state(_Established).ids:
        out.held(message)
        return
    early = session.state(_Early).completions
    if session.transport is TransportKind.STDIO:
        _judge_unknown(message, elicitation_id, session, out)
    elif len(early) < MAX_EARLY:
        early.append((Spot(message.seq, message.direction), elicitation_id))


@complete_notification_id.on("session-end")
def _early_at_end(_end: Spot, session: Session, out: Sheet) -> None:
    for spot, elicitation_id in session.state(_Early).completions:
        if elicitation_id in session.state(_Established).ids:
            out.undecided(spot, "the elicitation is recorded later, on another stream")
        else:
            _judge_unknown(spot, elicitation_id, session, out)


def _judge_unknown(at: Located, elicitation_id: str, session: Session, out: Sheet) -> None:
    doubt = _doubt(elicitation_id, session)
    if doubt is not None:
        out.undecided(at, doubt)
        return
    # A server over HTTP outlives its sessions, and may have given the id before the recording.
    severity = Outcome.WARN if session.transport is TransportKind.HTTP else None
    seen = f"elicitationId {shown(elicitation_id)}, never given in the recording"
    _without_id(at, seen, out, severity)


def _without_id(at: Located, seen: str, out: Sheet, severity: Outcome | None = None) -> None:
    out.broke(
        at,
        "a completion notification bears no id of an elicitation",
        seen=seen,
        expected="the elicitationId of an earlier URL mode elicitation",
        severity=severity,
    )


def _doubt(elicitation_id: str, session: Session) -> str | None:
    """Why an id that is unknown in the session may be known to the client after all."""
    if session.shared:
        return MIXED
    if elicitation_id in session.recording.state(_Established).ids:
        return "the elicitation began in another session"
    if not session.knows_requests:
        return "the recording begins in the middle of the session"
    if session.state(_Established).forgetful:
        return f"more than {MAX_ELICITATIONS} elicitations; the oldest are forgotten"
    if session.server.has_injected:
        return "a test driver sent messages in the server's name"
    return None


@complete_notification_id.on(f"request:{ELICIT}")
def _note_requested(message: Message, session: Session, out: Sheet) -> None:
    if message.direction is _S2C:
        _establish(message.params, session)


@complete_notification_id.on("error")
def _note_required(message: Message, session: Session, out: Sheet) -> None:
    if not is_url_required(message):
        return
    listed = listed_elicitations(message)
    for elicitation in listed if isinstance(listed, list) else ():
        _establish(elicitation, session)


def _establish(elicitation: Any, session: Session) -> None:
    # Whatever else is wrong with the elicitation, its id is given.
    given = elicitation.get("elicitationId") if isinstance(elicitation, dict) else None
    if isinstance(given, str):
        memories: tuple[Memory, ...] = (session, session.recording)
        for memory in memories:
            memory.state(_Established).add(given)


@check(
    "elicitation.url-required-error-lists",
    on="error",
    subject="error response with code -32042",
)
def url_required_error_lists(message: Message, session: Session, out: Sheet) -> None:
    """An error says that URL elicitations are required but lists none.

    Why: the client does not learn what to open, so the request can never be retried.
    Fix: send the required elicitations as a non-empty array in `error.data.elicitations`.
    """
    if not is_url_required(message):
        return
    listed = listed_elicitations(message)
    if isinstance(listed, list) and listed:
        out.held(message)
    else:
        out.broke(
            message,
            "an error with code -32042 lists no elicitations",
            seen=f"data.elicitations {shown(listed)}",
            expected="a non-empty array of elicitations",
        )


@check(
    "elicitation.url-required-error-url-mode",
    on="error",
    subject="elicitation in an error with code -32042",
)
def url_required_error_url_mode(message: Message, session: Session, out: Sheet) -> None:
    """An elicitation that an error requires is not in URL mode or has no id.

    Why: the error exists for URL mode alone, and the client matches the completion by the id.
    Fix: give each element of `error.data.elicitations` `"mode": "url"`, an `elicitationId`, a
    `url` and a `message`.
    """
    if not is_url_required(message):
        return
    listed = listed_elicitations(message)
    for elicitation in listed if isinstance(listed, list) else ():
        _judge_listed(elicitation, message, out)


def _judge_listed(elicitation: Any, message: Message, out: Sheet) -> None:
    if not isinstance(elicitation, dict):
        _badly_listed(message, shown(elicitation), out)
        return
    mode = mode_of(elicitation)
    given = elicitation.get("elicitationId", ABSENT)
    faults = [] if mode == URL else [f"mode {shown(elicitation.get('mode', ABSENT))}"]
    if not isinstance(given, str):
        faults.append(f"elicitationId {shown(given)}")
    missing = [
        f"{name} {shown(elicitation.get(name, ABSENT))}"
        for name in ("url", "message")
        if not isinstance(elicitation.get(name), str)
    ]
    if faults:
        _badly_listed(message, "; ".join(faults), out)
    elif missing:
        _badly_listed(message, "; ".join(missing), out, Outcome.WARN)
    else:
        out.held(message)


def _badly_listed(message: Message, seen: str, out: Sheet, severity: Outcome | None = None) -> None:
    out.broke(
        message,
        "an elicitation in an error with code -32042 is incomplete",
        seen=seen,
        expected='mode "url" and strings as elicitationId, url and message',
        severity=severity,
    )
