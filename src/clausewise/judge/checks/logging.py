"""Logging: the capability."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.vocabulary import Direction
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.declarations import judge_declaration


@dataclass(slots=True)
class _Early:
    """The first log message before the initialize result, which says what it is worth."""

    message: Message | None = None


@check(
    "logging.capability-declared",
    on="notification:notifications/message",
    subject="log message notification",
)
def capability_declared(message: Message, session: Session, out: Sheet) -> None:
    """A server sends log messages without having declared the logging capability.

    Why: a client that sees no logging capability has no reason to listen, and cannot know that
    it may set the level.
    Fix: declare `"logging": {}` in the initialize result, or send no notifications/message.
    """
    if session.handshake.succeeded:
        judge_declaration(message, session, out, "logging")
    elif message.direction is Direction.SERVER_TO_CLIENT:
        early = session.state(_Early)
        early.message = early.message or message


@capability_declared.on("result:initialize")
def _declared_since(message: Message, session: Session, out: Sheet) -> None:
    early = session.state(_Early)
    if early.message is not None:
        judge_declaration(early.message, session, out, "logging")
        early.message = None
