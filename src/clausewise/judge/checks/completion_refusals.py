"""Completion: error codes."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.prompt_names import (
    CHANGES,
    PAGES,
    PromptNames,
    note_change,
    note_page,
)
from clausewise.judge.subjects.refusals import judge_refusal
from clausewise.judge.wording import shown
from clausewise.wire.codes import ErrorCode


@check(
    "completion.error-codes",
    on="server error:completion/complete",
    subject="refusal of an unknown prompt, of a missing argument, or for lack of the capability",
)
def error_codes(message: Message, session: Session, out: Sheet) -> None:
    """A completion is refused with another code than its failure has.

    Why: by the code a client tells whether to stop asking for completions or to mend its
    request.
    Fix: answer -32601 (Method not found) without the completions capability, and -32602 (Invalid
    params) to an unknown prompt or a missing argument.
    """
    request = message.request
    declared = session.handshake.declares(Party.SERVER, "completions")
    if request is None or declared is None or session.shared:
        return
    if not declared:
        judge_refusal(
            message, out, "a method without its capability", due=ErrorCode.METHOD_NOT_FOUND
        )
        return
    failure = _failure(request.params, request.seq, session)
    if failure is not None:
        judge_refusal(message, out, failure)


error_codes.on(f"server {PAGES}")(note_page)
error_codes.on(f"server {CHANGES}")(note_change)


def _failure(params: Any, request_seq: int, session: Session) -> str | None:
    """What is wrong with the parameters of completion/complete, as far as the server listed it."""
    if not isinstance(params, dict):
        return None
    missing = next((name for name in ("ref", "argument") if name not in params), None)
    if missing is not None:
        return f"a request without {shown(missing)}"
    ref = params["ref"]
    if not isinstance(ref, dict) or ref.get("type") != "ref/prompt":
        return None
    name = ref.get("name")
    if session.state(PromptNames).is_unknown(name, request_seq):
        return f"the unknown prompt {shown(name)}"
    return None
