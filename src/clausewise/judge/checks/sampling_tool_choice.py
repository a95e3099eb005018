"""Sampling, Tool Choice Modes: whether the result keeps to the mode."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.content import objects
from clausewise.judge.subjects.sampling_messages import CREATE_MESSAGE, TOOL_USE, of_type
from clausewise.judge.subjects.tasks import fulfilled_request
from clausewise.judge.wording import ABSENT, shown

_ANSWERED = (f"result:{CREATE_MESSAGE}", "result:tasks/result")
_C2S = Direction.CLIENT_TO_SERVER
_COMPLETE = (ABSENT, None, "endTurn", "toolUse")
"""Stop reasons that speak of no cut-off; clients may have others, such as a refusal's."""


def _sampled(message: Message, session: Session, mode: str) -> dict[str, Any] | None:
    """The params of the request with tool choice `mode` that a client's result fulfils."""
    request: Request | None = fulfilled_request(message, session)
    if request is None or message.direction is not _C2S or request.method != CREATE_MESSAGE:
        return None
    params = request.params
    choice = params.get("toolChoice") if isinstance(params, dict) else None
    return params if isinstance(choice, dict) and choice.get("mode") == mode else None


@check(
    "sampling.tool-choice-required-honoured",
    on=_ANSWERED,
    subject='result of a sampling request with tool choice "required"',
)
def tool_choice_required_honoured(message: Message, session: Session, out: Sheet) -> None:
    """A sampling result uses no tool although the request requires it.

    Why: the server waits for a tool call to go on with and has no use for text.
    Fix: pass `toolChoice` on to the model's API, under its name for "must use a tool".
    """
    params = _sampled(message, session, "required")
    tools = params.get("tools") if params is not None else None
    if params is None or not isinstance(tools, list) or not tools:
        return
    if session.handshake.declares(Party.CLIENT, "sampling.tools") is not True:
        # Such a client owed an error, which is another clause's matter.
        return
    stop = message.result.get("stopReason", ABSENT)
    if session.shared:
        out.undecided(message, MIXED)
    elif of_type(message.result.get("content"), TOOL_USE):
        out.held(message)
    elif stop not in _COMPLETE:
        out.undecided(message, f"the model may not have completed: stopReason {shown(stop)}")
    elif any(of_type(m.get("content"), TOOL_USE) for m in objects(params.get("messages"))):
        out.undecided(message, "an earlier turn used a tool, which may count")
    else:
        out.broke(
            message,
            "a sampling result uses no tool although the request requires it",
            seen=f"no tool_use block, stopReason {shown(stop)}",
            expected="at least one tool_use block",
        )


@check(
    "sampling.tool-choice-none-honoured",
    on=_ANSWERED,
    subject='result of a sampling request with tool choice "none"',
)
def tool_choice_none_honoured(message: Message, session: Session, out: Sheet) -> None:
    """A sampling result uses a tool although the request forbids it.

    Why: servers forbid tools to end a loop; a further tool use leaves them without an answer.
    Fix: pass `toolChoice` on to the model's API, or leave the tools out of the call to it.
    """
    if _sampled(message, session, "none") is None:
        return
    if session.shared:
        out.undecided(message, MIXED)
        return
    uses = of_type(message.result.get("content"), TOOL_USE)
    if uses:
        out.broke(
            message,
            "a sampling result uses a tool although the request forbids it",
            seen=f"a tool_use block, tool {shown(uses[0].get('name', ABSENT))}",
            expected="no tool_use block",
        )
    elif message.result.get("stopReason") == "toolUse":
        out.broke(
            message,
            "a sampling result stops for a tool use that it does not hold",
            seen='stopReason "toolUse" without a tool_use block',
            expected="another stopReason",
            severity=Outcome.WARN,
        )
    else:
        out.held(message)
