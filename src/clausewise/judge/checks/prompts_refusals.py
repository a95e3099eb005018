"""Prompts: error codes and capability negotiation."""

from __future__ import annotations

from clausewise.core.vocabulary import Direction, Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.prompt_names import (
    CHANGES,
    PAGES,
    PromptNames,
    note_change,
    note_page,
)
from clausewise.judge.subjects.refusals import judge_refusal
from clausewise.judge.subjects.repeats import is_news
from clausewise.judge.wording import shown


@check(
    "prompts.error-codes",
    on="server error:prompts/get",
    subject="refusal of an unknown prompt or of one without a required argument",
)
def error_codes(message: Message, session: Session, out: Sheet) -> None:
    """An unknown prompt, or a missing required argument, is refused with another code than -32602.

    Why: by the code a client tells its own mistake, which it can mend, from a failure of the
    server, which it may retry.
    Fix: answer both with error -32602 (Invalid params); keep -32603 for failures of the server.
    """
    request = message.request
    params = request.params if request is not None else None
    if request is None or not isinstance(params, dict) or session.shared:
        return
    if not session.handshake.declares(Party.SERVER, "prompts"):
        return
    names, name = session.state(PromptNames), params.get("name")
    if names.is_unknown(name, request.seq):
        judge_refusal(message, out, f"the unknown prompt {shown(name)}")
        return
    missing = names.missing(name, params.get("arguments", {}), request.seq)
    if missing is not None:
        judge_refusal(message, out, f"a request without the required argument {shown(missing)}")


error_codes.on(f"server {PAGES}")(note_page)
error_codes.on(f"server {CHANGES}")(note_change)


@check(
    "prompts.negotiation-respected",
    on=(
        "client request:prompts/list",
        "client request:prompts/get",
        "server notification:notifications/prompts/list_changed",
    ),
    subject="message that needs the prompts capability",
)
def negotiation_respected(message: Message, session: Session, out: Sheet) -> None:
    """Prompts are asked for, or changes of them announced, without the capability for it.

    Why: the other side has not said that it knows prompts, and is free to refuse or ignore this.
    Fix: ask for prompts only where the server declares `prompts`, and announce changes only if
    it declares `prompts.listChanged`. The same message also breaks
    lifecycle.negotiated-capabilities-only: one cause, one repair.
    """
    by_client = message.direction is Direction.CLIENT_TO_SERVER
    capability = "prompts" if by_client else "prompts.listChanged"
    declared = session.handshake.declares(Party.SERVER, capability)
    if declared is None:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif declared:
        out.held(message)
    elif is_news(capability, session, out):
        out.broke(
            message,
            f"{message.method} is used although the server did not declare {capability}",
            seen=f"no {capability} in the server's capabilities",
            expected=f"{capability} declared at initialization",
        )
