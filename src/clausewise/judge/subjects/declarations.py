"""Whether a party declared the capability of a feature that it shows to have."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.repeats import is_news

_S2C = Direction.SERVER_TO_CLIENT
_SERVER = Party.SERVER


@dataclass(frozen=True, slots=True)
class Use:
    """What a client does with a feature: the capability, the deed in words, what was seen.

    `severity` makes it milder than the clause's level.
    """

    capability: str
    deed: str
    seen: str
    severity: Outcome | None = None


def judge_use(message: Message, session: Session, out: Sheet, use: Use) -> None:
    """Book an occasion: `message` shows that the client has the feature of `use`.

    Nothing is booked for messages of the server, or without a recorded initialize request.
    """
    declared = session.handshake.declares(Party.CLIENT, use.capability)
    if message.direction is _S2C or declared is None:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif declared:
        out.held(message)
    else:
        out.broke(
            message,
            f"the client {use.deed} without having declared {use.capability}",
            seen=use.seen,
            expected=f"{use.capability} in the client's capabilities, or an error",
            severity=use.severity,
        )


def judge_declaration(message: Message, session: Session, out: Sheet, capability: str) -> None:
    """Book an occasion: `message`, if the server sent it, shows a feature of `capability`.

    A lack is one finding a session. Nothing is booked while no initialize result is recorded.
    """
    if message.direction is not _S2C:
        return
    declared = session.handshake.declares(_SERVER, capability)
    if declared:
        out.held(message)
        return
    if declared is None:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif is_news(capability, session, out):
        out.broke(
            message,
            f"{_shown_by(message)} shows a feature whose capability is not declared",
            seen=f"no {capability} in the capabilities of the initialize result",
            expected=f'"{capability}": {{}} among them',
        )


def _shown_by(message: Message) -> str:
    """The message in words: its method, or what it answers."""
    if message.method is not None:
        return message.method
    request = message.request
    return f"a result of {request.method}" if request is not None else "a result"
