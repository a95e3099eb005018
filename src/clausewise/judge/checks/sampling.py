"""Sampling, Capabilities: what the client declares and what servers may ask for then."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.declarations import Use, judge_use
from clausewise.judge.subjects.sampling_messages import CREATE_MESSAGE, uses_tools
from clausewise.judge.subjects.tasks import creates_task
from clausewise.judge.wording import ABSENT, shown

_ASKED = f"request:{CREATE_MESSAGE}"
_C2S = Direction.CLIENT_TO_SERVER
_OTHER_CONTEXTS = ("thisServer", "allServers")


@check(
    "sampling.client-declares-capability",
    on=f"result:{CREATE_MESSAGE}",
    subject="client result to sampling/createMessage",
)
def client_declares_capability(message: Message, session: Session, out: Sheet) -> None:
    """A client answers a sampling request although it never declared the capability.

    Why: servers ask only clients that declare sampling, so the feature stays unused.
    Fix: declare `sampling` in the capabilities of initialize; a client without sampling answers
    with error -32601.
    """
    seen = "a task" if creates_task(message) else "a result"
    judge_use(message, session, out, Use("sampling", "answers a sampling request", seen))


@check(
    "sampling.tools-declared",
    on=_ASKED,
    subject="sampling request with tools or toolChoice after initialize",
)
def tools_declared(message: Message, session: Session, out: Sheet) -> None:
    """A server sends a sampling request with tools to a client that did not declare them.

    Why: such a client refuses the request, or drops the tools and answers something else.
    Fix: send `tools` and `toolChoice` only if the client's capabilities hold `sampling.tools`.
    """
    declared = session.handshake.declares(Party.CLIENT, "sampling.tools")
    if message.direction is _C2S or declared is None:
        return
    params = message.params
    enabled = bool(_given(params))
    if not enabled and (declared or not uses_tools(params.get("messages"))):
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif declared:
        out.held(message)
    else:
        out.broke(
            message,
            "a sampling request uses tools although the client did not declare them",
            seen=_tool_use_of(params),
            expected="sampling.tools in the client's capabilities, or a request without tools",
            severity=None if _offers_tools(params) else Outcome.WARN,
        )


def _given(params: dict[str, Any]) -> list[str]:
    """Which of `tools` and `toolChoice` the request has; null stands for neither."""
    return [name for name in ("tools", "toolChoice") if params.get(name) is not None]


def _offers_tools(params: dict[str, Any]) -> bool:
    """Whether there is something in `tools` or `toolChoice`: an empty list offers nothing."""
    return any(params[name] != [] for name in _given(params))


def _tool_use_of(params: dict[str, Any]) -> str:
    seen = [f"{name} {shown(params[name])}" for name in _given(params)]
    return "; ".join(seen) or "tool uses or results in messages"


@check("sampling.include-context-avoided", on=_ASKED, subject="sampling request")
def include_context_avoided(message: Message, session: Session, out: Sheet) -> None:
    """A sampling request asks for the context of servers, which is deprecated.

    Why: the values may be removed, and few clients ever gave this context.
    Fix: leave `includeContext` out and put what the model needs into `messages`.
    """
    if message.direction is _C2S:
        return
    context = message.params.get("includeContext", ABSENT)
    if context in _OTHER_CONTEXTS:
        out.broke(
            message,
            "a sampling request uses a deprecated value of includeContext",
            seen=f"includeContext {shown(context)}",
            expected='no includeContext, or "none"',
        )
    elif context is ABSENT or context == "none":
        out.held(message)


@check(
    "sampling.include-context-declared",
    on=_ASKED,
    subject='sampling request with includeContext "thisServer" or "allServers"',
)
def include_context_declared(message: Message, session: Session, out: Sheet) -> None:
    """A server asks for the context of servers although the client did not declare it.

    Why: the client does not add the context, so the model answers without it.
    Fix: use "thisServer" and "allServers" only if the client's capabilities hold
    `sampling.context`.
    """
    context = message.params.get("includeContext")
    declared = session.handshake.declares(Party.CLIENT, "sampling.context")
    if message.direction is _C2S or context not in _OTHER_CONTEXTS or declared is None:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif declared:
        out.held(message)
    else:
        out.broke(
            message,
            "a sampling request asks for context that the client did not declare",
            seen=f"includeContext {shown(context)}",
            expected="sampling.context in the client's capabilities",
        )
