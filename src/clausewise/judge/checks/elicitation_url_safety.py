"""Elicitation, URL mode: encrypted URLs, and completion told to the right client alone."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.ledger import Located, Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.content import objects
from clausewise.judge.subjects.elicitations import (
    ELICIT,
    URL,
    is_url_required,
    listed_elicitations,
    mode_of,
)
from clausewise.judge.subjects.urls import is_url
from clausewise.judge.wording import shown

MAX_KNOWN = 256
"""Characters of a URL of which is remembered where it leads."""

MAX_RECIPIENTS = 10_000
"""Elicitation ids of a recording whose recipients are remembered."""

MAX_SESSIONS = 1000
"""Recipients of one elicitation id that are remembered; then nobody is taken for a stranger."""

_FURTHER = -1
"""Stands for the sessions beyond these."""

MAX_EARLY = 1000
"""Completions of unknown elicitations remembered a session until its end."""

_COMPLETE = "notifications/elicitation/complete"
_PRIVATE_NAMES = (
    "localhost",
    "local",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "test",
    "example",
    "invalid",
)


@check(
    "elicitation.url-encrypted",
    on=f"server request:{ELICIT}",
    subject="web address with a public host in an elicitation",
)
def url_encrypted(message: Message, session: Session, out: Sheet) -> None:
    """The URL of an elicitation leads to a public host without encryption.

    Why: whoever is on the way reads and changes what the user enters there, credentials
    included.
    Fix: serve the page over https; http is for loopback and development hosts.
    """
    if mode_of(message.params) == URL:
        _judge_url(message, message.params.get("url"), out)


@url_encrypted.on("server error")
def _listed_in_error(message: Message, session: Session, out: Sheet) -> None:
    for url in _listed_urls(message):
        _judge_url(message, url, out)


def _listed_urls(message: Message) -> Iterator[Any]:
    if is_url_required(message):
        for elicitation in objects(listed_elicitations(message)):
            yield elicitation.get("url")


def _judge_url(message: Message, url: Any, out: Sheet) -> None:
    if not isinstance(url, str):
        return
    scheme, host = (_known if len(url) <= MAX_KNOWN else _public_place)(url)
    if host is None:
        return
    if scheme == "https":
        out.held(message)
    elif scheme == "http":
        out.broke(
            message,
            "the URL of an elicitation leads to a public host without encryption",
            seen=f"scheme http and host {shown(host)}",
            expected="a URL of the scheme https",
        )


def _public_place(url: str) -> tuple[str, str | None]:
    """The scheme and the host that a URL leads to; no host where it is not public."""
    if not is_url(url):
        return "", None
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "", None
    return parts.scheme, host if host is not None and _is_public(host) else None


_known = lru_cache(maxsize=256)(_public_place)


def _is_public(host: str) -> bool:
    """Whether a host is neither this machine nor one of a private network, by its name."""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        name = host.rstrip(".")
        return "." in name and not name.endswith(tuple(f".{each}" for each in _PRIVATE_NAMES))


@dataclass(slots=True)
class _Recipients:
    """Which clients got each elicitation of the recording: client names by session number."""

    by_id: dict[str, dict[int, str | None]] = field(default_factory=dict)

    def add(self, elicitation_id: Any, session: Session) -> None:
        """Take in that `session` got this elicitation."""
        if not isinstance(elicitation_id, str):
            return
        recipients = self.by_id.setdefault(elicitation_id, {})
        if len(recipients) < MAX_SESSIONS:
            recipients.setdefault(session.number, _client_name(session))
        else:
            recipients.setdefault(_FURTHER, None)
        if len(self.by_id) > MAX_RECIPIENTS:
            forget_older_half(self.by_id)


@dataclass(slots=True)
class _Early:
    """Completions of elicitations not seen so far: streams have no order among each other."""

    completions: list[tuple[Spot, str]] = field(default_factory=list)


@check(
    "elicitation.complete-to-initiator",
    on=f"server notification:{_COMPLETE}",
    subject="notifications/elicitation/complete for a recorded elicitation",
)
def complete_to_initiator(message: Message, session: Session, out: Sheet) -> None:
    """The completion of an elicitation is told to a client that never got the elicitation.

    Why: another user's client learns when and that somebody has entered something, and the one
    that waits may learn nothing.
    Fix: keep with each elicitation the session that it was sent in, and notify that client alone.
    """
    elicitation_id = message.params.get("elicitationId")
    if not isinstance(elicitation_id, str):
        return
    if elicitation_id in session.recording.state(_Recipients).by_id:
        _judge_recipient(message, elicitation_id, session, out)
        return
    early = session.state(_Early).completions
    if session.transport is TransportKind.HTTP and len(early) < MAX_EARLY:
        early.append((Spot(message.seq, message.direction), elicitation_id))


@complete_to_initiator.on("session-end")
def _early_at_end(_end: Spot, session: Session, out: Sheet) -> None:
    for spot, elicitation_id in session.state(_Early).completions:
        if elicitation_id in session.recording.state(_Recipients).by_id:
            _judge_recipient(spot, elicitation_id, session, out)


def _judge_recipient(at: Located, elicitation_id: str, session: Session, out: Sheet) -> None:
    got = session.recording.state(_Recipients).by_id[elicitation_id]
    if session.number in got:
        out.held(at)
        return
    # A client may have several sessions; another name means another client.
    here, names = _client_name(session), list(got.values())
    if session.shared:
        out.undecided(at, MIXED)
    elif here is None or None in names or here in names:
        out.undecided(at, "the elicitation began in another session, perhaps of this client")
    else:
        out.broke(
            at,
            "the completion of an elicitation is told to another client",
            seen=f"a client named {shown(here)}; the elicitation went to {shown(names[0])}",
            expected="the notification at the client that got the elicitation, and nowhere else",
        )


@complete_to_initiator.on(f"server request:{ELICIT}")
def _note_requested(message: Message, session: Session, out: Sheet) -> None:
    session.recording.state(_Recipients).add(message.params.get("elicitationId"), session)


@complete_to_initiator.on("server error")
def _note_required(message: Message, session: Session, out: Sheet) -> None:
    if is_url_required(message):
        for elicitation in objects(listed_elicitations(message)):
            session.recording.state(_Recipients).add(elicitation.get("elicitationId"), session)


def _client_name(session: Session) -> str | None:
    """What the client of a session calls itself, as far as the recording shows it."""
    accepted = session.handshake.accepted
    params = accepted.params if accepted is not None else None
    info = params.get("clientInfo") if isinstance(params, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else None
