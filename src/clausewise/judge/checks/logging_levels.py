"""Logging: invalid levels."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.refusals import judge_refusal
from clausewise.judge.wording import ABSENT, shown

_LEVELS = frozenset(
    {"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
)
_SET = "logging/setLevel"


@check(
    "logging.invalid-level-code",
    on=f"server error:{_SET}",
    subject="answer to an invalid log level",
)
def invalid_level_code(message: Message, session: Session, out: Sheet) -> None:
    """An invalid log level is accepted, or refused with another code than -32602.

    Why: the client takes the level for set and waits for log messages that never come.
    Fix: answer logging/setLevel with error -32602 (Invalid params) unless the level is one of
    debug, info, notice, warning, error, critical, alert and emergency.
    """
    level = _invalid_level(message, session)
    if level is _VALID:
        return
    if session.shared:
        out.undecided(message, MIXED)
    else:
        judge_refusal(message, out, f"the invalid level {shown(level)}")


@invalid_level_code.on(f"server result:{_SET}")
def _accepted(message: Message, session: Session, out: Sheet) -> None:
    level = _invalid_level(message, session)
    if level is _VALID:
        return
    if session.shared:
        out.undecided(message, MIXED)
    else:
        out.broke(
            message,
            "an invalid log level is accepted",
            seen=f"a result for level {shown(level)}",
            expected="error code -32602",
        )


_VALID = object()


def _invalid_level(message: Message, session: Session) -> Any:
    """The level that the request asked for, ABSENT if none; _VALID if that is no fault."""
    request = message.request
    if request is None or not session.handshake.declares(Party.SERVER, "logging"):
        return _VALID
    params = request.params if isinstance(request.params, dict) else {}
    level = params.get("level", ABSENT)
    return _VALID if isinstance(level, str) and level in _LEVELS else level
