"""Sampling, Message Content Constraints: tool uses and tool results in messages."""

from __future__ import annotations

from dataclasses import dataclass, field

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.subjects.sampling_messages import (
    CREATE_MESSAGE,
    is_malformed,
    result_messages,
    tool_turns,
)
from clausewise.judge.subjects.tasks import fulfilled_request
from clausewise.judge.wording import shown
from clausewise.wire.codes import ErrorCode
from clausewise.wire.jsonrpc import MessageClass

MAX_MESSAGES = 10_000
"""Different messages remembered a session, to judge each once."""

USER_REJECTED = -1
"""The code of the Error Handling section for a request that the user refused."""

BALANCE_CLAUSE = "SAMP-009"

_C2S = Direction.CLIENT_TO_SERVER


@dataclass(slots=True)
class _Judged:
    """What each check has already judged: follow-up requests repeat the history."""

    results: dict[bytes, None] = field(default_factory=dict)
    turns: dict[bytes, None] = field(default_factory=dict)


def _is_new(seen: dict[bytes, None], key: bytes) -> bool:
    if key in seen:
        return False
    seen[key] = None
    if len(seen) > MAX_MESSAGES:
        forget_older_half(seen)
    return True


@check(
    "sampling.tool-results-only",
    on=f"request:{CREATE_MESSAGE}",
    subject="user message with tool results in a sampling request",
)
def tool_results_only(message: Message, session: Session, out: Sheet) -> None:
    """A user message in a sampling request mixes tool results with other content.

    Why: many model APIs have a role of its own for tool results and refuse the mixture.
    Fix: put all tool results, and nothing else, into the message after the tool uses; further
    text goes into a message after the assistant's next one.
    """
    if message.direction is _C2S:
        return
    for judged in result_messages(message.params.get("messages")):
        if not _is_new(session.state(_Judged).results, judged.key):
            continue
        if judged.fault is None:
            out.held(message)
        else:
            out.broke(
                message,
                "a user message mixes tool results with other content",
                seen=judged.fault,
                expected="tool results alone",
            )


@check(
    "sampling.tool-use-answered",
    on=f"request:{CREATE_MESSAGE}",
    subject="assistant message with tool uses in a sampling request",
)
def tool_use_answered(message: Message, session: Session, out: Sheet) -> None:
    """The message after tool uses does not bring exactly one result for each of them.

    Why: models refuse a conversation in which a tool use has no result.
    Fix: after each assistant message with `tool_use` blocks send one user message with a
    `tool_result` for every one of them, matched by `toolUseId`; report failures with `isError`.
    """
    if message.direction is _C2S:
        return
    for judged in tool_turns(message.params.get("messages")):
        if not _is_new(session.state(_Judged).turns, judged.key):
            continue
        if judged.fault is None:
            out.held(message)
        else:
            out.broke(
                message,
                "tool uses and tool results in a sampling request do not match",
                seen=judged.fault,
                expected="one user message with one result for each tool use, directly after it",
                # The sentences of the page are about results that lack, not about further ones.
                severity=Outcome.WARN if judged.surplus else None,
                # The other clause has its finding about mixed content already.
                clause=BALANCE_CLAUSE if judged.mixed else None,
            )


@check(
    "sampling.malformed-tool-messages-rejected",
    on=(f"result:{CREATE_MESSAGE}", f"error:{CREATE_MESSAGE}", "result:tasks/result"),
    subject="answer to a sampling request with malformed tool messages",
)
def malformed_tool_messages_rejected(message: Message, session: Session, out: Sheet) -> None:
    """A client does not reject malformed tool messages with error -32602.

    Why: the server never learns of its mistake, or gets it from the model's API as some other
    failure.
    Fix: check the messages before they go to the model; where tool results are missing or mixed
    with other content, answer with error -32602.
    """
    fulfilled = fulfilled_request(message, session)
    request = fulfilled or message.request
    if message.direction is not _C2S or request is None or request.method != CREATE_MESSAGE:
        return
    messages = request.params.get("messages") if isinstance(request.params, dict) else None
    if not is_malformed(messages):
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif fulfilled is None:
        out.undecided(message, "a task answers, and its result is not in the recording")
    elif message.kind is MessageClass.RESULT:
        _not_rejected(message, "a result", out)
    else:
        _judge_rejection(message, session, out)


def _judge_rejection(message: Message, session: Session, out: Sheet) -> None:
    code = error_code(message)
    if code is None:
        return
    has_tools = session.handshake.declares(Party.CLIENT, "sampling.tools") is True
    if code == USER_REJECTED:
        out.undecided(message, "the user refused the request")
    elif not has_tools and code in (ErrorCode.METHOD_NOT_FOUND, ErrorCode.INVALID_PARAMS):
        out.undecided(message, "a client without sampling.tools refuses tool messages anyway")
    elif code == ErrorCode.INVALID_PARAMS:
        out.held(message)
    else:
        _not_rejected(message, f"error {shown(code)}", out)


def _not_rejected(message: Message, seen: str, out: Sheet) -> None:
    out.broke(
        message,
        "the client does not reject malformed tool messages",
        seen=seen,
        expected="error -32602",
    )
