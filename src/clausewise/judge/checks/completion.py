"""Completion: the capability."""

from __future__ import annotations

from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.declarations import judge_declaration


@check(
    "completion.capability-declared",
    on="result:completion/complete",
    subject="result of completion/complete",
)
def capability_declared(message: Message, session: Session, out: Sheet) -> None:
    """A server completes arguments without having declared the completions capability.

    Why: clients ask for completions only where the capability is declared, so the feature is
    lost on them.
    Fix: declare `"completions": {}` in the initialize result; the name is a plural.
    """
    judge_declaration(message, session, out, "completions")
